"""What every algorithm is: a frozen record of hyperparameters with pure methods."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import (
    Any,
    NamedTuple,
    Protocol,
    TypeVar,
    dataclass_transform,
    runtime_checkable,
)

import jax
import jax.numpy as jnp

from allgoals.learning.bootstrap import next_values
from allgoals.learning.minibatch import take_rows
from allgoals.types import Array, Key, Metrics, Obs, PyTree, Rollout, Task


class Algorithm(Protocol):
    """Hyperparameters are its fields. `progress` runs from 0 to 1 over training."""

    def init(self, task: Task, key: Key) -> PyTree:
        """The learner: all that changes by learning, as one pytree."""

    def act(
        self, task: Task, learner: PyTree, obs: Obs, goal: Array, key: Key, *,
        explore: bool, progress: Array,
    ) -> tuple[Array, PyTree]:  # fmt: skip
        """Actions towards the commanded goals, and what `update` wants back from this step."""

    def update(
        self, task: Task, learner: PyTree, rollout: Rollout, key: Key, *, progress: Array
    ) -> tuple[PyTree, Metrics]:
        """Learn from a rollout."""

    def value(self, task: Task, learner: PyTree, obs: Obs, goal: Array) -> Array:
        """The learner's estimate of the return from each observation for each goal. [B]"""

    def divisions(self, transitions: int, num_goals: int) -> dict[str, tuple[int, int]]:
        """Which field must divide how many rows of a rollout: name -> (rows, divisor)."""


@runtime_checkable
class Dual(Protocol):
    """An algorithm that holds others, each of which can act on its own."""

    def parts(self, learner: PyTree) -> Mapping[str, tuple[Algorithm, PyTree]]: ...


@dataclass_transform(frozen_default=True)
def hyperparameters(cls: type) -> type:
    """A frozen dataclass whose floats, and the algorithms it holds, are traced by jit.

    So a sweep over them compiles once. Everything else is part of the program.
    """
    cls = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(cls)
    traced = [f.name for f in fields if f.type is float or _is_algorithm(f.type)]
    static = [f.name for f in fields if f.name not in traced]
    return jax.tree_util.register_dataclass(cls, traced, static)


def _is_algorithm(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) or isinstance(kind, TypeVar)


def example_inputs(task: Task) -> tuple[Obs, Any]:
    """One observation and one goal as networks see them, to build parameters from."""
    obs = jax.eval_shape(task.env.reset, jax.random.key(0)).obs
    zeros = jax.tree.map(lambda x: jnp.zeros((1, *x.shape), x.dtype), obs)
    return zeros, goal_features(task, jnp.zeros(1, jnp.int32))


def goal_features(task: Task, goal: Array) -> PyTree:
    """What a network that is told its goal is told. goal [...] -> [..., features]"""
    return jax.tree.map(lambda x: jnp.asarray(x)[goal], task.goals.features)


def pick(values: Array, index: Array) -> Array:
    """One entry of the last axis each. values [..., K], index [...] -> [...]"""
    return jnp.take_along_axis(values, index[..., None], axis=-1)[..., 0]


class CommandedRows(NamedTuple):
    """What targets for the commanded goal are made of. [T, N] each"""

    reward: Array
    terminated: Array  # no further value: the goal is reached, or the episode is over
    cut: Array  # the next row has another goal or another episode
    next_value: Array  # of the state arrived at, for this row's goal


def commanded_rows(
    rollout: Rollout, value: Array, evaluate: Callable[[Obs, Array], Array]
) -> CommandedRows:
    """From the `value` [T, N] that acting computed and `evaluate(obs [N], goal [N]) -> [N]`."""
    done = pick(rollout.outcome.done, rollout.goal)

    def of_rows(t: Array, n: Array) -> Array:
        return evaluate(*take_rows((rollout.next_obs, rollout.goal), t, n))

    return CommandedRows(
        reward=pick(rollout.outcome.reward, rollout.goal),
        terminated=done | rollout.terminated,
        cut=done | rollout.ended,
        next_value=next_values(value, rollout.ended, rollout.truncated & ~done, of_rows),
    )


def divisions_of_parts(
    parts: Mapping[str, Algorithm], transitions: int, num_goals: int
) -> dict[str, tuple[int, int]]:
    """The divisions that each part of a dual algorithm asks for."""
    return {
        f"{name}.{field}": division
        for name, part in parts.items()
        for field, division in part.divisions(transitions, num_goals).items()
    }
