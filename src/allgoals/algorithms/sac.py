"""SAC: soft actor-critic, told its goal, with hindsight.

    L_Q     = 1/2 (R(s', g) + gamma (min Q'(s', a', g) - alpha log pi(a' | s', g)) - Q(s, a, g))^2
    L_pi    = alpha log pi(a | s, g) - min Q(s, a, g)                        a ~ pi(s, g)
    L_alpha = -alpha (log pi(a | s, g) + target entropy)

g is the commanded goal or, in hindsight, a point that the episode came to.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import example_inputs, goal_features, hyperparameters
from allgoals.algorithms.off_policy import Batch, Memory, Relabel, draw, slowly
from allgoals.learning import squashed
from allgoals.learning.model import Model
from allgoals.learning.targets import limited
from allgoals.networks.control import Critics, Policy, Temperature
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Task


class SacLearner(NamedTuple):
    policy: Model
    critics: Model
    target: PyTree  # the critics' parameters, following slowly
    temperature: Model  # alpha


@hyperparameters
class Sac:
    """What SAC learns."""

    width: int = 256  # units of each dense layer
    layers: int = 2  # dense layers
    learning_rate: float = 1e-4  # of policy and critics
    temperature_learning_rate: float = 3e-4
    initial_temperature: float = 1.0  # alpha at the beginning
    entropy_per_action: float = -0.5  # target entropy, times the numbers of an action
    gamma: float = 0.9  # discount
    tau: float = 0.005  # how fast the target follows
    batch_size: int = 256  # transitions per gradient step
    relabel: Relabel = "none"  # goals in hindsight
    hindsight: float = 0.8  # share of a batch that is relabelled, if any is
    max_grad_norm: float = 1e6  # gradients are clipped to this global norm

    def init(self, task: Task, key: Key) -> SacLearner:
        keys = jax.random.split(key, 3)
        obs, goal = example_inputs(task)
        action = jnp.zeros((1, task.env.actions.size))
        encoder = task.encoder(0, False)
        policy = Policy(encoder, self.width, self.layers, task.env.actions.size)
        critics = Critics(encoder, self.width, self.layers)
        critics = Model.create("critics", critics, "adam_fine", keys[1], obs, action, goal)
        return SacLearner(
            Model.create("policy", policy, "adam_fine", keys[0], obs, goal),
            critics,
            jax.tree.map(jnp.copy, critics.params),
            Model.create("alpha", Temperature(self.initial_temperature), "adam_fine", keys[2]),
        )

    def act(
        self, task: Task, learner: SacLearner, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        del progress
        return squashed.act(key, *learner.policy(obs, goal_features(task, goal)), explore), ()

    def value(self, task: Task, learner: SacLearner, obs: Obs, goal: Array) -> Array:
        features = goal_features(task, goal)
        action = jnp.tanh(learner.policy(obs, features)[0])
        return learner.critics(obs, action, features).min(axis=0)

    def draw(self, task: Task, memory: Memory, key: Key) -> Batch:
        return draw(
            task, memory, key,
            batch_size=self.batch_size, relabel=self.relabel, share=self.hindsight,
        )  # fmt: skip

    def step(
        self, task: Task, learner: SacLearner, memory: Memory, key: Key
    ) -> tuple[SacLearner, Metrics]:
        key_batch, key_learn = jax.random.split(key)
        batch = self.draw(task, memory, key_batch)
        return self.learn(task, learner, batch, key_learn, partial(self.worth, learner, batch))

    def learn(
        self, task: Task, learner: SacLearner, batch: Batch, key: Key,
        judge: Callable[[Array], Array],
    ) -> tuple[SacLearner, Metrics]:  # fmt: skip
        """One gradient step of critics, policy and temperature.

        `judge` says what actions of the policy are worth: [B, A] -> [B].
        """
        key_next, key_now = jax.random.split(key)
        alpha = learner.temperature()
        target = self.targets(task, learner, batch, alpha, key_next)
        critics, of_critics = learner.critics.learn(
            lambda net: critic_loss(net(batch.obs, batch.action, batch.goal), target),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        policy, of_policy = learner.policy.learn(
            lambda net: policy_loss(net(batch.obs, batch.goal), judge, alpha, key_now),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        surplus = of_policy["policy/entropy"] - self.entropy_per_action * task.env.actions.size
        temperature, of_alpha = learn_temperature(
            learner.temperature, surplus, self.temperature_learning_rate
        )
        slow = slowly(learner.target, critics.params, self.tau)
        learner = SacLearner(policy, critics, slow, temperature)
        return learner, {**of_critics, **of_policy, **of_alpha}

    def worth(self, learner: SacLearner, batch: Batch, action: Array) -> Array:
        return learner.critics(batch.obs, action, batch.goal).min(axis=0)

    def targets(
        self, task: Task, learner: SacLearner, batch: Batch, alpha: Array, key: Key
    ) -> Array:
        """R(s', g) + gamma (min Q'(s', a', g) - alpha log pi(a' | s', g)). [B]"""
        action, log_pi = squashed.sample(key, *learner.policy(batch.next_obs, batch.goal))
        slow = learner.critics.replace(params=learner.target)
        q = limited(slow(batch.next_obs, action, batch.goal).min(axis=0), task.goals.bounded)
        return batch.reward + self.gamma * ~batch.no_future * (q - alpha * log_pi)


def critic_loss(q: Array, target: Array) -> tuple[Array, Metrics]:
    """The squared error of both critics. q [2, ...], target [...]"""
    return 0.5 * jnp.square(q - target).mean(), {"q": q.mean(), "target": target.mean()}


def policy_loss(
    policy: tuple[Array, Array], judge: Callable[[Array], Array], alpha: Array, key: Key
) -> tuple[Array, Metrics]:
    """alpha log pi(a | s, g) - worth(a) for a ~ pi(s, g), given by mean and deviation."""
    action, log_pi = squashed.sample(key, *policy)
    return (alpha * log_pi - judge(action)).mean(), {"entropy": -log_pi.mean()}


def learn_temperature(
    temperature: Model, surplus: Array, learning_rate: Array
) -> tuple[Model, Metrics]:
    """A step on -alpha (log pi + target entropy): alpha falls while there is entropy to spare."""
    return temperature.learn(
        lambda net: (net() * surplus, {"value": net()}), learning_rate, jnp.inf
    )
