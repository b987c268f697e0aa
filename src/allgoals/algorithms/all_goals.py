"""Transitions seen through every goal of a grid, and commanded goals by way of the grid.

Networks may be told an offset: how far a goal lies from the grid's that stands for it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.learning.replay import Steps
from allgoals.types import Array, Key, Obs, PyTree, Task


class AllGoalsBatch(NamedTuple):
    """Transitions seen through K goals. [B, ...]"""

    seen: PyTree  # observation, and offset if networks are told
    action: Array
    next_seen: PyTree
    heads: Array  # [K] which goals
    reward: Array  # [B, K]
    no_future: Array  # [B, K]


def with_offset(obs: Obs, offset: Array, told: bool) -> PyTree:
    """What networks see."""
    return (obs, offset) if told else obs


def through_commanded(task: Task, obs: Obs, goal: Array, told: bool) -> tuple[PyTree, Array]:
    """What networks see of commanded goals [B], and which goals of the grid stand for them. [B]"""
    space = task.goals.space
    head = jnp.asarray(space.nearest)[goal]
    offset = jnp.asarray(space.points)[goal] - jnp.asarray(space.grid)[head]
    return with_offset(obs, offset, told), head


def through_all(task: Task, steps: Steps, key: Key, some: int, told: bool) -> AllGoalsBatch:
    """Rows with the reward of every goal of the grid, or of `some` drawn at random.

    If networks are told offsets, every row shifts its goals by one of its own.
    """
    space = task.goals.space
    key_heads, key_offset = jax.random.split(key)
    heads = jnp.arange(len(space.grid))
    heads = jax.random.permutation(key_heads, heads)[:some] if some else heads
    goal = jnp.asarray(space.grid)[heads]  # [K, D]
    point = space.project(steps.next_obs)[:, None]  # [B, 1, D]
    within = jax.random.uniform(key_offset, point[:, 0].shape, minval=-1.0)
    offset = within * jnp.array(space.spread)  # [B, D]
    if told:
        outcome = space.outcome(point, goal + offset[:, None])  # [B, K]
    else:
        outcome = space.grid_outcome(point, goal)
    return AllGoalsBatch(
        with_offset(steps.obs, offset, told), steps.action,
        with_offset(steps.next_obs, offset, told), heads,
        outcome.reward, (outcome.done & task.goals.ends) | steps.terminated[:, None],
    )  # fmt: skip
