"""How to act on values."""

import jax
import jax.numpy as jnp

from allgoals.types import Array, Key


def epsilon_greedy(key: Key, q: Array, epsilon: Array | float) -> Array:
    """The best action, or with probability epsilon any. q [..., A] -> [...]"""
    key_any, key_whether = jax.random.split(key)
    anything = jax.random.randint(key_any, q.shape[:-1], 0, q.shape[-1])
    explore = jax.random.uniform(key_whether, q.shape[:-1]) < epsilon
    return jnp.where(explore, anything, q.argmax(axis=-1))
