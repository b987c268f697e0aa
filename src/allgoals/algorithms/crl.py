"""Contrastive RL: an energy of (state, action) and goal tells futures from other goals of a batch.

    f(s, a, g) = - |phi(s, a) - psi(g)|                              or another energy
    L_f  = cross-entropy of picking the own future among all of the batch, + c logsumexp(f)^2
    L_pi = alpha log pi(a | s, g) - f(s, a, g)

A future is a point that the row's own episode came to, geometrically distributed in time.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import example_inputs, goal_features, hyperparameters
from allgoals.algorithms.off_policy import Memory
from allgoals.algorithms.sac import learn_temperature, policy_loss
from allgoals.learning import squashed
from allgoals.learning.contrastive import Energy, Loss, contrastive_loss, energy
from allgoals.learning.model import Model
from allgoals.networks.control import Policy, Representations, Temperature
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Task


class CrlLearner(NamedTuple):
    policy: Model
    critic: Model  # phi and psi
    temperature: Model  # alpha


class Futures(NamedTuple):
    """Transitions and a point that each one's episode came to. [B, ...]"""

    obs: Obs
    action: Array
    goal: Array  # [B, D]


@hyperparameters
class Crl:
    """What contrastive RL learns."""

    width: int = 256  # units of each dense layer
    layers: int = 2  # dense layers
    representation: int = 64  # numbers that stand for a state and action, or for a goal
    energy: Energy = "norm"
    loss: Loss = "forward"
    logsumexp_penalty: float = 0.1
    learning_rate: float = 3e-4
    temperature_learning_rate: float = 3e-4
    initial_temperature: float = 1.0
    entropy_per_action: float = -0.5  # target entropy, times the numbers of an action
    gamma: float = 0.99  # how far ahead futures lie
    batch_size: int = 256  # transitions per gradient step
    max_grad_norm: float = 1e6  # gradients are clipped to this global norm

    def __post_init__(self):
        if self.loss == "binary" and self.energy in ("norm", "l2"):
            raise ValueError(
                "algorithm.agent.loss binary needs energy dot or cosine: a distance has no sign"
            )

    def init(self, task: Task, key: Key) -> CrlLearner:
        keys = jax.random.split(key, 3)
        obs, goal = example_inputs(task)
        size = task.env.actions.size
        encoder = task.encoder(0, False)
        body = (encoder, self.width, self.layers)
        critic = Representations(*body, self.representation, self.energy == "cosine")
        policy = Policy(*body, size, jax.nn.swish)
        action = jnp.zeros((1, size))
        return CrlLearner(
            Model.create("policy", policy, "adam_fine", keys[0], obs, goal),
            Model.create("critic", critic, "adam_fine", keys[1], obs, action, goal),
            Model.create("alpha", Temperature(self.initial_temperature), "adam_fine", keys[2]),
        )

    def act(
        self, task: Task, learner: CrlLearner, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        del progress
        return squashed.act(key, *learner.policy(obs, goal_features(task, goal)), explore), ()

    def value(self, task: Task, learner: CrlLearner, obs: Obs, goal: Array) -> Array:
        features = goal_features(task, goal)
        action = jnp.tanh(learner.policy(obs, features)[0])
        return energy(self.energy, *learner.critic(obs, action, features))

    def futures(self, task: Task, memory: Memory, key: Key) -> Futures:
        key_rows, key_ahead = jax.random.split(key)
        replay = memory.replay
        row, env = replay.sample(key_rows, self.batch_size)
        left = memory.last_rows[row, env] - row  # rows of the episode after this one
        later = row + geometric(key_ahead, left, self.gamma)
        steps = replay.take(row, env)
        point = task.goals.space.project(replay.take(later, env).next_obs)
        return Futures(steps.obs, steps.action, point)

    def step(
        self, task: Task, learner: CrlLearner, memory: Memory, key: Key
    ) -> tuple[CrlLearner, Metrics]:
        """One gradient step of the critic, the policy and the temperature."""
        key_batch, key_now = jax.random.split(key)
        batch = self.futures(task, memory, key_batch)
        alpha = learner.temperature()
        critic, of_critic = learner.critic.learn(
            lambda net: contrastive_loss(
                self.loss, self.energy, *net(batch.obs, batch.action, batch.goal),
                self.logsumexp_penalty,
            ),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip

        def closeness(action: Array) -> Array:
            return energy(self.energy, *learner.critic(batch.obs, action, batch.goal))

        policy, of_policy = learner.policy.learn(
            lambda net: policy_loss(net(batch.obs, batch.goal), closeness, alpha, key_now),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        surplus = of_policy["policy/entropy"] - self.entropy_per_action * task.env.actions.size
        temperature, of_alpha = learn_temperature(
            learner.temperature, surplus, self.temperature_learning_rate
        )
        return CrlLearner(policy, critic, temperature), {**of_critic, **of_policy, **of_alpha}


def geometric(key: Key, most: Array, gamma: Array | float) -> Array:
    """k in 0..most with probability proportional to gamma^k. [B]"""
    u = jax.random.uniform(key, most.shape)
    gamma = jnp.minimum(gamma, 1 - 1e-6)
    k = jnp.log1p(-u * (1 - gamma ** (most + 1))) / jnp.log(gamma)
    return jnp.clip(jnp.floor(k).astype(jnp.int32), 0, most)
