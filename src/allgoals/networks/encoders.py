"""How a network sees observations and, when it is told one, its goal."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from allgoals.types import Array, Obs, PyTree


class OneHotCoordinates(nn.Module):
    """Positions, and goals that are positions, as one one-hot vector per coordinate."""

    size: int

    def __call__(self, obs: Obs, goal: PyTree | None = None) -> Array:  # [B, 2] -> [B, F]
        seen = obs if goal is None else jnp.concatenate([obs, goal], axis=-1)
        return jax.nn.one_hot(seen, self.size).reshape(*seen.shape[:-1], -1)
