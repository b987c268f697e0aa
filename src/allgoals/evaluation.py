"""Success of every goal: command it, act, and see whether the first episode reaches it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.envs.vector import VectorEnv
from allgoals.types import Array, Key, Reset, Task


@dataclass(frozen=True)
class Evaluator:
    """Runs goals x episodes in batches of equal shape, so one compilation serves any number.

    `act(agent, obs, goal, key) -> action`; the agent is an argument, not a constant.
    """

    task: Task
    act: Callable
    num_envs: int
    max_steps: int

    @cached_property
    def envs(self) -> VectorEnv:
        return VectorEnv(self.task.env, self.num_envs)

    @cached_property
    def _jitted(self) -> Callable:
        return jax.jit(self.reach)

    def reach(self, agent, goal: Array, key: Key) -> tuple[Array, Array]:
        """Whether, and after how many steps, each environment reached its goal. [N] and [N]"""
        key_envs, key_steps = jax.random.split(key)

        def running(carry) -> Array:
            t, _, active, *_ = carry
            return (t < self.max_steps) & active.any()

        def step(carry):
            t, now, active, success, steps = carry
            key_act, key_env = jax.random.split(jax.random.fold_in(key_steps, t))
            action = self.act(agent, now.obs, goal, key_act)
            after = self.envs.advance(now.state, action, key_env)  # what is over stays over
            done = self.task.goals.outcome(after.obs).done  # [N, G]
            reached = active & jnp.take_along_axis(done, goal[:, None], axis=1)[:, 0]
            active_after = active & ~(reached | after.terminated | after.truncated)
            now = Reset(after.state, after.obs)
            return t + 1, now, active_after, success | reached, steps + active

        nobody = jnp.zeros(self.num_envs, bool)
        begin = Reset(*self.envs.init(key_envs)[:2])
        first = (jnp.int32(0), begin, ~nobody, nobody, nobody.astype(jnp.int32))
        _, _, _, success, steps = jax.lax.while_loop(running, step, first)
        return success, steps

    def batches(self, agent, episodes: int, key: Key) -> Iterator[tuple[np.ndarray, ...]]:
        """Yields (goal, success, steps) of one batch after another, until every goal is done."""
        goals = np.repeat(np.arange(self.task.num_goals), episodes)
        for i in range(0, len(goals), self.num_envs):
            batch = goals[i : i + self.num_envs]
            padded = np.resize(batch, self.num_envs)  # the last batch repeats itself to be full
            success, steps = self._jitted(agent, padded, jax.random.fold_in(key, i))
            yield batch, np.asarray(success)[: len(batch)], np.asarray(steps)[: len(batch)]

    def __call__(
        self, agent, episodes: int, key: Key, on_batch: Callable[[int], None] = lambda n: None
    ) -> "Evaluation":
        goals, successes, steps = [], [], []
        for batch in self.batches(agent, episodes, key):
            for column, part in zip((goals, successes, steps), batch, strict=True):
                column.append(part)
            on_batch(len(batch[0]))
        shape = (self.task.num_goals, episodes)
        return Evaluation(
            np.concatenate(successes).reshape(shape), np.concatenate(steps).reshape(shape)
        )


@dataclass(frozen=True)
class Evaluation:
    """Every goal, every episode."""

    success: np.ndarray  # [G, episodes] bool
    steps: np.ndarray  # [G, episodes] steps taken until success or the end

    @property
    def rate(self) -> np.ndarray:  # [G]
        return self.success.mean(axis=1)
