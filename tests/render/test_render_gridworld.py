import numpy as np
import pytest

from allgoals.envs.gridworld import Gridworld, GridworldState
from allgoals.render import Episode
from allgoals.render import gridworld as picture


def colour_at(frame, env, cell):
    x, y = picture.cell_centre(env, cell)
    return tuple(int(c) for c in frame[int(y), int(x)])


def expected_colours(env, episode, t):
    """The colour in the middle of every cell, the later the more in front."""
    colours = {cell: picture.WALL if env.walls[cell] else picture.FREE for cell in np.ndindex(5, 5)}
    cells = [tuple(int(c) for c in state.position) for state in episode.states[: t + 1]]
    colours |= dict.fromkeys(cells, picture.TRAIL)
    return colours | {picture.goal_cell(episode.goal): picture.GOAL, cells[-1]: picture.AGENT}


@pytest.mark.parametrize("kind", ["success", "failure"])
def test_every_cell_has_the_colour_the_states_say(agent, kind, request):
    env, episode = agent.task.env, request.getfixturevalue(kind)
    for t in range(len(episode.states)):
        frame = picture.draw(env, episode, t)
        drawn = {cell: colour_at(frame, env, cell) for cell in np.ndindex(5, 5)}
        assert drawn == expected_colours(env, episode, t)


def test_only_the_frame_of_success_is_highlighted(agent, success):
    frames = [picture.draw(agent.task.env, success, t) for t in range(len(success.states))]
    highlighted = [(frame == picture.SUCCESS).all(axis=-1).any() for frame in frames]
    assert highlighted == [False] * success.success_step + [True]


def test_the_caption_says_how_it_went(failure):
    assert picture._status(failure, 11) == "step 11"
    assert picture._status(failure, 12) == "not reached in 12 steps"
    assert picture._status(failure._replace(success_step=12), 12) == "reached in 12 steps"
    assert picture._status(failure._replace(success_step=1), 1) == "reached in 1 step"


@pytest.mark.parametrize("size", [2, 3, 7, 33, 64, 256])
def test_any_size_fits_and_is_legible(size):
    env = Gridworld(size=size, wall_probability=0.4)
    states = [GridworldState(np.array(env.start), np.int32(0))]
    frame = picture.draw(env, Episode("position/0-0", states, [], [], None), 0)
    assert frame.shape == (528, 480, 3) and frame.dtype == np.uint8
    assert colour_at(frame, env, env.start) == picture.AGENT
    assert colour_at(frame, env, (0, 0)) == picture.GOAL
    for colour, least in [(picture.AGENT, 12), (picture.GOAL, 30)]:
        assert (frame == colour).all(axis=-1).sum() >= least


def test_a_long_name_stays_within_the_picture():
    width = picture.WIDTH - 2 * picture.MARGIN
    for length in [1, 30, 60, 500]:
        text, font = picture._fitted("W" * length, width)
        assert font.getlength(text) <= width
        assert 12 <= font.size <= 20
    assert text.startswith("WWWWWWWW") and text.endswith("...")
