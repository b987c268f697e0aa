"""Collecting experience: act, step, judge every goal, command the next one."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.envs.vector import VectorEnv, VectorState
from allgoals.goals.samplers import GoalSampler, GoalTracker
from allgoals.types import Array, Key, Policy, Rollout, Task, Transition


class Actor(NamedTuple):
    """N environments on their way to their commanded goals."""

    envs: VectorState
    goal: Array  # [N]
    on_first: Array  # [N] the commanded goal is still the episode's first, the only one scored
    tracker: GoalTracker


def start(task: Task, envs: VectorEnv, sampler: GoalSampler, key: Key) -> Actor:
    key_envs, key_goal = jax.random.split(key)
    state = envs.init(key_envs)
    tracker = GoalTracker.create(task.num_goals).observe(task.goals.outcome(state.obs).done)
    goal = sampler(key_goal, tracker, envs.num_envs)
    return Actor(state, goal, jnp.ones(envs.num_envs, bool), tracker)


def collect(
    task: Task,
    envs: VectorEnv,
    policy: Policy,
    sampler: GoalSampler,
    success_decay: float,
    actor: Actor,
    key: Key,
    num_steps: int,
    frozen: bool = False,
) -> tuple[Actor, Rollout]:
    """Run every environment for `num_steps`, each with its first goal if `frozen`. [T, N, ...]"""

    def step(actor: Actor, key: Key) -> tuple[Actor, Transition]:
        key_act, key_env, key_goal = jax.random.split(key, 3)
        action, extras = policy(actor.envs.obs, actor.goal, key_act)
        state, after = envs.step(actor.envs, action, key_env)
        outcome = task.goals.outcome(after.obs)  # of the true last observation, [N, G]
        achieved = jnp.take_along_axis(outcome.done, actor.goal[:, None], axis=1)[:, 0]
        ended = after.terminated | after.truncated

        tracker = actor.tracker.observe(outcome.done).score(
            actor.goal,
            success=actor.on_first & achieved,
            failure=actor.on_first & ended & ~achieved,
            decay=success_decay,
        )
        new_goal = sampler(key_goal, tracker, envs.num_envs)
        transition = Transition(
            actor.envs.obs, action, actor.goal, after.obs, outcome,
            after.terminated, after.truncated, extras,
        )  # fmt: skip
        over = ((achieved & task.goals.ends) | ended) & (not frozen)
        goal = jnp.where(over, new_goal, actor.goal)
        on_first = ended | (actor.on_first & ~achieved)
        return Actor(state, goal, on_first, tracker), transition

    return jax.lax.scan(step, actor, jax.random.split(key, num_steps))
