"""Q_g(s, a_g): every goal's value of an action of its own, and what it gains by another.

Asked naively this is one pass of the critics per goal, each through all heads. Here only head g is
computed for goal g, what precedes the action is computed once, and values and their derivatives
by the action are made a few goals at a time, so that nothing of size [B, G, H] is ever held.
"""

from functools import partial

import jax
import jax.numpy as jnp

from allgoals.learning.model import Model
from allgoals.types import Array, Obs

CHUNK = 8  # goals at a time


def smaller_q(critics: Model, obs: Obs, action: Array, heads: Array) -> Array:
    """min of both critics: action [B, K, A], heads [K] -> [B, K]. Differentiable in the action."""
    return _fused(critics, critics(obs, method="before"), action, heads)


@jax.custom_vjp
def _fused(critics: Model, before: Array, action: Array, heads: Array) -> Array:
    return _in_chunks(partial(_q, critics, before), action, heads)


def _forward(critics: Model, before: Array, action: Array, heads: Array):
    def with_slope(action: Array, heads: Array) -> tuple[Array, Array]:
        q, back = jax.vjp(lambda a: _q(critics, before, a, heads), action)
        return q, back(jnp.ones_like(q))[0]

    return _in_chunks(with_slope, action, heads)


def _backward(slope: Array, dq: Array):
    return None, None, dq[..., None] * slope, None


_fused.defvjp(_forward, _backward)


def _q(critics: Model, before: Array, action: Array, heads: Array) -> Array:
    return critics(before, action, heads, method="per_goal").min(axis=0)


def _in_chunks(f, action: Array, heads: Array):
    """f(action [B, k, A], heads [k]) -> [B, k, ...] over all goals, a chunk at a time."""
    goals = len(heads)
    spare = -goals % CHUNK  # the last chunk is filled up with goals that are then dropped
    heads = jnp.pad(heads, (0, spare)).reshape(-1, CHUNK)
    action = jnp.pad(action, ((0, 0), (0, spare), (0, 0)))
    action = action.reshape(len(action), -1, CHUNK, action.shape[-1]).swapaxes(0, 1)
    parts = jax.lax.map(lambda chunk: f(*chunk), (action, heads))  # [chunks, B, k, ...]

    def joined(x: Array) -> Array:
        x = x.swapaxes(0, 1)
        return x.reshape(len(x), -1, *x.shape[3:])[:, :goals]

    return jax.tree.map(joined, parts)
