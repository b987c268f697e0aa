"""LEO: learn everything all at once (paper, section "Efficient All-Goals Updates").

One network gives Q(s, a, g) for every action and goal. Every transition (s, a, s') teaches every
goal, whichever was commanded:

    L = 1/2 (R(s') + gamma max_a' Q(a' | s') - Q(a | s))^2    with a row of G entries for each term
"""

from typing import Literal

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import example_inputs, hyperparameters
from allgoals.learning.bootstrap import next_values
from allgoals.learning.exploration import epsilon_greedy
from allgoals.learning.minibatch import learn_in_minibatches, take_rows
from allgoals.learning.model import Model
from allgoals.learning.schedules import annealed, linear
from allgoals.learning.targets import one_step
from allgoals.networks.heads import AllGoalsQ
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task


@hyperparameters
class Leo:
    """All-goals Q-learning on the stream of data of its own behaviour."""

    width: int = 1024  # units of each dense layer
    layers: int = 4  # dense layers
    conv_features: int = 32  # features of the convolution, in worlds that have a map
    normalise_inputs: bool = False  # by their running mean and deviation
    initial_value: float = 0.5  # of bounded values, before anything is learnt
    learning_rate: float = 2e-4
    learning_rate_decay: bool = True  # anneal the learning rate to 0 over the run
    gamma: float = 0.99  # discount
    epsilon_start: float = 0.2  # exploration at the beginning
    epsilon_end: float = 0.01  # exploration once decayed
    epsilon_decay: float = 0.2  # share of the run over which exploration decays
    epochs: int = 2  # passes over each rollout
    minibatch_size: int = 512  # transitions per gradient step
    goal_fraction: float = 1.0  # share of the heads that learn at each step (many-goals update)
    max_grad_norm: float = 1.0  # gradients are clipped to this global norm
    all_actions_in: Literal["float32", "bfloat16"] = "float32"  # rounding to bootstrap

    def init(self, task: Task, key: Key) -> Model:
        network = AllGoalsQ(
            task.encoder(self.conv_features, self.normalise_inputs), self.width, self.layers,
            task.num_actions, task.num_goals, task.goals.bounded, self.initial_value,
            self.all_actions_in,
        )  # fmt: skip
        obs, _ = example_inputs(task)
        return Model.create("leo", network, "radam", key, obs)

    def act(
        self, task: Task, model: Model, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        q, features = self.q_values(task, model, obs, goal)
        epsilon = linear(self.epsilon_start, self.epsilon_end, self.epsilon_decay, progress)
        return epsilon_greedy(key, q, epsilon if explore else 0.0), features

    def q_values(self, task: Task, model: Model, obs: Obs, goal: Array) -> tuple[Array, Array]:
        """The commanded goal's value of each action [N, A], and the features [N, H] it is from."""
        return model(obs, goal, method="acting")

    def value(self, task: Task, model: Model, obs: Obs, goal: Array) -> Array:
        return self.q_values(task, model, obs, goal)[0].max(axis=-1)

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        return {"minibatch_size": (transitions, self.minibatch_size)}

    def update(
        self, task: Task, model: Model, rollout: Rollout, key: Key, *, progress: Array
    ) -> tuple[Model, Metrics]:
        target = self.targets(model, rollout)  # [T, N, G]
        learning_rate = annealed(self.learning_rate, self.learning_rate_decay, progress)

        def learn(model: Model, rows: Array, key: Key) -> tuple[Model, Metrics]:
            t, n = jnp.unravel_index(rows, rollout.action.shape)
            obs, action = take_rows((rollout.obs, rollout.action), t, n)
            heads = choose_heads(key, task.num_goals, self.goal_fraction)
            return model.learn(
                lambda net: all_goals_loss(net, obs, action, target[t, n], heads),
                learning_rate, self.max_grad_norm,
            )  # fmt: skip

        return learn_in_minibatches(
            learn, model, key,
            rows=rollout.action.size, minibatch_size=self.minibatch_size, epochs=self.epochs,
        )  # fmt: skip

    def targets(self, model: Model, rollout: Rollout) -> Array:
        """R(s') + gamma max_a' Q(a' | s') for every goal. [T, N, G]"""
        next_features = next_values(
            rollout.extras, rollout.ended, rollout.truncated,
            lambda t, n: model(take_rows(rollout.next_obs, t, n), method="features"),
        )  # fmt: skip
        next_best = model(next_features, method="best")
        no_future = rollout.outcome.done | rollout.terminated[..., None]
        return one_step(rollout.outcome.reward, no_future, next_best, self.gamma)


def choose_heads(key: Key, num_goals: int, fraction: Array) -> Array:
    """Marks a random share of the goals, always of the same size and at least one. [G]"""
    chosen = jnp.arange(num_goals) < jnp.maximum(1, jnp.round(fraction * num_goals))
    return jax.random.permutation(key, chosen)


def all_goals_loss(
    net: Model, obs: Obs, action: Array, target: Array, heads: Array
) -> tuple[Array, Metrics]:
    """The squared error of Q(a | s) over a minibatch and the marked goals. target [B, G]"""
    q = net(obs, action, method="chosen")  # [B, G]
    error = jnp.where(heads, q - target, 0.0)
    loss = 0.5 * jnp.square(error).sum() / (len(action) * heads.sum())
    return loss, {"q": q.mean(), "target": target.mean()}
