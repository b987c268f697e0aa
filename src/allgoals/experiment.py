"""An experiment: everything that decides a run, as data."""

import dataclasses
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

import tyro

from allgoals.algorithms import (
    Crl,
    DualLeoPpo,
    DualLeoPqn,
    DualLeoSac,
    Leo,
    LeoSac,
    OffPolicy,
    Ppo,
    Pqn,
    Sac,
    Td3,
)
from allgoals.envs.ant_maze import AntBigMaze, AntHardestMaze, AntUMaze
from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.point_maze import PointBigMaze, PointUMaze
from allgoals.errors import UsageError
from allgoals.goals.maze import MazeGoals

E = TypeVar("E")
A = TypeVar("A")
G = TypeVar("G", bound="GoalOptions")


def parse_count(text: str) -> int:
    """A whole number as people write it: 2e6, 200M, 1_000_000."""
    scale = {"k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}.get(text[-1:].lower(), 1)
    digits = text[:-1] if scale > 1 else text
    try:
        number = Decimal(digits) * scale
    except ArithmeticError:
        number = Decimal("nan")
    if number.is_finite() and number.adjusted() < 18 and number == int(number):
        return int(number)
    raise ValueError(f"{text!r} is not a whole number such as 2000000, 2e6, 1_000_000 or 200M")


_COUNT = tyro.constructors.PrimitiveConstructorSpec(
    nargs=1,
    metavar="COUNT",
    instance_from_str=lambda words: parse_count(words[0]),
    is_instance=lambda value: value is None or isinstance(value, int),
    str_from_instance=lambda value: [str(value)],
)
Count = Annotated[int, _COUNT]
MaybeCount = Annotated[int | None, _COUNT]


@dataclasses.dataclass(frozen=True)
class GoalOptions:
    sampler: Literal["seen_only", "uniform"] = "seen_only"  # which goals are commanded
    subset: MaybeCount = None  # train on this many goals, chosen at random
    include: tuple[str, ...] = ()  # names that the subset must hold
    subset_seed: Count = 0  # which random choice
    success_decay: float = 0.9  # weight of a goal's past in its live success rate


@dataclasses.dataclass(frozen=True)
class MazeGoalOptions(GoalOptions):
    sampler: Literal["seen_only", "uniform"] = "uniform"  # which goals are commanded
    frozen: bool = False  # every environment keeps the goal it began with, as in the benchmark
    maze: MazeGoals = MazeGoals()


@dataclasses.dataclass(frozen=True)
class EvaluationOptions:
    times: Count = 10  # evaluations spread over the run, the last at its end; 0 for none
    episodes: Count = 1  # episodes per goal
    last_episodes: MaybeCount = None  # of the last evaluation, if not as many
    max_steps: Count = 512  # steps per episode at most
    num_envs: Count = 256  # episodes run side by side


@dataclasses.dataclass(frozen=True)
class Experiment(Generic[E, A, G]):
    task: tyro.conf.Suppress[str]
    name: tyro.conf.Suppress[str]  # what the algorithm is called
    env: E
    algorithm: A
    steps: Count  # environment steps to train for, rounded up to whole updates
    num_envs: Count = 64  # environments run side by side
    num_steps: Count = 32  # steps of each environment per update
    seed: Count = 0
    goals: G = GoalOptions()
    evaluation: EvaluationOptions = EvaluationOptions()
    log_every: Count = 10  # updates per line of metrics
    checkpoint_every: Count = 100  # updates per checkpoint

    @property
    def steps_per_update(self) -> int:
        return self.num_envs * self.num_steps

    @property
    def total_updates(self) -> int:
        return -(-self.steps // self.steps_per_update)

    @property
    def total_steps(self) -> int:
        return self.total_updates * self.steps_per_update


CHOICES = (
    Gridworld, CraftaxClassic, Craftax,
    PointUMaze, PointBigMaze, AntUMaze, AntBigMaze, AntHardestMaze, MazeGoalOptions, MazeGoals,
    Ppo, Pqn, Leo, DualLeoPqn, DualLeoPpo,
    OffPolicy, Sac, Td3, Crl, LeoSac, DualLeoSac,
)  # fmt: skip
CLASSES = {cls.__name__: cls for cls in CHOICES}


NEWER = {"last_episodes": None, "all_actions_in": "float32"}  # what older runs lack: how it was


def to_dict(config: Any) -> Any:
    """JSON data; a class whose choice is part of the configuration is named."""
    if not dataclasses.is_dataclass(config):
        return list(config) if isinstance(config, tuple) else config
    fields = {f.name: to_dict(getattr(config, f.name)) for f in dataclasses.fields(config)}
    fields = {k: v for k, v in fields.items() if k not in NEWER or v != NEWER[k]}
    name = type(config).__name__
    return {"class": name, **fields} if name in CLASSES else fields


def from_dict(data: Any) -> Experiment:
    """The experiment that `to_dict` wrote. Reads names of known classes only, never code."""
    return _build(Experiment, data, "experiment")


NESTED = {"goals": GoalOptions, "evaluation": EvaluationOptions}


def _build(cls: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise UsageError(f"{where}: expected an object, found {type(data).__name__}")
    fields = {f.name for f in dataclasses.fields(cls)}
    given = {key: value for key, value in data.items() if key != "class"}
    if wrong := sorted((set(given) ^ fields) - (NEWER.keys() - set(given))):
        raise UsageError(f"{where}: unknown or missing fields: {', '.join(wrong)}")
    values = {}
    for name, value in given.items():
        inner = NESTED.get(name) if cls is Experiment else None
        if isinstance(value, dict):
            inner = CLASSES.get(str(value.get("class"))) if "class" in value else inner
            if inner is None:
                raise UsageError(f"{where}.{name}: unknown class {value.get('class')!r}")
            value = _build(inner, value, f"{where}.{name}")
        values[name] = tuple(value) if isinstance(value, list) else value
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:  # an environment refused its fields
        raise UsageError(f"{where}: {error}") from None
