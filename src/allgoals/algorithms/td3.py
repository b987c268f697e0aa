"""TD3: twin delayed deterministic policy gradients, told its goal, with hindsight.

    L_Q  = (R(s', g) + gamma min Q'(s', a', g) - Q(s, a, g))^2       a' = pi'(s', g) + clipped noise
    L_pi = -Q_1(s, pi(s, g), g)                                      every `delay` steps

g is the commanded goal or, in hindsight, a point that the episode came to.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import example_inputs, goal_features, hyperparameters
from allgoals.algorithms.off_policy import Batch, Memory, Relabel, draw, slowly
from allgoals.algorithms.sac import critic_loss
from allgoals.learning.model import Model
from allgoals.learning.targets import limited
from allgoals.networks.control import Critics, Policy
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Task


class Td3Learner(NamedTuple):
    policy: Model
    critics: Model
    slow_policy: PyTree  # parameters that follow slowly
    slow_critics: PyTree
    steps: Array  # gradient steps taken, up to the next of the policy


@hyperparameters
class Td3:
    """What TD3 learns."""

    width: int = 256  # units of each dense layer
    layers: int = 2  # dense layers
    learning_rate: float = 3e-4
    gamma: float = 0.9  # discount
    tau: float = 0.005  # how fast the slow copies follow
    exploration_noise: float = 0.4  # deviation of the noise added when acting
    target_noise: float = 0.2  # deviation of the noise added to the target's action
    noise_clip: float = 0.5  # that noise at most
    delay: int = 2  # gradient steps of the critics per one of the policy
    batch_size: int = 256  # transitions per gradient step
    relabel: Relabel = "none"  # goals in hindsight
    hindsight: float = 0.8  # share of a batch that is relabelled, if any is
    max_grad_norm: float = 1e6  # gradients are clipped to this global norm

    def init(self, task: Task, key: Key) -> Td3Learner:
        key_policy, key_critics = jax.random.split(key)
        obs, goal = example_inputs(task)
        size = task.env.actions.size
        encoder = task.encoder(0, False)
        policy = Policy(encoder, self.width, self.layers, size)
        critics = Critics(encoder, self.width, self.layers)
        policy = Model.create("policy", policy, "adam_fine", key_policy, obs, goal)
        action = jnp.zeros((1, size))
        critics = Model.create("critics", critics, "adam_fine", key_critics, obs, action, goal)
        copies = jax.tree.map(jnp.copy, (policy.params, critics.params))
        return Td3Learner(policy, critics, *copies, jnp.int32(0))

    def act(
        self, task: Task, learner: Td3Learner, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        del progress
        action = _action(learner.policy, obs, goal_features(task, goal))
        noise = self.exploration_noise * jax.random.normal(key, action.shape)
        return jnp.clip(action + noise, -1.0, 1.0) if explore else action, ()

    def value(self, task: Task, learner: Td3Learner, obs: Obs, goal: Array) -> Array:
        features = goal_features(task, goal)
        return learner.critics(obs, _action(learner.policy, obs, features), features).min(axis=0)

    def step(
        self, task: Task, learner: Td3Learner, memory: Memory, key: Key
    ) -> tuple[Td3Learner, Metrics]:
        """One gradient step of the critics and, when it is due, of the policy."""
        key_batch, key_next = jax.random.split(key)
        batch = draw(
            task, memory, key_batch,
            batch_size=self.batch_size, relabel=self.relabel, share=self.hindsight,
        )  # fmt: skip
        target = self.targets(task, learner, batch, key_next)
        critics, metrics = learner.critics.learn(
            lambda net: critic_loss(net(batch.obs, batch.action, batch.goal), target),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        learner = learner._replace(critics=critics)
        learner, of_policy = jax.lax.cond(
            learner.steps == 0,
            lambda: self._policy_step(learner, batch),
            lambda: (learner, jnp.float32(0.0)),
        )
        steps = (learner.steps + 1) % self.delay
        return learner._replace(steps=steps), {**metrics, "policy/loss": self.delay * of_policy}

    def _policy_step(self, learner: Td3Learner, batch: Batch) -> tuple[Td3Learner, Array]:
        """A step of the policy, after which the slow copies follow."""

        def loss(net: Model) -> tuple[Array, Metrics]:
            action = _action(net, batch.obs, batch.goal)
            return -learner.critics(batch.obs, action, batch.goal)[0].mean(), {}

        policy, metrics = learner.policy.learn(loss, self.learning_rate, self.max_grad_norm)
        learner = learner._replace(
            policy=policy,
            slow_policy=slowly(learner.slow_policy, policy.params, self.tau),
            slow_critics=slowly(learner.slow_critics, learner.critics.params, self.tau),
        )
        return learner, metrics["policy/loss"]

    def targets(self, task: Task, learner: Td3Learner, batch: Batch, key: Key) -> Array:
        """R(s', g) + gamma min Q'(s', a', g). [B]"""
        slow_policy = learner.policy.replace(params=learner.slow_policy)
        slow_critics = learner.critics.replace(params=learner.slow_critics)
        action = _action(slow_policy, batch.next_obs, batch.goal)
        noise = self.target_noise * jax.random.normal(key, action.shape)
        noise = jnp.clip(noise, -self.noise_clip, self.noise_clip)
        action = jnp.clip(action + noise, -1.0, 1.0)
        q = slow_critics(batch.next_obs, action, batch.goal).min(axis=0)
        q = limited(q, task.goals.bounded)
        return batch.reward + self.gamma * ~batch.no_future * q


def _action(policy: Model, obs: Obs, goal: Array) -> Array:
    return jnp.tanh(policy(obs, goal)[0])
