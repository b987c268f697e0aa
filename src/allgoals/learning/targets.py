"""Bootstrapped targets. Every argument is row-aligned and time-major.

Row t speaks of the transition (s_t, a_t, s_{t+1}): `next_value[t]` is the value of the state
arrived at, s_{t+1} as it was before any reset, under the goal of row t.
"""

import jax
import jax.numpy as jnp

from allgoals.types import Array


def one_step(reward: Array, terminated: Array, next_value: Array, gamma: Array | float) -> Array:
    """r_t + gamma (1 - terminated_t) V(s_{t+1})"""
    return reward + gamma * (1.0 - terminated) * next_value


def limited(value: Array, bounded: bool) -> Array:
    """An estimate as far as a return can be so: in [0, 1], if returns lie there.

    Without it critics that judge actions nobody took can bid each other up without end.
    """
    return jnp.clip(value, 0.0, 1.0) if bounded else value


def lambda_returns(
    reward: Array,
    terminated: Array,  # the state arrived at has no further value
    cut: Array,  # the next row does not continue this one: end of episode, of goal, or of rollout
    next_value: Array,
    gamma: Array | float,
    lambda_: Array | float,
) -> Array:
    """G_t = r_t + gamma (1 - terminated_t) ((1 - l) V(s_{t+1}) + l G_{t+1}), l = 0 on a cut."""

    def earlier(g_next: Array, row: tuple[Array, ...]) -> tuple[Array, Array]:
        reward, terminated, cut, next_value = row
        mix = lambda_ * (1.0 - cut)
        g = reward + gamma * (1.0 - terminated) * ((1.0 - mix) * next_value + mix * g_next)
        return g, g

    rows = (reward, terminated, cut.at[-1].set(True), next_value)
    return jax.lax.scan(earlier, jnp.zeros_like(next_value[-1]), rows, reverse=True)[1]


def generalised_advantages(
    reward: Array,
    terminated: Array,
    cut: Array,
    next_value: Array,
    value: Array,
    gamma: Array | float,
    lambda_: Array | float,
) -> Array:
    """GAE: A_t = d_t + gamma lambda A_{t+1} until a cut, d_t = r_t + gamma V(s_{t+1}) - V(s_t).

    That is the lambda-return less the value of the state it starts from.
    """
    return lambda_returns(reward, terminated, cut, next_value, gamma, lambda_) - value
