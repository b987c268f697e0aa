"""Continuous mazes: everything lies where states and names say it does, to scale."""

import json

import jax
import numpy as np
import pytest
from PIL import Image

from allgoals.algorithms import Sac
from allgoals.cli.play import run as play
from allgoals.envs.ant_maze import AntHardestMaze, AntState, AntUMaze
from allgoals.envs.maze import CELL
from allgoals.envs.point_maze import RADIUS, PointBigMaze, PointState, PointUMaze
from allgoals.errors import UsageError
from allgoals.goals.maze import REACH, MazeGoals
from allgoals.render import Episode, clip
from allgoals.render import maze as picture
from allgoals.report.load import _goals
from allgoals.runs.agent import Agent
from allgoals.runs.pictures import layout
from allgoals.tasks import MAZES, TASKS, make_task

U = PointUMaze()
PATH = [(4.0, 4.0), (4.5, 6.0), (4.0, 9.0), (8.0, 12.0)]  # metres


def episode(goal, path=PATH, success_step=None):
    states = [PointState(np.array(point), np.zeros(2), np.int32(0)) for point in path]
    return Episode(goal, states, [], [[0.0, 0.0]] * (len(path) - 1), success_step)


def colour_at(frame, maze, point):
    x, y = picture.place(maze, point)
    return tuple(int(c) for c in frame[int(y), int(x)])


def area(frame, colour):
    return (frame == colour).all(axis=-1).sum()


@pytest.mark.parametrize("env", [U, PointBigMaze(), AntHardestMaze()], ids=lambda e: e.layout)
def test_walls_are_as_the_layout_prints_them(env):
    ground = np.asarray(picture._ground(env.maze).reduce(picture.DETAIL))
    height, width, _ = ground.shape
    assert width == 480 and height <= 528 and height % 16 == 0
    places = 0.48 * CELL * np.array([(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)])
    rows, columns = env.maze.walls.shape
    for cell in np.ndindex(rows - 2, columns - 2):
        cell = np.array(cell) + 1
        seen = {colour_at(ground, env.maze, CELL * cell + place) for place in places}
        assert seen == {picture.WALL if env.maze.walls[tuple(cell)] else picture.FREE}


def test_rows_run_down_and_columns_to_the_right():
    x, y = picture.place(U.maze, (4, 4))
    cell = CELL * picture.scale(U.maze)
    assert picture.place(U.maze, (4, 8)) == (x + cell, y)
    assert picture.place(U.maze, (8, 4)) == (x, y + cell)


def test_the_outer_walls_are_closed():
    frame = picture.draw(U, episode("cell/3-1"), 0)
    for point in [(1.5, 8), (14.5, 8), (8, 1.5), (8, 14.5), (1.5, 1.5), (14.5, 14.5)]:
        assert colour_at(frame, U.maze, point) == picture.WALL
    for point in [(0.9, 8), (8, 0.9), (8, 15.1)]:
        assert colour_at(frame, U.maze, point) == picture.PAPER


def test_the_agent_is_where_its_state_says():
    for t, point in enumerate(PATH):
        frame = picture.draw(U, episode("cell/3-1"), t)
        assert frame.shape == (528, 480, 3) and frame.dtype == np.uint8
        found = [colour_at(frame, U.maze, p) == picture.AGENT for p in PATH]
        assert found == [p == point for p in PATH]
        side = 2 * RADIUS * picture.scale(U.maze)
        assert area(frame, picture.AGENT) == pytest.approx(side**2, rel=0.1)


def test_the_way_it_took_is_seen_and_no_other():
    frame = picture.draw(U, episode("cell/3-1"), 2)
    seen = [colour_at(frame, U.maze, point) for point in [PATH[0], PATH[1], (8.0, 12.0)]]
    assert seen == [picture.TRAIL, picture.TRAIL, picture.FREE]


@pytest.mark.parametrize(
    ("goal", "point"), [("cell/3-1", (12.0, 4.0)), ("point/11.25-10.50", (11.25, 10.5))]
)
def test_the_goal_lies_where_its_name_says_with_its_reach(goal, point):
    frame = picture.draw(U, episode(goal), 0)
    assert colour_at(frame, U.maze, point) == picture.GOAL
    (x, y), metre = picture.place(U.maze, point), picture.scale(U.maze)
    beside = frame[int(y), int(x) : int(x + metre)]  # a metre to the right
    edge = np.flatnonzero((beside != picture.FREE).any(axis=-1)).max()
    assert edge == pytest.approx(REACH * metre, abs=1.5)
    red, _, blue = beside[edge - 2 : edge + 1].astype(int).T
    assert (red - blue).max() > 60  # unlike paper and floor


def test_only_the_frame_of_success_is_highlighted():
    success = episode("cell/2-3", success_step=3)
    frames = [picture.draw(U, success, t) for t in range(4)]
    assert [bool(area(f, picture.SUCCESS)) for f in frames] == [False, False, False, True]
    failure = picture.draw(U, episode("cell/2-3"), 3)
    assert not area(failure, picture.SUCCESS) and area(failure, picture.GOAL)


def test_the_caption_names_the_goal():
    below = picture._bottom(U.maze)
    captions = [picture.draw(U, episode(goal), 0)[below:] for goal in ("cell/3-1", "cell/3-2")]
    assert (captions[0] != captions[1]).any()


def test_every_maze_can_be_drawn():
    assert {TASKS[name][0] for name in MAZES} <= clip.DRAW.keys()


@pytest.mark.parametrize(("steps", "shown"), [(0, [0]), (8, [0, 4, 8]), (9, [0, 4, 8, 9])])
def test_ants_are_shown_at_every_fourth_step_and_the_last(monkeypatch, steps, shown):
    monkeypatch.setitem(clip.DRAW, AntUMaze, lambda env, episode, t: t)
    frames = list(clip._frames(AntUMaze(), [episode("cell/1-2", [(4, 4)] * (steps + 1))]))
    assert frames == shown + [steps] * clip.FPS


def test_actions_that_are_vectors_are_kept(tmp_path):
    task, algorithm = make_task("point-u-maze"), Sac(width=16)
    agent = Agent(task, algorithm, algorithm.init(task, jax.random.key(0)), 1.0)
    (played,) = clip.record(agent, ["cell/3-1"], tmp_path / "clip.gif", max_steps=3)
    assert np.shape(played.actions) == (3, 2) and len(played.states) == 4
    assert all(type(n) is float and abs(n) <= 1 for action in played.actions for n in action)
    with Image.open(tmp_path / "clip.gif") as gif:
        assert gif.size == (480, 528) and gif.n_frames == 4


@pytest.mark.parametrize("task", ["point-u-maze", "ant-hardest-maze"])
def test_keys_cannot_push(task):
    with pytest.raises(UsageError, match=f"discrete actions; {task}") as error:
        play([task, "--keys", "w"])
    assert "\n" not in str(error.value) and error.value.exit_code == 2


@pytest.mark.parametrize("name", ["point-u-maze", "point-big-maze"])
def test_reports_map_the_cells_as_they_are_drawn(name):
    task = make_task(name)
    data = {"names": task.goals.names, "reachable": None, "layout": layout(task)}
    found = _goals(json.loads(json.dumps(data))).layout
    maze = task.env.maze
    assert sorted(map(tuple, found.walls.tolist())) == sorted(map(tuple, np.argwhere(maze.walls.T)))
    assert found.cells[found.goal_cells].tolist() == maze.goal_cells[:, ::-1].tolist()
    assert found.start == (1, 1) and len(found.cells) == task.num_goals + 1


def test_goals_that_are_no_cells_have_no_map():
    assert layout(make_task("point-u-maze", maze=MazeGoals(commanded="anywhere"))) is None


@pytest.fixture(scope="module")
def ant():
    """The physics, a bent and turned pose away from the start, and the state it makes."""
    pytest.importorskip("brax")
    system, physics = AntUMaze().physics
    pose = np.array(system.init_q)
    pose[:3] = 8.0, 12.0, 0.6
    pose[3:7] = 0.7, 0.1, -0.1, 0.7  # of length 1
    pose[7:] += np.linspace(-0.4, 0.4, 8)
    body = jax.device_get(physics.init(system, pose, np.zeros(system.qd_size())))
    return system.mj_model, pose, AntState(body, np.int32(0))


def test_joints_and_sizes_are_those_of_the_model(ant):
    mujoco = pytest.importorskip("mujoco")
    model, pose, state = ant
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    balls = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE)  # torso, then feet
    links = [[model.body(f"{part}_{n}").id for n in range(1, 5)] for part in ("hip", "ankle")]
    torso, feet = data.geom_xpos[balls[:1]].repeat(4, axis=0), data.geom_xpos[balls[1:]]
    expected = np.stack([torso, *data.xpos[links], feet], axis=1)[..., :2]
    np.testing.assert_allclose(picture.legs(state.body), expected, atol=1e-4)
    limbs = model.geom_size[model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE, 0]
    assert model.geom_size[balls[0], 0] == picture.TORSO and set(limbs) == {picture.LIMB}


def test_an_ant_is_drawn_with_all_its_legs(ant):
    state = ant[2]
    frame = picture.draw(AntUMaze(), Episode("cell/3-1", [state], [], [], None), 0)
    legs = picture.legs(state.body)
    for point in [*legs.reshape(-1, 2), *(legs[:, 1:] + legs[:, :-1]).reshape(-1, 2) / 2]:
        assert colour_at(frame, U.maze, point) == picture.AGENT
    blue = np.argwhere((frame == picture.AGENT).all(axis=-1))
    drawn = np.ptp(blue, axis=0) / picture.scale(U.maze)  # metres along x and y
    expected = np.ptp(legs.reshape(-1, 2), axis=0) + 2 * picture.LIMB
    np.testing.assert_allclose(drawn, expected, atol=0.1)
