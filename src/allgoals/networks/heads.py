"""Networks from observations to values and policies.

`GoalConditionedQ` is told its goal (UVFA, early fusion); `AllGoalsQ` answers for every goal at once
(LEO, late fusion); `ActorCritic` is told its goal.
"""

import math

import flax.linen as nn
import jax.numpy as jnp

from allgoals.networks import all_actions
from allgoals.networks.grouped import grouped_matmul
from allgoals.networks.torso import Torso
from allgoals.types import Array, Obs, PyTree


def _first_bias(initial_value: float, bounded: bool) -> nn.initializers.Initializer:
    """The bias with which a head begins at a value; without bounds it begins at 0."""
    logit = math.log(initial_value / (1 - initial_value))
    return nn.initializers.constant(logit if bounded else 0.0)


def _bound(x: Array, bounded: bool) -> Array:
    """Returns of binary goals lie in [0, 1], and so do their estimates."""
    return nn.sigmoid(x) if bounded else x


class GoalConditionedQ(nn.Module):
    """Q(s, g): a value per action for the goal it is told."""

    encoder: nn.Module
    width: int
    layers: int
    num_actions: int
    bounded: bool
    initial_value: float = 0.5

    @nn.compact
    def __call__(self, obs: Obs, goal: PyTree) -> Array:  # [B, A]
        x = Torso(self.width, self.layers)(*self.encoder(obs, goal))
        q = nn.Dense(
            self.num_actions,
            kernel_init=nn.initializers.orthogonal(1.0),
            bias_init=_first_bias(self.initial_value, self.bounded),
        )(x)
        return _bound(q, self.bounded)


class AllGoalsQ(nn.Module):
    """Q(s): a value per action and goal, all at once."""

    encoder: nn.Module
    width: int
    layers: int
    num_actions: int
    num_goals: int
    bounded: bool
    initial_value: float = 0.5
    all_actions_in: str = "float32"  # how factors are rounded to bootstrap

    def setup(self):
        self.torso = Torso(self.width, self.layers)
        shape = (self.num_actions, self.width, self.num_goals)
        self.kernel = self.param("kernel", _orthogonal_per_output, shape)
        first_bias = _first_bias(self.initial_value, self.bounded)
        self.bias = self.param("bias", first_bias, (self.num_actions, self.num_goals))

    def __call__(self, obs: Obs) -> Array:
        """Every action and every goal. [B, A, G]"""
        q = jnp.einsum("bh,ahg->bag", self.features(obs), self.kernel) + self.bias
        return _bound(q, self.bounded)

    def features(self, obs: Obs) -> Array:
        """What the heads of all actions and goals read. [B, H]"""
        return self.torso(*self.encoder(obs))

    def acting(self, obs: Obs, goal: Array) -> tuple[Array, Array]:
        """Every action for one goal each [B, A], and the features [B, H] that `best` takes."""
        x = self.features(obs)
        q = all_actions.commanded(x, self.kernel, self.bias, goal)
        return _bound(q, self.bounded), x

    def best(self, features: Array) -> Array:
        """The best action's value, every goal. [..., H] -> [..., G]"""
        q = all_actions.best(features, self.kernel, self.bias, self.all_actions_in)
        return _bound(q, self.bounded)  # which keeps order

    def chosen(self, obs: Obs, action: Array) -> Array:
        """The action taken, every goal. [B, G]"""
        q = grouped_matmul(self.features(obs), self.kernel, action) + self.bias[action]
        return _bound(q, self.bounded)


def _orthogonal_per_output(key: Array, shape: tuple[int, int, int]) -> Array:
    """One orthogonal matrix [H, A * G], stored as A matrices [H, G]."""
    actions, width, goals = shape
    flat = nn.initializers.orthogonal(1.0)(key, (width, actions * goals))
    return flat.reshape(width, actions, goals).transpose(1, 0, 2)


class ActorCritic(nn.Module):
    """pi(s, g) and V(s, g) on a shared embedding."""

    encoder: nn.Module
    width: int
    embedding_layers: int
    actor_layers: int
    critic_layers: int
    num_actions: int
    bounded: bool
    initial_value: float = 0.5

    @nn.compact
    def __call__(self, obs: Obs, goal: PyTree) -> tuple[Array, Array]:  # logits [B, A], value [B]
        x = Torso(self.width, self.embedding_layers)(*self.encoder(obs, goal))
        actor = Torso(self.width, self.actor_layers)(x)
        logits = nn.Dense(self.num_actions, kernel_init=nn.initializers.orthogonal(0.01))(actor)
        critic = Torso(self.width, self.critic_layers)(x)
        value = nn.Dense(
            1,
            kernel_init=nn.initializers.orthogonal(1.0),
            bias_init=_first_bias(self.initial_value, self.bounded),
        )(critic)
        return logits, _bound(value[:, 0], self.bounded)
