"""How a network sees observations and, when it is told one, its goal.

An encoder gives parts [B, F], which the first dense layer takes side by side.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from allgoals.networks.convolution import conv3x3
from allgoals.types import Array, GridLayout, GridObs, Obs, PyTree


class OneHotCoordinates(nn.Module):
    """Positions, and goals that are positions, as one one-hot vector per coordinate."""

    size: int
    normalise: bool = False

    @nn.compact
    def __call__(self, obs: Obs, goal: PyTree | None = None) -> tuple[Array, ...]:  # [B, F] each
        seen = self._widen(obs)
        seen = RunningNorm()(seen) if self.normalise else seen
        return (seen,) if goal is None else (seen, self._widen(goal))

    def _widen(self, coordinates: Array) -> Array:
        return jax.nn.one_hot(coordinates, self.size).reshape(len(coordinates), -1)


class RunningNorm(nn.Module):
    """Inputs less their mean over their deviation, both of all batches learnt from so far.

    It is batch renormalisation without its clipping: below it nothing learns, so only the moments
    that normalise matter, not which batch they are a function of.
    """

    memory: int = 1000  # batches; older ones fade
    floor: float = 1e-3  # added to the variance: what is seldom seen is not blown up without end

    @nn.compact
    def __call__(self, x: Array) -> Array:  # [..., C]
        width = x.shape[-1:]
        mean = self.variable("stats", "mean", jnp.zeros, width)
        variance = self.variable("stats", "variance", jnp.ones, width)
        batches = self.variable("stats", "batches", jnp.zeros, ())
        if self.is_mutable_collection("stats") and not self.is_initializing():
            rows = x.reshape(-1, *width)
            weight = 1 / jnp.minimum(batches.value + 1, self.memory)
            mean.value += weight * (rows.mean(axis=0) - mean.value)
            squares = jnp.square(rows - mean.value).mean(axis=0)
            variance.value += weight * (squares - variance.value)
            batches.value += 1
        return (x - mean.value) * jax.lax.rsqrt(variance.value + self.floor)


class GridEncoder(nn.Module):
    """One convolution with layer norm over the map, and the vector as it is.

    Layer norm takes every cell's features less their mean: here the kernels are centred instead,
    which is the same and spares passes over every cell.

    A goal enters the same way: a thing wanted on one cell is a map with a single one in it, whose
    convolution is the kernel itself around that cell; the rest joins the vector.
    """

    layout: GridLayout
    cells: tuple[tuple[int, int], ...]  # where goals want things, relative to the middle
    features: int
    normalise: bool = False

    @nn.compact
    def __call__(self, obs: GridObs, goal: PyTree | None = None) -> tuple[Array, ...]:
        init = nn.initializers.variance_scaling(
            1.0, "fan_in", "truncated_normal", in_axis=(-4, -3, -2)
        )
        shape = (3, 3, self.layout.channels, self.features)
        map_, vector = widen_map(obs.map, self.layout), widen_vector(obs.vector, self.layout)
        if self.normalise:
            map_, vector = RunningNorm()(map_), RunningNorm()(vector)
        x = conv3x3(map_, _centred(self.param("kernel", init, shape)))
        given = (vector,)
        if goal is not None:
            x = x + self._wanted(_centred(self.param("goal_kernel", init, shape)), goal)
            given = (vector, goal.vector.astype(vector.dtype))
        x = x + _centred(self.param("bias", nn.initializers.zeros, (self.features,)))
        x = nn.relu(nn.RMSNorm()(x) + self.param("shift", nn.initializers.zeros, (self.features,)))
        return x.reshape(len(x), -1), *given

    def _wanted(self, kernel: Array, goal: PyTree) -> Array:
        """The convolution of a map that holds the wanted thing on its cell. [B, H, W, F]"""
        height, width = self.layout.view
        around = goal.thing.astype(kernel.dtype) @ kernel[::-1, ::-1].transpose(2, 0, 1, 3).reshape(
            self.layout.channels, -1
        )
        around = around.reshape(-1, 3, 3, self.features)  # one cell up and left, to down and right
        where = jax.nn.one_hot(goal.cell, len(self.cells))  # nothing for goals without a cell
        total = 0.0
        for i, (down, right) in enumerate(self.cells):
            top, left = height // 2 + down - 1, width // 2 + right - 1
            frame = ((0, 0), (top, height - top - 3), (left, width - left - 3), (0, 0))
            total = total + jnp.pad(where[:, i, None, None, None] * around, frame)
        return total


def _centred(weights: Array) -> Array:
    return weights - weights.mean(axis=-1, keepdims=True)


def widen_map(map_: Array, layout: GridLayout) -> Array:
    """Every value and every bit gets a channel. [B, H, W, layers] -> [B, H, W, channels]"""
    parts = []
    for i, layer in enumerate(layout.layers):
        numbers = jnp.arange(layer.size, dtype=map_.dtype)
        cell = map_[..., i, None]
        parts.append((cell >> numbers) & 1 == 1 if layer.bits else cell == numbers)
    return jnp.concatenate(parts, axis=-1).astype(jnp.float32)


def widen_vector(vector: Array, layout: GridLayout) -> Array:
    """Every value gets a place, a quantity is scaled. [B, entries] -> [B, widened]"""
    sizes = np.array([entry.size for entry in layout.entries])
    scales = np.array([entry.scale for entry in layout.entries], np.float32)
    entry = np.repeat(np.arange(len(sizes)), sizes)
    value = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    repeated = vector[:, entry]
    is_value = repeated == value.astype(np.uint8)
    return jnp.where(sizes[entry] > 1, is_value, repeated / scales[entry])


class VectorEncoder(nn.Module):
    """Observations that are vectors and goals that are their beginnings, brought to -1..1 or so."""

    centre: tuple[float, ...]  # the middle of every number of an observation
    scale: tuple[float, ...]  # how far it goes to either side
    normalise: bool = False

    @nn.compact
    def __call__(self, obs: Obs, goal: PyTree | None = None) -> tuple[Array, ...]:  # [B, F] each
        centre, scale = jnp.array(self.centre), jnp.array(self.scale)
        seen = (obs - centre) / scale
        seen = RunningNorm()(seen) if self.normalise else seen
        if goal is None:
            return (seen,)
        size = goal.shape[-1]
        return seen, (goal - centre[:size]) / scale[:size]


class OffsetEncoder(nn.Module):
    """What another encoder makes of an observation, and how far a goal lies from the grid's."""

    inner: nn.Module
    spread: tuple[float, ...]  # how far that is at most, along each axis

    @nn.compact
    def __call__(self, seen: tuple[Obs, Array]) -> tuple[Array, ...]:  # [B, F] each
        obs, offset = seen
        return (*self.inner(obs), offset / jnp.array(self.spread))
