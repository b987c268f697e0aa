"""Dual LEO (PPO): a PPO agent acts and clones a LEO teacher (paper, section "Dual LEO").

    L = L_PPO + c_pi CE(teacher(s, g), pi(s, g)) + c_v (V(s, g) - max_a Q_LEO(s, a, g))^2

The teacher is the greedy LEO policy, or the softmax of its values. LEO learns off-policy from the
same stream of data.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import divisions_of_parts, hyperparameters
from allgoals.algorithms.leo import Leo
from allgoals.algorithms.ppo import AuxiliaryLoss, Ppo
from allgoals.learning import distributions
from allgoals.learning.model import Model
from allgoals.learning.schedules import annealed
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task


class Learners(NamedTuple):
    leo: Model
    ppo: Model


class Extras(NamedTuple):
    leo: PyTree  # what LEO wants back
    ppo: PyTree  # what PPO wants back
    teacher: Array  # [N, A] LEO's values of the commanded goal


@hyperparameters
class DualLeoPpo:
    """LEO as a teacher for PPO, by cloning its policy and values."""

    policy_cloning: float = 0.1  # weight of the loss towards the LEO policy
    value_cloning: float = 0.0  # weight of the loss towards the LEO value
    anneal_cloning: bool = True  # let both weights fall to 0 over the run
    teacher: Literal["greedy", "softmax"] = "greedy"  # which LEO policy is cloned
    temperature: float = 0.05  # of the softmax teacher
    leo: Leo = Leo(gamma=0.995, epochs=1)
    ppo: Ppo = Ppo()

    def init(self, task: Task, key: Key) -> Learners:
        key_leo, key_ppo = jax.random.split(key)
        return Learners(self.leo.init(task, key_leo), self.ppo.init(task, key_ppo))

    def parts(self, learner: Learners) -> dict[str, tuple[Leo | Ppo, Model]]:
        return {"leo": (self.leo, learner.leo), "uvfa": (self.ppo, learner.ppo)}

    def act(
        self, task: Task, learner: Learners, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        action, ppo_extras = self.ppo.act(
            task, learner.ppo, obs, goal, key, explore=explore, progress=progress
        )
        teacher, leo_extras = self.leo.q_values(task, learner.leo, obs, goal)
        return action, Extras(leo_extras, ppo_extras, teacher)

    def value(self, task: Task, learner: Learners, obs: Obs, goal: Array) -> Array:
        return self.ppo.value(task, learner.ppo, obs, goal)

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        return divisions_of_parts({"leo": self.leo, "ppo": self.ppo}, transitions, num_goals)

    def update(
        self, task: Task, learner: Learners, rollout: Rollout, key: Key, *, progress: Array
    ) -> tuple[Learners, Metrics]:
        key_leo, key_ppo = jax.random.split(key)
        of_leo = rollout._replace(extras=rollout.extras.leo)
        of_ppo = rollout._replace(extras=rollout.extras.ppo)
        cloning = self.cloning_loss(rollout.extras.teacher, progress)
        leo, metrics = self.leo.update(task, learner.leo, of_leo, key_leo, progress=progress)
        ppo, more = self.ppo.update(
            task, learner.ppo, of_ppo, key_ppo, progress=progress, auxiliary_loss=cloning
        )
        return Learners(leo, ppo), {**metrics, **more}

    def cloning_loss(self, q: Array, progress: Array) -> AuxiliaryLoss:
        """Pulls policy and value towards the teacher's q [T, N, A]."""
        best = q.max(axis=-1)  # [T, N]
        if self.teacher == "greedy":
            policy = jax.nn.one_hot(q.argmax(axis=-1), q.shape[-1])
        else:
            policy = jax.nn.softmax(q / self.temperature)
        policy_weight = annealed(self.policy_cloning, self.anneal_cloning, progress)
        value_weight = annealed(self.value_cloning, self.anneal_cloning, progress)

        def loss(logits: Array, value: Array, t: Array, n: Array) -> tuple[Array, Metrics]:
            of_policy = distributions.cross_entropy(policy[t, n], logits).mean()
            of_value = jnp.square(value - best[t, n]).mean()
            metrics = {"policy_cloning_loss": of_policy, "value_cloning_loss": of_value}
            return policy_weight * of_policy + value_weight * of_value, metrics

        return loss
