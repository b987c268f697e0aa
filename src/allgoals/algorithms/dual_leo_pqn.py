"""Dual LEO (PQN): act on a mix of what both networks say (paper, section "Dual LEO").

    Q(s, a, g) = alpha Q_LEO(s, a, g) + (1 - alpha) Q_UVFA(s, a, g)

Each learns by itself from the same stream of data and bootstraps from its own estimates.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.base import divisions_of_parts, hyperparameters
from allgoals.algorithms.leo import Leo
from allgoals.algorithms.pqn import Pqn
from allgoals.learning.exploration import epsilon_greedy
from allgoals.learning.model import Model
from allgoals.learning.schedules import annealed, linear
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task


class Pair(NamedTuple):
    """Something of the LEO part and the same of the part that is told its goal."""

    leo: PyTree
    uvfa: PyTree


@hyperparameters
class DualLeoPqn:
    """LEO as a teacher for PQN, by mixing their values when acting."""

    acting: Literal["linear_combination", "max", "min"] = "linear_combination"  # how values mix
    alpha: float = 0.3  # weight of LEO in the linear combination
    anneal_alpha: bool = False  # let that weight fall to 0 over the run
    leo: Leo = Leo(gamma=0.995, epochs=1, minibatch_size=256)
    pqn: Pqn = Pqn()  # exploration is this part's

    def init(self, task: Task, key: Key) -> Pair:
        key_leo, key_pqn = jax.random.split(key)
        return Pair(self.leo.init(task, key_leo), self.pqn.init(task, key_pqn))

    def parts(self, learner: Pair) -> dict[str, tuple[Leo | Pqn, Model]]:
        return {"leo": (self.leo, learner.leo), "uvfa": (self.pqn, learner.uvfa)}

    def act(
        self, task: Task, learner: Pair, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        q, extras = self.q_values(task, learner, obs, goal, progress)
        pqn = self.pqn
        epsilon = linear(pqn.epsilon_start, pqn.epsilon_end, pqn.epsilon_decay, progress)
        return epsilon_greedy(key, q, epsilon if explore else 0.0), extras

    def q_values(
        self, task: Task, learner: Pair, obs: Obs, goal: Array, progress: Array
    ) -> tuple[Array, Pair]:
        """The mixed value of each action [N, A], and what each part wants back."""
        leo, leo_extras = self.leo.q_values(task, learner.leo, obs, goal)
        uvfa, uvfa_extras = self.pqn.q_values(task, learner.uvfa, obs, goal)
        return self.mix(leo, uvfa, progress), Pair(leo_extras, uvfa_extras)

    def mix(self, leo: Array, uvfa: Array, progress: Array) -> Array:
        if self.acting == "max":
            return jnp.maximum(leo, uvfa)
        if self.acting == "min":
            return jnp.minimum(leo, uvfa)
        alpha = annealed(self.alpha, self.anneal_alpha, progress)
        return alpha * leo + (1 - alpha) * uvfa

    def value(self, task: Task, learner: Pair, obs: Obs, goal: Array) -> Array:
        return self.q_values(task, learner, obs, goal, jnp.ones(()))[0].max(axis=-1)

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        return divisions_of_parts({"leo": self.leo, "pqn": self.pqn}, transitions, num_goals)

    def update(
        self, task: Task, learner: Pair, rollout: Rollout, key: Key, *, progress: Array
    ) -> tuple[Pair, Metrics]:
        key_leo, key_pqn = jax.random.split(key)
        of_leo = rollout._replace(extras=rollout.extras.leo)
        of_pqn = rollout._replace(extras=rollout.extras.uvfa)
        leo, metrics = self.leo.update(task, learner.leo, of_leo, key_leo, progress=progress)
        uvfa, more = self.pqn.update(task, learner.uvfa, of_pqn, key_pqn, progress=progress)
        return Pair(leo, uvfa), {**metrics, **more}
