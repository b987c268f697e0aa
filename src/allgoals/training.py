"""The training loop as pure functions: no disk, no clock, no logging."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.stages import Compiled

from allgoals.algorithms.base import Algorithm
from allgoals.envs.vector import VectorEnv
from allgoals.goals.samplers import GoalSampler
from allgoals.rollout import Actor, collect, start
from allgoals.types import Array, Key, Metrics, PyTree, Rollout, Task


class TrainState(NamedTuple):
    """The whole run: saved and restored, bit for bit."""

    learner: PyTree
    actor: Actor
    key: Key
    update: Array  # updates done


@dataclass(frozen=True)
class Trainer:
    """Alternates collecting a rollout and learning from it."""

    task: Task
    algorithm: Algorithm
    sampler: GoalSampler
    num_envs: int
    num_steps: int
    total_updates: int
    success_decay: float
    frozen_goals: bool = False  # every environment keeps the goal it began with
    runs: int | None = None  # so many runs at once, along a leading axis of state and metrics

    @cached_property
    def envs(self) -> VectorEnv:
        return VectorEnv(self.task.env, self.num_envs)

    def init(self, key: Key) -> TrainState:
        """The beginning of a run or, given a key for each, of several.

        One after another: orthogonal matrices for several runs at once are made by threads that, on
        a processor with few, wait for each other for ever.
        """
        return self._init(key) if self.runs is None else jax.lax.map(self._init, key)

    def _init(self, key: Key) -> TrainState:
        key_learner, key_actor, key_run = jax.random.split(key, 3)
        learner = self.algorithm.init(self.task, key_learner)
        actor = start(self.task, self.envs, self.sampler, key_actor)
        return TrainState(learner, actor, key_run, jnp.int32(0))

    def collect(
        self, algorithm: Algorithm, state: TrainState, key: Key, progress: Array | float
    ) -> tuple[Actor, Rollout]:
        """A rollout of the current policy."""
        policy = partial(algorithm.act, self.task, state.learner, explore=True, progress=progress)
        return collect(
            self.task, self.envs, policy, self.sampler, self.success_decay,
            state.actor, key, self.num_steps, self.frozen_goals,
        )  # fmt: skip

    def step(
        self, algorithm: Algorithm, total_updates: Array, state: TrainState
    ) -> tuple[TrainState, Metrics]:
        """One rollout and one update."""
        key_act, key_learn = jax.random.split(jax.random.fold_in(state.key, state.update))
        progress = state.update / total_updates
        actor, rollout = self.collect(algorithm, state, key_act, progress)
        learner, metrics = algorithm.update(
            self.task, state.learner, rollout, key_learn, progress=progress
        )
        metrics = {**metrics, **goal_metrics(actor, state.actor)}
        return TrainState(learner, actor, state.key, state.update + 1), metrics

    @cached_property
    def program(self) -> Compiled:
        """`advance`, compiled; nothing is allocated yet."""

        def advance(algorithm, total_updates, state, updates):
            step = partial(self.step, algorithm, total_updates)
            step = step if self.runs is None else jax.vmap(step)

            def one(_, carry):
                state, sums = carry
                state, metrics = step(state)
                return state, jax.tree.map(jnp.add, sums, metrics)

            shapes = jax.eval_shape(step, state)[1]
            zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
            state, sums = jax.lax.fori_loop(0, updates, one, (state, zeros))
            return state, jax.tree.map(lambda x: x / updates, sums)

        jitted = jax.jit(advance, donate_argnames="state")
        return jitted.lower(self.algorithm, self.total_updates, self.shapes, 0).compile()

    @property
    def shapes(self) -> TrainState:
        """The form of a state, without making one."""
        key = jax.random.key(0)
        return jax.eval_shape(
            self.init, key if self.runs is None else jax.random.split(key, self.runs)
        )

    def advance(self, state: TrainState, updates: int) -> tuple[TrainState, Metrics]:
        """`updates` steps in one call and their mean metrics; consumes the state.

        The number is traced, so the same program, and the same bits, serve every length.
        """
        return self.program(self.algorithm, self.total_updates, state, updates)


def goal_metrics(actor: Actor, before: Actor) -> Metrics:
    tracker, pool = actor.tracker, actor.envs.pool
    tried = tracker.tried.sum()
    return {
        "goals/success": tracker.success_rate.sum() / jnp.maximum(tried, 1),
        "goals/tried": tried.astype(jnp.float32),
        "goals/seen": tracker.seen.sum(dtype=jnp.float32),
        "worlds/used": (pool.used - before.envs.pool.used).astype(jnp.float32),
    }
