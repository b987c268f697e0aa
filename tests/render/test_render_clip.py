import imageio.v3 as imageio
import numpy as np
import pytest
from PIL import Image

from allgoals.envs.gridworld import Gridworld
from allgoals.errors import UsageError
from allgoals.goals.base import subset
from allgoals.render import gridworld as picture
from allgoals.render import record, some_goals, write_clip
from allgoals.render.clip import FPS
from allgoals.tasks import make_task

pytestmark = pytest.mark.filterwarnings("ignore:os.fork")  # imageio forks to read an mp4


def moving_square(n, height=48, width=64):
    frames = np.zeros((n, height, width, 3), np.uint8)
    for t in range(n):
        frames[t, 8:16, 3 * t : 3 * t + 8] = (200, 40, 40)
    return frames


def test_a_recording_holds_every_step_of_every_goal(agent, tmp_path):
    goals = some_goals(agent.task, 3, seed=0)
    played = record(agent, goals, tmp_path / "clip.mp4", max_steps=6)
    assert [e.goal for e in played] == goals
    frames = imageio.imread(tmp_path / "clip.mp4")
    assert len(frames) == sum(len(e.states) + FPS for e in played)
    drawn = picture.draw(agent.task.env, played[0], 0)
    assert np.abs(frames[0].astype(int) - drawn).mean() < 3
    assert [p.name for p in tmp_path.iterdir()] == ["clip.mp4"]


def test_a_gif_shows_the_same_for_as_long(agent, tmp_path):
    path = tmp_path / "clip.gif"
    played = record(agent, some_goals(agent.task, 6, seed=0), path, max_steps=30)
    assert len(played) == 6
    with Image.open(path) as gif:
        assert gif.info["loop"] == 0
        assert gif.n_frames == sum(len(e.states) for e in played)
        shown = []
        for t in range(gif.n_frames):
            gif.seek(t)
            shown.append(gif.info["duration"])
    assert sum(shown) == pytest.approx(1000 / FPS * (gif.n_frames + 6 * FPS), rel=0.05)
    assert shown.count(max(shown)) == 6 and max(shown) > 900  # the last of each is held
    assert path.stat().st_size < 300_000
    assert [p.name for p in tmp_path.iterdir()] == ["clip.gif"]


def test_a_gif_keeps_its_colours(agent, episodes, tmp_path):
    drawn = [picture.draw(agent.task.env, episode, 0) for episode in episodes[:4]]
    write_clip(drawn, tmp_path / "clip.gif", fps=10)
    frames = imageio.imread(tmp_path / "clip.gif")
    assert np.abs(frames.astype(int) - drawn).max() < 24  # smoothed edges take the nearest colour
    assert np.abs(frames.astype(int) - drawn).mean() < 1


@pytest.mark.parametrize("name", ["clip.mp4", "CLIP.GIF"])
def test_write_clip_writes_what_it_is_given(tmp_path, name):
    frames = moving_square(9)
    write_clip(iter(frames), tmp_path / name, fps=10)
    assert imageio.imread(tmp_path / name).shape == frames.shape


def test_odd_sides_grow_to_even_ones(tmp_path):
    write_clip(moving_square(3, 47, 63), tmp_path / "clip.mp4", fps=10)
    assert imageio.imread(tmp_path / "clip.mp4").shape == (3, 48, 64, 3)


@pytest.mark.parametrize("name", ["clip.avi", "clip", "clip.gif.txt"])
def test_other_suffixes_are_refused(agent, tmp_path, name):
    with pytest.raises(UsageError, match=r"\.gif, \.mp4"):
        write_clip(moving_square(2), tmp_path / name, fps=10)
    with pytest.raises(UsageError, match=r"\.gif, \.mp4"):
        record(agent, ["position/2-3"], tmp_path / name, max_steps=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_bad_places_are_refused(tmp_path, suffix):
    (tmp_path / "file").touch()
    (tmp_path / f"directory{suffix}").mkdir()
    places = [f"missing/clip{suffix}", f"file/clip{suffix}", f"directory{suffix}"]
    for place in [*(tmp_path / place for place in places), f"/proc/clip{suffix}"]:
        with pytest.raises(UsageError, match=str(place)):
            write_clip(moving_square(2), place, fps=10)
    assert {p.name for p in tmp_path.iterdir()} == {"file", f"directory{suffix}"}
    assert not list((tmp_path / f"directory{suffix}").iterdir())


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_failed_encode_leaves_the_old_clip(tmp_path, suffix):
    path = tmp_path / f"clip{suffix}"
    path.write_bytes(b"old")

    def frames():
        yield from moving_square(2)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_clip(frames(), path, fps=10)
    assert [p.name for p in tmp_path.iterdir()] == [path.name] and path.read_bytes() == b"old"


def test_a_complaint_of_the_encoder_is_passed_on(tmp_path):
    with pytest.raises(UsageError, match="(?s)cannot write .*clip.mp4: .+"):
        write_clip(moving_square(2), tmp_path / "clip.mp4", fps=-1)
    assert not list(tmp_path.iterdir())


def test_some_goals_are_reachable_and_not_the_start():
    task = make_task("gridworld", Gridworld(size=8, wall_probability=0.5))
    reachable = set(np.array(task.goals.names)[task.goals.reachable])
    start = "position/4-4"
    assert start in reachable and len(reachable) < task.num_goals
    assert set(some_goals(task, 1000, seed=0)) == reachable - {start}
    assert some_goals(task, 3, seed=1) == some_goals(task, 3, seed=1) != some_goals(task, 3, seed=2)
    assert len(set(some_goals(task, 3, seed=1))) == 3


def test_some_goals_when_little_is_known():
    task = make_task("gridworld", Gridworld(size=5))
    unknown = task._replace(goals=task.goals._replace(reachable=None))
    assert len(some_goals(unknown, 1000, seed=0)) == task.num_goals - 1
    only_start = subset(task.goals, np.array([task.goals.names.index("position/2-2")]))
    assert some_goals(task._replace(goals=only_start), 6, seed=0) == ["position/2-2"]


def test_a_world_without_pictures_is_refused(agent, tmp_path):
    class Nowhere(Gridworld):
        pass

    blind = type(agent)(agent.task._replace(env=Nowhere(size=5)), *agent.mind)
    with pytest.raises(UsageError, match="gridworld cannot be drawn"):
        record(blind, ["position/2-3"], tmp_path / "clip.gif", max_steps=2)
    assert not list(tmp_path.iterdir())
