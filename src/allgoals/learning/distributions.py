"""The categorical distribution, from logits [..., A]."""

import jax
import jax.numpy as jnp

from allgoals.types import Array


def log_prob(logits: Array, action: Array) -> Array:
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], axis=-1)[..., 0]


def entropy(logits: Array) -> Array:
    log_p = jax.nn.log_softmax(logits)
    return -(jnp.exp(log_p) * log_p).sum(axis=-1)


def cross_entropy(target: Array, logits: Array) -> Array:
    """Between target probabilities [..., A] and the distribution of the logits."""
    return -(target * jax.nn.log_softmax(logits)).sum(axis=-1)
