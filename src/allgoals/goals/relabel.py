"""Hindsight: which other goals a rollout is looked at through (paper, appendix on HER).

A relabeller maps a rollout to goal indices [T, N, K] and copies no observation.
"""

import jax
import jax.numpy as jnp

from allgoals.goals.samplers import uniform_from_mask
from allgoals.types import Array, Key, Rollout


def random_goals(key: Key, rollout: Rollout, k: int) -> Array:
    """Any goal at all."""
    shape = (*rollout.action.shape, k)
    return jax.random.randint(key, shape, 0, rollout.outcome.done.shape[-1])


def positive_goals(key: Key, rollout: Rollout, k: int) -> Array:
    """Goals that each transition achieves, that is, true of `next_obs`; any goal where none is."""
    key_some, key_none = jax.random.split(key)
    achieved = rollout.outcome.done  # [T, N, G]
    some = uniform_from_mask(key_some, achieved[..., None, :], (*rollout.action.shape, k))
    anything = random_goals(key_none, rollout, k)
    return jnp.where(achieved.any(axis=-1)[..., None], some, anything)  # [T, N, K]


def last_of_trajectory(rollout: Rollout) -> Array:
    """The row at which the trajectory through each transition ends within the rollout. [T, N]"""
    steps = rollout.ended.shape[0]

    def earlier(last: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        ended, t = row
        last = jnp.where(ended, t, last)
        return last, last

    final = jnp.full(rollout.ended.shape[1:], steps - 1)
    rows = (rollout.ended, jnp.arange(steps))
    return jax.lax.scan(earlier, final, rows, reverse=True)[1]


def relabel(key: Key, rollout: Rollout, num_random: int, num_positive: int, level: str) -> Array:
    """`num_random` random and `num_positive` achieved goals for each transition. [T, N, K]

    At trajectory level every transition takes the goals drawn at its trajectory's last row.
    """
    key_random, key_positive = jax.random.split(key)
    drawn = random_goals(key_random, rollout, num_random)
    achieved = positive_goals(key_positive, rollout, num_positive)
    goals = jnp.concatenate([drawn, achieved], axis=-1)
    if level == "transition":
        return goals
    return jnp.take_along_axis(goals, last_of_trajectory(rollout)[..., None], axis=0)
