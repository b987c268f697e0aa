"""Networks for continuous actions: policies and critics, told their goal or for all goals at once.

Critics come in pairs, of which the smaller answer counts.
"""

import math
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from allgoals.types import Array, Obs, PyTree

CRITICS = 2
LEAST_DEVIATION = 1e-3
MOST_FACTOR = 100.0


def _dense(width: int) -> nn.Dense:
    return nn.Dense(width, kernel_init=nn.initializers.lecun_uniform())


def _part(width: int, inputs: int, bias: bool = True) -> nn.Dense:
    """A part of a dense layer: it begins as the columns of one that has so many inputs in all."""
    most = math.sqrt(3 / inputs)

    def init(key: Array, shape: tuple[int, ...], dtype: Any = jnp.float32) -> Array:
        return jax.random.uniform(key, shape, dtype, -most, most)

    return nn.Dense(width, use_bias=bias, kernel_init=init)


class Mlp(nn.Module):
    """Dense layers with ReLU, or another unit, after each."""

    width: int
    layers: int
    unit: Callable[[Array], Array] = nn.relu

    @nn.compact
    def __call__(self, *parts: Array) -> Array:  # [B, F1], [B, F2] ... -> [B, H]
        x = jnp.concatenate(parts, axis=-1)
        for _ in range(self.layers):
            x = self.unit(_dense(self.width)(x))
        return x


def _normal(x: Array) -> tuple[Array, Array]:
    """A mean and a deviation out of twice as many numbers."""
    mean, raw = jnp.split(x, 2, axis=-1)
    return mean, nn.softplus(raw) + LEAST_DEVIATION


class Policy(nn.Module):
    """pi(s, g): mean and deviation of the action before it is squashed. [B, A] each"""

    encoder: nn.Module
    width: int
    layers: int
    action_size: int
    unit: Callable[[Array], Array] = nn.relu

    @nn.compact
    def __call__(self, obs: Obs, goal: PyTree) -> tuple[Array, Array]:
        x = Mlp(self.width, self.layers, self.unit)(*self.encoder(obs, goal))
        return _normal(_dense(2 * self.action_size)(x))


class OneCritic(nn.Module):
    """Q(s, a, g). [B]"""

    encoder: nn.Module
    width: int
    layers: int

    @nn.compact
    def __call__(self, obs: Obs, action: Array, goal: PyTree) -> Array:
        x = Mlp(self.width, self.layers)(*self.encoder(obs, goal), action)
        return _dense(1)(x)[..., 0]


class Critics(nn.Module):
    """Two of them side by side. [2, B]"""

    encoder: nn.Module
    width: int
    layers: int

    @nn.compact
    def __call__(self, obs: Obs, action: Array, goal: PyTree) -> Array:
        pair = [OneCritic(self.encoder, self.width, self.layers) for _ in range(CRITICS)]
        return jnp.stack([critic(obs, action, goal) for critic in pair])


class AllGoalsPolicy(nn.Module):
    """pi(s): mean and deviation for every goal at once."""

    encoder: nn.Module
    width: int
    layers: int
    action_size: int
    num_goals: int

    def setup(self):
        self.body = Mlp(self.width, self.layers)
        shape = (self.num_goals, self.width, 2 * self.action_size)
        init = nn.initializers.variance_scaling(1.0, "fan_in", "uniform", in_axis=1, batch_axis=0)
        self.kernel = self.param("kernel", init, shape)
        self.bias = self.param("bias", nn.initializers.zeros, (shape[0], shape[2]))

    def __call__(self, obs: Obs, heads: Array) -> tuple[Array, Array]:
        """The given goals, for every row. [B, K, A] each"""
        x = jnp.einsum("bh,khc->bkc", self.body(*self.encoder(obs)), self.kernel[heads])
        return _normal(x + self.bias[heads])

    def commanded(self, obs: Obs, head: Array) -> tuple[Array, Array]:
        """One goal for each row. [B, A] each"""
        x = jnp.einsum("bh,bhc->bc", self.body(*self.encoder(obs)), self.kernel[head])
        return _normal(x + self.bias[head])


class OneAllGoalsCritic(nn.Module):
    """Q(s, a) for every goal at once.

    The action enters the first layer or, if `late`, the last: what comes before it is computed once
    however many actions are asked about.
    """

    encoder: nn.Module
    width: int
    layers: int
    num_goals: int
    sizes: tuple[int, int]  # numbers of what is seen, and of an action
    late: bool = False

    def setup(self):
        seen, action = self.sizes
        inputs = action + (self.width if self._entry else seen)
        before, after = self._entry, self.layers - self._entry - 1
        self.dense = [
            *(_dense(self.width) for _ in range(before)),
            _part(self.width, inputs),
            *(_dense(self.width) for _ in range(after)),
        ]
        self.action = _part(self.width, inputs, bias=False)
        init = nn.initializers.lecun_uniform()
        self.kernel = self.param("kernel", init, (self.width, self.num_goals))
        self.bias = self.param("bias", nn.initializers.zeros, (self.num_goals,))

    @property
    def _entry(self) -> int:
        return self.layers - 1 if self.late else 0

    def before(self, obs: Obs) -> Array:
        """All that does not depend on the action. [B, H]"""
        x = jnp.concatenate(self.encoder(obs), axis=-1)
        for dense in self.dense[: self._entry]:
            x = nn.relu(dense(x))
        return self.dense[self._entry](x)

    def _after(self, x: Array) -> Array:  # [..., H] -> [..., H]
        x = nn.relu(x)
        for dense in self.dense[self._entry + 1 :]:
            x = nn.relu(dense(x))
        return x

    def __call__(self, obs: Obs, action: Array) -> Array:
        """One action a row, every goal. [B, G]"""
        return self._after(self.before(obs) + self.action(action)) @ self.kernel + self.bias

    def per_goal(self, before: Array, action: Array, heads: Array) -> Array:
        """An action for each goal: before [B, H], action [B, K, A], heads [K] -> [B, K]."""
        x = self._after(before[:, None] + self.action(action))
        return jnp.einsum("bkh,hk->bk", x, self.kernel[:, heads]) + self.bias[heads]


class AllGoalsCritics(nn.Module):
    """Two of them side by side, on a new first axis."""

    encoder: nn.Module
    width: int
    layers: int
    num_goals: int
    sizes: tuple[int, int]
    late: bool = False

    def setup(self):
        fields = (self.encoder, self.width, self.layers, self.num_goals, self.sizes, self.late)
        self.pair = [OneAllGoalsCritic(*fields) for _ in range(CRITICS)]

    def __call__(self, obs: Obs, action: Array) -> Array:  # [2, B, G]
        return jnp.stack([critic(obs, action) for critic in self.pair])

    def before(self, obs: Obs) -> Array:  # [2, B, H]
        return jnp.stack([critic.before(obs) for critic in self.pair])

    def per_goal(self, before: Array, action: Array, heads: Array) -> Array:  # [2, B, K]
        each = zip(self.pair, before, strict=True)
        return jnp.stack([critic.per_goal(x, action, heads) for critic, x in each])


class Temperature(nn.Module):
    """A positive number, learnt as its logarithm."""

    initial: float

    @nn.compact
    def __call__(self) -> Array:
        return jnp.exp(self.param("log", nn.initializers.constant(jnp.log(self.initial)), ()))


class Representations(nn.Module):
    """phi(s, a) and psi(g). [B, D] each"""

    encoder: nn.Module
    width: int
    layers: int
    size: int
    directions: bool = False  # of length 1, phi times a factor that is learnt

    @nn.compact
    def __call__(self, obs: Obs, action: Array, goal: PyTree) -> tuple[Array, Array]:
        seen, wanted = self.encoder(obs, goal)
        phi = _dense(self.size)(Mlp(self.width, self.layers, nn.swish)(seen, action))
        psi = _dense(self.size)(Mlp(self.width, self.layers, nn.swish)(wanted))
        if not self.directions:
            return phi, psi
        factor = jnp.exp(self.param("log_factor", nn.initializers.constant(math.log(10.0)), ()))
        return jnp.minimum(factor, MOST_FACTOR) * _direction(phi), _direction(psi)


def _direction(x: Array) -> Array:
    return x / jnp.sqrt(jnp.square(x).sum(axis=-1, keepdims=True) + 1e-6)


class AllGoalsValue(nn.Module):
    """V(s) for every goal at once. [B, G]"""

    encoder: nn.Module
    width: int
    layers: int
    num_goals: int

    @nn.compact
    def __call__(self, obs: Obs) -> Array:
        return _dense(self.num_goals)(Mlp(self.width, self.layers)(*self.encoder(obs)))
