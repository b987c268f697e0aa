"""Dual LEO (SAC): a policy told its goal that seeks a mix of what both kinds of critics say.

    L_pi = alpha log pi(a | s, g) - (w Q_LEO(s, a)_g + (1 - w) Q_UVFA(s, a, g))

LEO's critics learn about every goal from every transition, with its own all-goals policy; the
critics that are told their goal learn as in SAC. Both learn from one replay.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.algorithms.all_goals import with_offset
from allgoals.algorithms.base import hyperparameters, pick
from allgoals.algorithms.leo_sac import LeoSac, LeoSacLearner
from allgoals.algorithms.off_policy import Batch, Memory, OffPolicyAgent
from allgoals.algorithms.sac import Sac, SacLearner
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Task


class DualSacLearner(NamedTuple):
    leo: LeoSacLearner
    uvfa: SacLearner


@hyperparameters
class DualLeoSac:
    """What Dual LEO (SAC) learns."""

    weight: float = 0.3  # of LEO's critics in the mix
    leo: LeoSac = LeoSac()
    sac: Sac = Sac()

    def init(self, task: Task, key: Key) -> DualSacLearner:
        key_leo, key_sac = jax.random.split(key)
        return DualSacLearner(self.leo.init(task, key_leo), self.sac.init(task, key_sac))

    def parts(self, learner: DualSacLearner) -> dict[str, tuple[OffPolicyAgent, PyTree]]:
        return {"leo": (self.leo, learner.leo)}  # the other part is what acts

    def act(
        self, task: Task, learner: DualSacLearner, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        return self.sac.act(task, learner.uvfa, obs, goal, key, explore=explore, progress=progress)

    def value(self, task: Task, learner: DualSacLearner, obs: Obs, goal: Array) -> Array:
        return self.sac.value(task, learner.uvfa, obs, goal)

    def step(
        self, task: Task, learner: DualSacLearner, memory: Memory, key: Key
    ) -> tuple[DualSacLearner, Metrics]:
        """One gradient step of both parts."""
        key_leo, key_batch, key_sac = jax.random.split(key, 3)
        batch = self.sac.draw(task, memory, key_batch)
        judge = partial(self.worth, task, learner, batch)
        leo, of_leo = self.leo.step(task, learner.leo, memory, key_leo)
        uvfa, of_uvfa = self.sac.learn(task, learner.uvfa, batch, key_sac, judge)
        return DualSacLearner(leo, uvfa), {f"leo/{k}": v for k, v in of_leo.items()} | of_uvfa

    def worth(self, task: Task, learner: DualSacLearner, batch: Batch, action: Array) -> Array:
        """The mix of both kinds of critics. [B]"""
        grid = jnp.asarray(task.goals.space.grid)
        away = batch.goal[:, None] - grid  # [B, G, D]
        head = jnp.square(away).sum(axis=-1).argmin(axis=1)
        offset = jnp.take_along_axis(away, head[:, None, None], axis=1)[:, 0]
        seen = with_offset(batch.obs, offset, self.leo.offset)
        q_leo = learner.leo.critics(seen, action).min(axis=0)
        q_uvfa = self.sac.worth(learner.uvfa, batch, action)
        return self.weight * pick(q_leo, head) + (1 - self.weight) * q_uvfa
