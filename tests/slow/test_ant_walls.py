"""Four boxes that go along move the ant as a box for every wall does.

To the last digits in float64. In float32 contacts make rounding grow: there they part no further
than a box for every wall parts from itself when ants begin a hair's breadth aside.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.maze import CELL

pytest.importorskip("brax")

from allgoals.envs import ant_maze
from allgoals.envs.ant_maze import AntBigMaze, AntHardestMaze, AntState, AntUMaze

ANTS, STEPS = 24, 50

pytestmark = pytest.mark.slow


def starts(env) -> np.ndarray:
    """Anywhere in free cells, often close to walls. [ANTS, 2]"""
    random = np.random.default_rng(0)
    cells = CELL * np.argwhere(~env.maze.walls)
    return cells[random.integers(len(cells), size=ANTS)] + random.uniform(-1.5, 1.5, (ANTS, 2))


def walk(env, dtype=np.float64, aside: float = 0.0) -> np.ndarray:
    """Observations of ants thrown about at random. [ANTS, STEPS, 29]"""
    random = np.random.default_rng(1)
    actions, speeds = random.uniform(-1, 1, (ANTS, STEPS, 8)), random.uniform(-4, 4, (ANTS, 2))

    def one(place, speed, actions):
        system, physics = env.physics
        pose = jnp.asarray(system.init_q, dtype).at[:2].set(place)
        state = AntState(
            physics.init(system, pose, jnp.zeros(14, dtype).at[:2].set(speed)), jnp.int32(0)
        )

        def step(state, action):
            after = env.step(state, action, jax.random.key(0))
            return after.state, after.obs

        return jax.lax.scan(step, state, actions)[1]

    ant_maze._physics.cache_clear()  # models are made in the precision of their first use
    with jax.enable_x64(dtype == np.float64):
        given = [jnp.asarray(x, dtype) for x in (starts(env) + aside, speeds, actions)]
        walked = np.asarray(jax.jit(jax.vmap(one))(*given))
    ant_maze._physics.cache_clear()
    assert walked.dtype == dtype
    return walked


@pytest.fixture(scope="module", params=[AntUMaze, AntBigMaze, AntHardestMaze])
def proxy(request):
    """A maze, and what happens in it among boxes that go along."""
    return request.param, walk(request.param(walls="proxy"))


def test_boxes_that_go_along_equal_a_box_for_every_wall(proxy):
    cls, walked = proxy
    np.testing.assert_allclose(walked, walk(cls(walls="blocks")), atol=1e-8, rtol=0)


def test_in_single_precision_they_part_no_further_than_a_hair_does():
    blocks = walk(AntUMaze(walls="blocks"), np.float32)
    along = np.abs(walk(AntUMaze(walls="proxy"), np.float32) - blocks).max(axis=(1, 2))
    hair = np.abs(walk(AntUMaze(walls="blocks"), np.float32, 1e-6) - blocks).max(axis=(1, 2))
    assert np.median(along) <= np.median(hair) and (along < 1e-3).mean() > 0.8  # of the ants


def test_walls_are_felt(proxy):
    """Without walls many of the same ants end elsewhere: the comparison is one with contacts."""
    cls, walked = proxy

    class Open(cls):
        def _surround(self, system, position):
            return system

    apart = np.abs(walk(Open()) - walked)[:, -1, :2].max(axis=1)
    assert (apart > 0.05).mean() > 0.3
