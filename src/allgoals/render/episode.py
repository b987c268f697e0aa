"""One episode towards one goal, kept step by step so that it can be drawn."""

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import jax
import numpy as np

from allgoals.runs.agent import Agent, as_learnt
from allgoals.types import Array, Key, Obs, PyTree, Step, Task


class Episode(NamedTuple):
    """What happened between the beginning and the goal, or the end; nothing is left on a device."""

    goal: str
    states: list[PyTree]  # the first, and the one after each action
    observations: list[Obs]  # likewise
    actions: list[int] | list[list[float]]  # one number each, or a vector
    success_step: int | None  # after how many actions the goal was reached


def play_episode(agent: Agent, goal: str, max_steps: int, key: Key) -> Episode:
    """An episode until the goal is reached, the episode is over or `max_steps` have passed.

    As in evaluation, only what an action leads to can reach the goal, not the first observation.
    """
    index = agent.goal_index(goal)
    task = agent.task
    reset, step = _programs.setdefault(agent, (jax.jit(task.env.reset), jax.jit(_step(task))))
    key_reset, key_steps = jax.random.split(key)
    now = jax.device_get(reset(key_reset))
    episode = Episode(goal, [now.state], [now.obs], [], None)
    for t in range(max_steps):
        key_step = jax.random.fold_in(key_steps, t)
        action, now, reached = jax.device_get(
            step(agent.mind, now.state, now.obs, np.int32(index), key_step)
        )
        episode.states.append(now.state)
        episode.observations.append(now.obs)
        episode.actions.append(action.tolist())
        if reached:
            return episode._replace(success_step=t + 1)
        if now.terminated or now.truncated:
            break
    return episode


_programs: WeakKeyDictionary[Agent, tuple[Callable, Callable]] = WeakKeyDictionary()  # per agent


def _step(task: Task) -> Callable:
    """Act, step and judge the goal, for a single environment."""
    act = as_learnt(task)

    def step(
        mind: tuple, state: PyTree, obs: Obs, goal: Array, key: Key
    ) -> tuple[Array, Step, Array]:
        key_act, key_env = jax.random.split(key)
        batch = jax.tree.map(lambda x: x[None], obs)
        action = act(mind, batch, goal[None], key_act)[0]
        after = task.env.step(state, action, key_env)
        return action, after, task.goals.outcome(after.obs).done[goal]

    return step
