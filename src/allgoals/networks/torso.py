"""The body shared by all networks: dense layers, each with layer norm and ReLU."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from allgoals.types import Array


class Torso(nn.Module):
    width: int
    layers: int

    @nn.compact
    def __call__(self, *parts: Array) -> Array:  # [B, F1], [B, F2] ... -> [B, H]
        for _ in range(self.layers):
            parts = (nn.relu(nn.LayerNorm()(Dense(self.width)(*parts))),)
        return jnp.concatenate(parts, axis=-1)


class Dense(nn.Module):
    """A dense layer over parts side by side: a part that is given costs no gradient of its own."""

    width: int

    @nn.compact
    def __call__(self, *parts: Array) -> Array:
        ends = np.cumsum([part.shape[-1] for part in parts])
        init = nn.initializers.orthogonal(2**0.5)
        kernels = jnp.split(self.param("kernel", init, (ends[-1], self.width)), ends[:-1])
        products = [part @ kernel for part, kernel in zip(parts, kernels, strict=True)]
        return sum(products) + self.param("bias", nn.initializers.zeros, (self.width,))
