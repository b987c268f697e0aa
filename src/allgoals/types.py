"""The types every other module shares.

Axes: T steps, N environments, B batch, G goals, A actions, K relabelled goals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax

Array = jax.Array
Key = jax.Array
Obs = Any  # a pytree of small integers; encoders widen it
PyTree = Any
Metrics = dict[str, Array]


class Reset(NamedTuple):
    """The beginning of an episode."""

    state: PyTree
    obs: Obs


class Step(NamedTuple):
    """What an environment answers to an action; it never resets by itself."""

    state: PyTree
    obs: Obs
    terminated: Array  # the episode is over and has no further value
    truncated: Array  # a time limit cut the episode: values still bootstrap


class Environment(Protocol):
    """A single environment as pure functions. It knows no goals."""

    num_actions: int

    def reset(self, key: Key) -> Reset: ...

    def step(self, state: PyTree, action: Array, key: Key) -> Step: ...


class Layer(NamedTuple):
    """One number of every cell of a map: a value among some, or a bit for each of some."""

    name: str
    size: int  # how many values, or bits
    bits: bool = False


class Entry(NamedTuple):
    """One number of a vector: a value among some, or a quantity."""

    name: str
    size: int  # how many values; 1 for a quantity
    scale: float = 1.0  # a quantity is divided by this


class GridLayout(NamedTuple):
    """What the numbers of a `GridObs` mean."""

    view: tuple[int, int]  # rows and columns, with the player in the middle
    layers: tuple[Layer, ...]
    entries: tuple[Entry, ...]

    @property
    def channels(self) -> int:
        """How wide a cell becomes."""
        return sum(layer.size for layer in self.layers)


class GridObs(NamedTuple):
    """What a player sees around it and knows of itself."""

    map: Array  # [rows, columns, layers] uint8
    vector: Array  # [entries] uint8


class GoalOutcome(NamedTuple):
    """What one observation means to every goal."""

    reward: Array  # [..., G]
    done: Array  # [..., G] the goal's own pseudo-termination


class GoalSet(NamedTuple):
    """A finite set of goals, each decided from an observation alone."""

    names: tuple[str, ...]
    features: PyTree  # [G, ...] how a goal looks to a network that is told its goal
    outcome: Callable[[Obs], GoalOutcome]  # obs [...] -> reward and done [..., G]
    bounded: bool  # returns lie in [0, 1]: value heads end in a sigmoid
    reachable: Any  # [G] bool, or None where nobody can know


class Task(NamedTuple):
    """An environment, the goals over it, and how a network sees both."""

    name: str
    env: Environment
    goals: GoalSet
    encoder: Callable[[int, bool], Any]
    """(features of a convolution, normalise?) -> module: (obs, goal features or None) -> [B, F]"""

    @property
    def num_goals(self) -> int:
        return len(self.goals.names)

    @property
    def num_actions(self) -> int:
        return self.env.num_actions


class Transition(NamedTuple):
    """One step of N environments; a rollout stacks T of them to [T, N, ...]."""

    obs: Obs
    action: Array
    goal: Array  # [N] index of the commanded goal
    next_obs: Obs  # before any reset, never the next episode's first observation
    outcome: GoalOutcome  # [N, G] of next_obs
    terminated: Array  # [N]
    truncated: Array  # [N]
    extras: PyTree  # what the algorithm's `act` wants back in `update`

    @property
    def ended(self) -> Array:
        return self.terminated | self.truncated


Rollout = Transition  # [T, N, ...]


class Policy(Protocol):
    """Acts towards the commanded goals."""

    def __call__(self, obs: Obs, goal: Array, key: Key) -> tuple[Array, PyTree]: ...
