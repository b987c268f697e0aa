"""PPO, told its goal: the clipped policy gradient on the commanded goal alone.

A_t  generalised advantage estimate; a reached goal ends its segment, a time limit bootstraps
L = -E min(w A, clip(w, 1 - c, 1 + c) A) + k_v 1/2 (V - G)^2 - k_e H(pi),     w = pi / pi_old
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import (
    commanded_rows,
    example_inputs,
    goal_features,
    hyperparameters,
)
from allgoals.learning import distributions
from allgoals.learning.minibatch import learn_in_minibatches, take_rows
from allgoals.learning.model import Model
from allgoals.learning.schedules import annealed
from allgoals.learning.targets import generalised_advantages
from allgoals.networks.heads import ActorCritic
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task

# (logits [B, A], value [B], rows' t [B], rows' n [B]) -> loss and metrics to add
AuxiliaryLoss = Callable[[Array, Array, Array, Array], tuple[Array, Metrics]]


def no_auxiliary_loss(logits: Array, value: Array, t: Array, n: Array) -> tuple[Array, Metrics]:
    return jnp.zeros(()), {}


@hyperparameters
class Ppo:
    """Proximal policy optimisation for the commanded goal."""

    width: int = 1024  # units of each dense layer
    embedding_layers: int = 1  # dense layers shared by actor and critic
    actor_layers: int = 2  # dense layers of the actor alone
    critic_layers: int = 4  # dense layers of the critic alone
    conv_features: int = 32  # features of the convolution, in worlds that have a map
    normalise_inputs: bool = False  # by their running mean and deviation
    initial_value: float = 0.5  # of bounded values, before anything is learnt
    learning_rate: float = 2e-4
    learning_rate_decay: bool = True  # anneal the learning rate to 0 over the run
    gamma: float = 0.995  # discount
    gae_lambda: float = 0.95  # mix of longer returns into the advantages
    clip: float = 0.2  # how far the policy may move on a rollout
    entropy_coefficient: float = 0.005
    value_coefficient: float = 0.5
    epochs: int = 1  # passes over each rollout
    num_minibatches: int = 32  # gradient steps per pass
    max_grad_norm: float = 1.0  # gradients are clipped to this global norm

    def init(self, task: Task, key: Key) -> Model:
        network = ActorCritic(
            task.encoder(self.conv_features, self.normalise_inputs), self.width,
            self.embedding_layers, self.actor_layers,
            self.critic_layers, task.num_actions, task.goals.bounded, self.initial_value,
        )  # fmt: skip
        return Model.create("ppo", network, "adam", key, *example_inputs(task))

    def act(
        self, task: Task, model: Model, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        del explore, progress  # the policy is what it samples from, in judgement too
        logits, value = model(obs, goal_features(task, goal))
        action = jax.random.categorical(key, logits)
        return action, {"value": value, "log_prob": distributions.log_prob(logits, action)}

    def value(self, task: Task, model: Model, obs: Obs, goal: Array) -> Array:
        return model(obs, goal_features(task, goal))[1]

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        return {"num_minibatches": (transitions, self.num_minibatches)}

    def update(
        self, task: Task, model: Model, rollout: Rollout, key: Key, *, progress: Array,
        auxiliary_loss: AuxiliaryLoss = no_auxiliary_loss,
    ) -> tuple[Model, Metrics]:  # fmt: skip
        advantage = self.advantages(task, model, rollout)  # [T, N]
        target = advantage + rollout.extras["value"]
        learning_rate = annealed(self.learning_rate, self.learning_rate_decay, progress)

        def learn(model: Model, rows: Array, key: Key) -> tuple[Model, Metrics]:
            del key
            t, n = jnp.unravel_index(rows, rollout.action.shape)
            batch = take_rows(rollout, t, n)

            def loss(net: Model) -> tuple[Array, Metrics]:
                logits, value = net(batch.obs, goal_features(task, batch.goal))
                own, metrics = self.loss(logits, value, batch, advantage[t, n], target[t, n])
                added, more = auxiliary_loss(logits, value, t, n)
                return own + added, {**metrics, **more}

            return model.learn(loss, learning_rate, self.max_grad_norm)

        rows = rollout.action.size
        return learn_in_minibatches(
            learn, model, key,
            rows=rows, minibatch_size=rows // self.num_minibatches, epochs=self.epochs,
        )  # fmt: skip

    def advantages(self, task: Task, model: Model, rollout: Rollout) -> Array:
        value = rollout.extras["value"]
        rows = commanded_rows(rollout, value, partial(self.value, task, model))
        return generalised_advantages(*rows, value, self.gamma, self.gae_lambda)

    def loss(
        self, logits: Array, value: Array, batch: Rollout, advantage: Array, target: Array
    ) -> tuple[Array, Metrics]:
        log_ratio = distributions.log_prob(logits, batch.action) - batch.extras["log_prob"]
        ratio = jnp.exp(log_ratio)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - self.clip, 1 + self.clip)
        policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = 0.5 * jnp.square(value - target).mean()
        entropy = distributions.entropy(logits).mean()
        loss = (
            policy_loss + self.value_coefficient * value_loss - self.entropy_coefficient * entropy
        )
        return loss, {
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "kl": (ratio - 1 - log_ratio).mean(),
            "clipped": (jnp.abs(ratio - 1) > self.clip).mean(),
        }
