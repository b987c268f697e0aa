"""LEO for SAC: critics and policy answer for every goal (paper, "LEO for Continuous Control").

    L_Q  = 1/2 (R(s') + gamma (min Q'(s', pi(s')) - alpha log pi) - Q(s, a))^2
    L_pi = alpha log pi - min Q(s, pi(s))                     with a row of G entries for each term

Goals are the points of a grid; a commanded one is pursued by way of the nearest. Three fields trade
exactness for speed: `goals_per_update`, `late_action`, and `policy_update="advantage"`, by which
nothing is resampled:

    L_V  = expectile of Q(s, a) - V(s),    L_Q = (R(s') + gamma V(s') - Q(s, a))^2
    L_pi = -exp(A / temperature) log pi(a | s)           A = Q(s, a) - V(s), normalised per goal

With `offset` the networks are told how far the goal lies from the grid's, the same shift for all
goals of a row, so that they answer for every point and not for the grid's alone.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.all_goals import (
    AllGoalsBatch,
    through_all,
    through_commanded,
    with_offset,
)
from allgoals.algorithms.base import example_inputs, hyperparameters, pick
from allgoals.algorithms.off_policy import Memory, slowly
from allgoals.algorithms.sac import critic_loss, learn_temperature, policy_loss
from allgoals.learning import squashed
from allgoals.learning.advantage import expectile_loss, weighted_loss, weights
from allgoals.learning.model import Model
from allgoals.learning.per_goal import smaller_q
from allgoals.learning.targets import limited
from allgoals.networks.control import AllGoalsCritics, AllGoalsPolicy, AllGoalsValue, Temperature
from allgoals.networks.encoders import OffsetEncoder
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Task


class LeoSacLearner(NamedTuple):
    policy: Model
    critics: Model
    target: PyTree  # parameters of what targets are made of, following slowly
    temperature: Model  # alpha
    value: Model | tuple  # V, for `policy_update="advantage"`


@hyperparameters
class LeoSac:
    """What LEO for SAC learns."""

    width: int = 256  # units of each dense layer
    layers: int = 2  # dense layers
    learning_rate: float = 1e-4  # of policy and critics
    temperature_learning_rate: float = 3e-4
    initial_temperature: float = 1.0  # alpha at the beginning
    entropy_per_action: float = -0.5  # target entropy, times the numbers of an action
    gamma: float = 0.9  # discount
    tau: float = 0.005  # how fast the target follows
    goals_per_update: int = 0  # goals drawn for each gradient step; 0 for all
    late_action: bool = False  # the action enters the critics' last layer, not the first
    policy_update: Literal["resample", "advantage"] = "resample"  # or reuse the action taken
    advantage_temperature: float = 0.3  # for "advantage": how sharply better actions count
    expectile: float = 0.7  # for "advantage": V lies this high among the values of actions
    offset: bool = False  # networks are told how far a goal lies from the grid's
    batch_size: int = 256  # transitions per gradient step
    max_grad_norm: float = 1e6  # gradients are clipped to this global norm

    def init(self, task: Task, key: Key) -> LeoSacLearner:
        keys = jax.random.split(key, 4)
        size, grid = task.env.actions.size, task.goals.space.grid
        seen = with_offset(example_inputs(task)[0], jnp.zeros((1, grid.shape[1])), self.offset)
        encoder = task.encoder(0, False)
        encoder = OffsetEncoder(encoder, task.goals.space.spread) if self.offset else encoder
        body = (encoder, self.width, self.layers)
        features = jax.eval_shape(lambda seen: encoder.apply({}, seen), seen)
        sizes = (sum(part.shape[-1] for part in features), size)
        critics = AllGoalsCritics(*body, len(grid), sizes, self.late_action)
        critics = Model.create("critics", critics, "adam_fine", keys[1], seen, jnp.zeros((1, size)))
        policy = AllGoalsPolicy(*body, size, len(grid))
        value = ()
        if self.policy_update == "advantage":
            value = Model.create(
                "value", AllGoalsValue(*body, len(grid)), "adam_fine", keys[3], seen
            )
        return LeoSacLearner(
            Model.create("policy", policy, "adam_fine", keys[0], seen, jnp.arange(1)),
            critics,
            jax.tree.map(jnp.copy, (value or critics).params),
            Model.create("alpha", Temperature(self.initial_temperature), "adam_fine", keys[2]),
            value,
        )

    def act(
        self, task: Task, learner: LeoSacLearner, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        del progress
        seen, head = through_commanded(task, obs, goal, self.offset)
        return squashed.act(key, *learner.policy(seen, head, method="commanded"), explore), ()

    def value(self, task: Task, learner: LeoSacLearner, obs: Obs, goal: Array) -> Array:
        seen, head = through_commanded(task, obs, goal, self.offset)
        action = jnp.tanh(learner.policy(seen, head, method="commanded")[0])
        return pick(learner.critics(seen, action).min(axis=0), head)

    def step(
        self, task: Task, learner: LeoSacLearner, memory: Memory, key: Key
    ) -> tuple[LeoSacLearner, Metrics]:
        """One gradient step of everything, on rows drawn from the replay."""
        key_rows, key_goals, key_step = jax.random.split(key, 3)
        steps = memory.replay.take(*memory.replay.sample(key_rows, self.batch_size))
        batch = through_all(task, steps, key_goals, self.goals_per_update, self.offset)
        if self.policy_update == "advantage":
            return self.advantage_step(task, learner, batch)
        return self.resampling_step(task, learner, batch, key_step)

    def resampling_step(
        self, task: Task, learner: LeoSacLearner, batch: AllGoalsBatch, key: Key
    ) -> tuple[LeoSacLearner, Metrics]:
        """One gradient step of critics, policy and temperature; each goal has its own actions."""
        key_next, key_now = jax.random.split(key)
        alpha = learner.temperature()
        target = self.soft_targets(task, learner, batch, alpha, key_next)
        critics, of_critics = self._learn_critics(learner, batch, target)

        def worth(action: Array) -> Array:  # [B, K, A] -> [B, K]
            return smaller_q(learner.critics, batch.seen, action, batch.heads)

        policy, of_policy = learner.policy.learn(
            lambda net: policy_loss(net(batch.seen, batch.heads), worth, alpha, key_now),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        surplus = of_policy["policy/entropy"] - self.entropy_per_action * task.env.actions.size
        temperature, of_alpha = learn_temperature(
            learner.temperature, surplus, self.temperature_learning_rate
        )
        learner = learner._replace(
            policy=policy, critics=critics, temperature=temperature,
            target=slowly(learner.target, critics.params, self.tau),
        )  # fmt: skip
        return learner, {**of_critics, **of_policy, **of_alpha}

    def soft_targets(
        self, task: Task, learner: LeoSacLearner, batch: AllGoalsBatch, alpha: Array, key: Key
    ) -> Array:
        """R(s') + gamma (min Q'(s', pi(s')) - alpha log pi). [B, K]"""
        slow = learner.critics.replace(params=learner.target)
        action, log_pi = squashed.sample(key, *learner.policy(batch.next_seen, batch.heads))
        q = limited(smaller_q(slow, batch.next_seen, action, batch.heads), task.goals.bounded)
        return batch.reward + self.gamma * ~batch.no_future * (q - alpha * log_pi)

    def advantage_step(
        self, task: Task, learner: LeoSacLearner, batch: AllGoalsBatch
    ) -> tuple[LeoSacLearner, Metrics]:
        """One gradient step of critics, V and policy from the action that was taken."""
        slow = learner.value.replace(params=learner.target)
        next_value = limited(slow(batch.next_seen)[:, batch.heads], task.goals.bounded)
        target = batch.reward + self.gamma * ~batch.no_future * next_value
        critics, of_critics = self._learn_critics(learner, batch, target)
        q = learner.critics(batch.seen, batch.action).min(axis=0)[:, batch.heads]  # [B, K]
        value, of_value = learner.value.learn(
            lambda net: expectile_loss(q - net(batch.seen)[:, batch.heads], self.expectile),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        advantage = q - learner.value(batch.seen)[:, batch.heads]
        weight = weights(advantage, self.advantage_temperature)
        policy, of_policy = learner.policy.learn(
            lambda net: weighted_loss(net(batch.seen, batch.heads), batch.action, weight),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
        learner = learner._replace(
            policy=policy, critics=critics, value=value,
            target=slowly(learner.target, value.params, self.tau),
        )  # fmt: skip
        return learner, {**of_critics, **of_value, **of_policy}

    def _learn_critics(
        self, learner: LeoSacLearner, batch: AllGoalsBatch, target: Array
    ) -> tuple[Model, Metrics]:
        return learner.critics.learn(
            lambda net: critic_loss(net(batch.seen, batch.action)[..., batch.heads], target),
            self.learning_rate, self.max_grad_norm,
        )  # fmt: skip
