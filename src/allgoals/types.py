"""The types every other module shares.

Axes: T steps, N environments, B batch, G goals, A actions, K relabelled goals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax

Array = jax.Array
Key = jax.Array
Obs = Any  # a pytree of small integers, which encoders widen, or of floats
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


class Discrete(NamedTuple):
    """Actions 0 to n - 1."""

    n: int

    def sample(self, key: Key, shape: tuple[int, ...]) -> Array:
        return jax.random.randint(key, shape, 0, self.n)


class Box(NamedTuple):
    """Actions of `size` numbers in -1..1."""

    size: int

    def sample(self, key: Key, shape: tuple[int, ...]) -> Array:
        return jax.random.uniform(key, (*shape, self.size), minval=-1.0, maxval=1.0)


class Environment(Protocol):
    """A single environment as pure functions. It knows no goals."""

    actions: Discrete | Box

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


class GoalSpace(NamedTuple):
    """A space of goals that are points, from which those of the set are taken."""

    project: Callable[[Obs], Array]  # the point an observation stands at: [...] -> [..., D]
    outcome: Callable[[Array, Array], GoalOutcome]
    """What standing at one point means to the goal at another: [..., D] twice -> [...]"""
    points: Any  # [M, D] the goals of the set
    grid: Any  # [G, D] goals that a network answers for in their stead
    grid_outcome: Callable[[Array, Array], GoalOutcome]  # what it means to a goal of the grid
    grid_reach: float  # how close one has to stand to reach a goal of the grid
    nearest: Any  # [M] which goal of the grid lies nearest to each of the set
    spread: tuple[float, ...]  # how far from its nearest any place lies at most, along each axis
    snap_error: float  # how far from its nearest a goal that may be commanded lies at most


class GoalSet(NamedTuple):
    """A finite set of goals, each decided from an observation alone."""

    names: tuple[str, ...]
    features: PyTree  # [G, ...] how a goal looks to a network that is told its goal
    outcome: Callable[[Obs], GoalOutcome]  # obs [...] -> reward and done [..., G]
    bounded: bool  # returns lie in [0, 1]: value heads end in a sigmoid
    reachable: Any  # [G] bool, or None where nobody can know
    ends: bool = True  # reaching a goal ends its pursuit; else it is pursued to the episode's end
    space: GoalSpace | None = None  # where the goals are taken from, if they are points


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
        return self.env.actions.n


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
