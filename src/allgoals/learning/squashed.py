"""A normal distribution squashed to -1..1 by tanh, from its mean and deviation before that."""

import jax
import jax.numpy as jnp

from allgoals.types import Array, Key

EDGE = 1 - 1e-5


def sample(key: Key, mean: Array, deviation: Array) -> tuple[Array, Array]:
    """Actions [..., A] and the logarithm of their density [...], differentiable in both inputs."""
    noise = jax.random.normal(key, mean.shape)
    return squash(mean, deviation, noise)


def act(key: Key, mean: Array, deviation: Array, explore: bool) -> Array:
    """A random action, or without exploration the one in the middle. [..., A]"""
    return sample(key, mean, deviation)[0] if explore else jnp.tanh(mean)


def squash(mean: Array, deviation: Array, noise: Array) -> tuple[Array, Array]:
    """tanh(mean + deviation noise) and its log density."""
    x = mean + deviation * noise
    return jnp.tanh(x), _log_density(x, deviation, noise)


def log_density(mean: Array, deviation: Array, action: Array) -> Array:
    """Of a given action; one at the very edge counts as just inside it."""
    x = jnp.arctanh(jnp.clip(action, -EDGE, EDGE))
    return _log_density(x, deviation, (x - mean) / deviation)


def _log_density(x: Array, deviation: Array, noise: Array) -> Array:
    """log N(noise) - log deviation - log(1 - tanh(x)^2), summed over the numbers of an action.

    The last is 2 (log 2 - x - softplus(-2 x)), which stays exact where tanh is all but 1.
    """
    normal = -0.5 * (jnp.square(noise) + jnp.log(2 * jnp.pi)) - jnp.log(deviation)
    shrink = 2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))
    return (normal - shrink).sum(axis=-1)
