"""PQN: Q-learning without a target network, told its goal (UVFA), with hindsight relabelling.

    L(g) = 1/2 (R(s', g) + gamma max_a' Q(a' | s', g) - Q(a | s, g))^2

g is the commanded goal and, as `relabel` says, others: random ones, achieved ones, both, or all
(naive all-goals relabelling, what LEO does in one pass). Only the commanded goal, which chose the
actions, may use Q(lambda).
"""

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import (
    commanded_rows,
    example_inputs,
    goal_features,
    hyperparameters,
    pick,
)
from allgoals.goals.relabel import relabel
from allgoals.learning.exploration import epsilon_greedy
from allgoals.learning.minibatch import learn_in_minibatches, take_rows
from allgoals.learning.model import Model
from allgoals.learning.schedules import annealed, linear
from allgoals.learning.targets import lambda_returns, one_step
from allgoals.networks.heads import GoalConditionedQ
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task


@hyperparameters
class Pqn:
    """Q-learning for the commanded goal and, in hindsight, for others."""

    width: int = 1024  # units of each dense layer
    layers: int = 4  # dense layers
    conv_features: int = 16  # features of the convolution, in worlds that have a map
    normalise_inputs: bool = False  # by their running mean and deviation
    initial_value: float = 0.5  # of bounded values, before anything is learnt
    learning_rate: float = 2e-4
    learning_rate_decay: bool = True  # anneal the learning rate to 0 over the run
    gamma: float = 0.995  # discount
    q_lambda: float = 0.0  # mix of longer returns into the commanded goal's own rows
    epsilon_start: float = 0.2  # exploration at the beginning
    epsilon_end: float = 0.01  # exploration once decayed
    epsilon_decay: float = 0.5  # share of the run over which exploration decays
    epochs: int = 1  # passes over each rollout
    minibatch_size: int = 256  # rows (a transition seen through one goal) per gradient step
    relabel: Literal["none", "random", "positive", "mixed", "all"] = "none"  # hindsight goals
    random_goals: int = 1  # random goals per transition, for "random" and "mixed"
    positive_goals: int = 1  # achieved goals per transition, for "positive" and "mixed"
    relabel_level: Literal["transition", "trajectory"] = "trajectory"  # who shares its goals
    max_grad_norm: float = 1.0  # gradients are clipped to this global norm

    def init(self, task: Task, key: Key) -> Model:
        network = GoalConditionedQ(
            task.encoder(self.conv_features, self.normalise_inputs), self.width, self.layers,
            task.num_actions, task.goals.bounded, self.initial_value,
        )  # fmt: skip
        return Model.create("pqn", network, "radam", key, *example_inputs(task))

    def act(
        self, task: Task, model: Model, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        q, best = self.q_values(task, model, obs, goal)
        epsilon = linear(self.epsilon_start, self.epsilon_end, self.epsilon_decay, progress)
        return epsilon_greedy(key, q, epsilon if explore else 0.0), best

    def q_values(self, task: Task, model: Model, obs: Obs, goal: Array) -> tuple[Array, Array]:
        """The goal's value of each action [N, A] and the best of them [N]."""
        q = model(obs, goal_features(task, goal))
        return q, q.max(axis=-1)

    def value(self, task: Task, model: Model, obs: Obs, goal: Array) -> Array:
        return self.q_values(task, model, obs, goal)[1]

    @property
    def _hindsight(self) -> tuple[int, int]:
        """Random and achieved goals per transition."""
        return (
            self.random_goals if self.relabel in ("random", "mixed") else 0,
            self.positive_goals if self.relabel in ("positive", "mixed") else 0,
        )

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        rows = transitions * (num_goals if self.relabel == "all" else 1 + sum(self._hindsight))
        return {"minibatch_size": (rows, self.minibatch_size)}

    def update(
        self, task: Task, model: Model, rollout: Rollout, key: Key, *, progress: Array
    ) -> tuple[Model, Metrics]:
        key_goals, key_steps = jax.random.split(key)
        goal, target = self.goals_and_targets(task, model, rollout, key_goals)  # [T, N, K]
        learning_rate = annealed(self.learning_rate, self.learning_rate_decay, progress)

        def learn(model: Model, rows: Array, key: Key) -> tuple[Model, Metrics]:
            del key
            t, n, k = jnp.unravel_index(rows, goal.shape)
            obs, action = take_rows((rollout.obs, rollout.action), t, n)
            features = goal_features(task, goal[t, n, k])
            return model.learn(
                lambda net: one_goal_loss(net, obs, features, action, target[t, n, k]),
                learning_rate, self.max_grad_norm,
            )  # fmt: skip

        return learn_in_minibatches(
            learn, model, key_steps,
            rows=goal.size, minibatch_size=self.minibatch_size, epochs=self.epochs,
        )  # fmt: skip

    def goals_and_targets(
        self, task: Task, model: Model, rollout: Rollout, key: Key
    ) -> tuple[Array, Array]:
        """The goals each transition teaches, and what it teaches about each. [T, N, K] twice"""
        if self.relabel == "all":
            every = jnp.arange(task.num_goals)
            goal = jnp.broadcast_to(every, (*rollout.action.shape, task.num_goals))
            return goal, self.hindsight_targets(task, model, rollout, goal)
        goal = rollout.goal[..., None]
        target = self.commanded_targets(task, model, rollout)[..., None]
        if self.relabel == "none":
            return goal, target
        others = relabel(key, rollout, *self._hindsight, self.relabel_level)
        hindsight = self.hindsight_targets(task, model, rollout, others)
        return jnp.concatenate([goal, others], -1), jnp.concatenate([target, hindsight], -1)

    def commanded_targets(self, task: Task, model: Model, rollout: Rollout) -> Array:
        """Q(lambda) targets of the commanded goal. [T, N]"""
        evaluate = partial(self.value, task, model)
        rows = commanded_rows(rollout, rollout.extras, evaluate)
        return lambda_returns(*rows, self.gamma, self.q_lambda)

    def hindsight_targets(self, task: Task, model: Model, rollout: Rollout, goal: Array) -> Array:
        """One-step targets of other goals, evaluated N rows at a time. [T, N, K]"""
        steps, envs, relabels = goal.shape

        def evaluate(row: Array) -> Array:
            t, k = jnp.unravel_index(row, (steps, relabels))
            return self.value(task, model, take_rows(rollout.next_obs, t), goal[t, :, k])  # [N]

        next_best = jax.lax.map(evaluate, jnp.arange(steps * relabels))
        next_best = next_best.reshape(steps, relabels, envs).swapaxes(1, 2)
        reward = jnp.take_along_axis(rollout.outcome.reward, goal, axis=-1)
        done = jnp.take_along_axis(rollout.outcome.done, goal, axis=-1)
        return one_step(reward, done | rollout.terminated[..., None], next_best, self.gamma)


def one_goal_loss(
    net: Model, obs: Obs, goal: PyTree, action: Array, target: Array
) -> tuple[Array, Metrics]:
    """The squared error of Q(a | s, g) over a minibatch. target [B]"""
    q = pick(net(obs, goal), action)  # [B]
    loss = 0.5 * jnp.square(q - target).mean()
    return loss, {"q": q.mean(), "target": target.mean()}
