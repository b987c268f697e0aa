"""Agents for continuous actions at a size for tests."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.algorithms import CONTINUOUS, LeoSac, OffPolicy
from allgoals.envs.point_maze import PointUMaze
from allgoals.goals.maze import MazeGoals
from allgoals.tasks import make_task
from allgoals.types import Task

MODES = {
    "leo_sac, some goals": dict(goals_per_update=3),
    "leo_sac, late action": dict(late_action=True),
    "leo_sac, advantage": dict(policy_update="advantage"),
    "leo_sac, offset": dict(offset=True),
}
NAMES = [*CONTINUOUS, *MODES]
SMALL = dict(width=16, batch_size=8, learning_rate=1e-3)


def small(name: str, replay_size: int = 48, warm_up: int = 16, **changes) -> OffPolicy:
    """The named agent with narrow networks and a replay of 12 steps of 4 environments."""
    agent = LeoSac(**MODES[name]) if name in MODES else CONTINUOUS[name].agent
    if name == "dual_leo_sac":
        agent = replace(agent, leo=replace(agent.leo, **SMALL), sac=replace(agent.sac, **SMALL))
        agent = replace(agent, **changes)
    else:
        agent = replace(agent, **SMALL | changes)
    return OffPolicy(agent, updates=2, replay_size=replay_size, warm_up=warm_up)


def small_task(**goals) -> Task:
    """Episodes of 5 steps; 7 goals on the grid."""
    return make_task("point-u-maze", PointUMaze(max_steps=5), maze=MazeGoals(spacing=4.0, **goals))


def check_gradients(after, expected):
    """To 1e-5 of the largest entry, which is far from nothing.

    Adam's first moment after one step is a tenth of the gradient.
    """
    found = jax.tree.map(lambda moment: 10 * moment, after.opt_state.mu)
    size = max(float(jnp.abs(x).max()) for x in jax.tree.leaves(expected))
    assert size > 1e-3
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * size)
