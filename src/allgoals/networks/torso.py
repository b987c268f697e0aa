"""The body shared by all networks: dense layers, each with layer norm and ReLU."""

import flax.linen as nn

from allgoals.types import Array


class Torso(nn.Module):
    width: int
    layers: int

    @nn.compact
    def __call__(self, x: Array) -> Array:  # [B, F] -> [B, H]
        for _ in range(self.layers):
            x = nn.Dense(self.width, kernel_init=nn.initializers.orthogonal(2**0.5))(x)
            x = nn.relu(nn.LayerNorm()(x))
        return x
