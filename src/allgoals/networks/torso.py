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
        for i in range(self.layers):
            x = Dense(self.width, name=f"Dense_{i}")(*parts)
            parts = (nn.relu(nn.LayerNorm()(x)),)
        return jnp.concatenate(parts, axis=-1)


class Dense(nn.Module):
    """A dense layer over parts side by side: a part that is given costs no gradient of its own."""

    width: int

    @nn.compact
    def __call__(self, *parts: Array) -> Array:
        edges = np.cumsum([0, *(part.shape[-1] for part in parts)])
        init = nn.initializers.orthogonal(2**0.5)
        kernel = self.param("kernel", init, (edges[-1], self.width))
        products = [
            part @ kernel[start:stop]
            for part, start, stop in zip(parts, edges, edges[1:], strict=False)
        ]
        return sum(products) + self.param("bias", nn.initializers.zeros, (self.width,))
