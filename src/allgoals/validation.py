"""Checks an experiment before anything is compiled or written, and names all that is wrong."""

import dataclasses
import math
from collections.abc import Iterator
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from allgoals.algorithms import DualLeoSac, LeoSac, OffPolicy, Sac
from allgoals.algorithms.base import Algorithm
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Experiment, MazeGoalOptions
from allgoals.goals.maze import snap_warning
from allgoals.tasks import MAZES, TASKS, make_task
from allgoals.types import Box, Task

MOST_BONUS = 0.5  # of a goal's worth, that acting at random may be worth
POSITIVE = {
    "steps", "num_envs", "num_steps", "log_every", "checkpoint_every", "width", "layers",
    "embedding_layers", "epochs", "minibatch_size", "num_minibatches", "episodes", "max_steps",
    "last_episodes", "conv_features", "random_goals", "positive_goals", "subset", "repeats",
    "batch_size", "updates", "replay_size", "delay", "representation",
}  # fmt: skip
NOT_NEGATIVE = {
    "seed", "subset_seed", "times", "actor_layers", "critic_layers", "entropy_coefficient",
    "value_coefficient", "policy_cloning", "value_cloning", "warm_up", "goals_per_update",
    "exploration_noise", "target_noise", "noise_clip", "logsumexp_penalty",
}  # fmt: skip
ABOVE_ZERO = {
    "learning_rate", "max_grad_norm", "temperature", "clip", "temperature_learning_rate",
    "initial_temperature", "advantage_temperature",
}  # fmt: skip
SMALL = {"entropy_per_action"}
SHARES = {
    "gamma", "gae_lambda", "q_lambda", "epsilon_start", "epsilon_end", "alpha", "success_decay",
    "hindsight", "weight",
}  # fmt: skip
SHARES_ABOVE_ZERO = {"epsilon_decay", "goal_fraction", "tau"}
BETWEEN = {"initial_value", "expectile"}
LAYERS = {"layers", "embedding_layers", "actor_layers", "critic_layers"}
TYPES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}

RULES = [
    (POSITIVE, lambda v: v >= 1, "must be 1 or more"),
    (NOT_NEGATIVE, lambda v: 0 <= v < float("inf"), "must be 0 or more"),
    (ABOVE_ZERO, lambda v: 0 < v < float("inf"), "must be above 0"),
    (SHARES, lambda v: 0 <= v <= 1, "must lie in 0..1"),
    (SHARES_ABOVE_ZERO, lambda v: 0 < v <= 1, "must be above 0 and at most 1"),
    (SMALL, lambda v: -100 <= v <= 100, "must lie in -100..100"),
    (BETWEEN, lambda v: 0 < v < 1, "must lie between 0 and 1"),
    ({"width", "conv_features"}, lambda v: v <= 2**16, "must be 65536 or less"),
    (LAYERS, lambda v: v <= 2**8, "must be 256 or less"),
]


def build_task(experiment: Experiment) -> Task:
    """The task of an experiment, both checked."""
    check(experiment)
    options = experiment.goals
    maze = getattr(options, "maze", None)
    task = make_task(experiment.task, experiment.env, maze=maze)
    check_goals(experiment, task.goals.names)
    if options.subset is not None:
        chosen = (options.subset, options.include, options.subset_seed)
        task = make_task(experiment.task, experiment.env, *chosen, maze)
    check_divisions(experiment, task)
    return task


def surprises(experiment: Experiment, task: Task) -> list[str]:
    """What is allowed and may surprise all the same."""
    learners = _learners(experiment.algorithm)
    told = [_punishment(part, flag, task) for flag, part in learners.items()]
    told.append(_rewarded_falls(experiment))
    return missed_goals(experiment.algorithm, task) + list(filter(None, told))


def missed_goals(algorithm: Algorithm, task: Task) -> list[str]:
    """A grid may stand between an agent and its goals."""
    return [
        text
        for flag, part in _learners(algorithm).items()
        if isinstance(part, LeoSac) and not part.offset
        if (text := snap_warning(task.goals.space, f"{flag}offset"))
    ]


def _learners(algorithm: Algorithm) -> dict[str, Any]:
    """What learns from replay, by the flags of its fields."""
    agent = getattr(algorithm, "agent", None)
    if isinstance(agent, DualLeoSac):
        return {"--algorithm.agent.leo.": agent.leo, "--algorithm.agent.sac.": agent.sac}
    return {"--algorithm.agent.": agent}


def _punishment(part: Any, flag: str, task: Task) -> str:
    """Where reaching a goal ends its pursuit, it also ends the bonus for acting at random."""
    resamples = isinstance(part, Sac) or getattr(part, "policy_update", "") == "resample"
    if not resamples or not task.goals.bounded:
        return ""
    alpha, most = part.initial_temperature, task.env.actions.size * math.log(2)
    worth = alpha * most / max(1 - part.gamma, 1e-9)
    if worth <= MOST_BONUS:
        return ""
    return (
        f"reaching a goal is worth 1 and ends a bonus for acting at random that is worth up to"
        f" {worth:.2g}: success may be punished. Choose a {flag}initial-temperature below"
        f" {MOST_BONUS * alpha / worth:.1g}"
    )


def _rewarded_falls(experiment: Experiment) -> str:
    """Where no reward is above 0, nothing is better than an end."""
    maze = getattr(experiment.goals, "maze", None)
    if maze is None or maze.reward != "dense" or not experiment.env.falls:
        return ""
    return (
        "a dense reward is never above 0 and a fall ends it: an ant can learn to fall."
        " --goals.maze.reward sparse pays for reaching goals instead"
    )


def check(experiment: Experiment) -> None:
    """Everything that can be said without building the task."""
    check_fields(experiment)
    problems = [*_parts(experiment), *_sizes(experiment)]
    if problems:
        raise UsageError("\n".join(problems))


def check_fields(config: Any) -> None:
    """Each field of a record by itself: its type and its range."""
    problems = list(_fields(config, ""))
    if problems:
        raise UsageError("\n".join(problems))


def check_goals(experiment: Experiment, names: tuple[str, ...]) -> None:
    """What only the full list of goals can tell."""
    options = experiment.goals
    for i, name in enumerate(options.include):
        if name in options.include[:i]:
            raise UsageError(f"--goals.include names {name} twice")
        if name not in names:
            raise unknown(f"goal in --goals.include for task {experiment.task}:", name, names)
    if options.include and options.subset is None:
        raise UsageError("--goals.include needs --goals.subset: without it every goal is in")
    if options.subset is not None and options.subset > len(names):
        have = f"{experiment.task} has {len(names)} goals"
        raise UsageError(f"--goals.subset {options.subset}: {have}")
    if options.subset is not None and options.subset < len(options.include):
        raise UsageError(
            f"--goals.subset {options.subset} cannot hold the {len(options.include)} goals included"
        )


def check_divisions(experiment: Experiment, task: Task) -> None:
    """Minibatches must cut a rollout into equal parts."""
    problems = []
    divisions = experiment.algorithm.divisions(experiment.steps_per_update, task.num_goals)
    for field, (rows, divisor) in divisions.items():
        if rows % divisor:
            near = largest_divisor(rows, divisor)
            problems.append(
                f"--algorithm.{_flag(field)} {divisor} does not divide the {rows} rows of a rollout"
                f" ({experiment.num_envs} environments x {experiment.num_steps} steps);"
                f" {near} does"
            )
    if problems:
        raise UsageError("\n".join(problems))


def largest_divisor(number: int, at_most: int) -> int:
    return max(d for d in _divisors(number) if d <= at_most)


def _divisors(number: int) -> Iterator[int]:
    for low in range(1, math.isqrt(number) + 1):
        if number % low == 0:
            yield from (low, number // low)


def _fields(config: Any, prefix: str) -> Iterator[str]:
    """What is wrong with each field by itself."""
    for name, hint in get_type_hints(type(config)).items():
        value, flag = getattr(config, name), f"{prefix}{_flag(name)}"
        if not _has_type(value, hint):
            yield f"--{flag} {value!r}: {_expected(hint)}"
        elif dataclasses.is_dataclass(value):
            yield from _fields(value, flag + ".")
        else:
            yield from (f"--{flag} {rule}, not {value}" for rule in _broken_rules(name, value))


def _has_type(value: Any, hint: Any) -> bool:
    """Whether a value is of a field's type; a whole number will do for any number."""
    if isinstance(hint, TypeVar):
        return dataclasses.is_dataclass(value)
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return value in inner
    if kind in (Union, UnionType):
        return any(_has_type(value, option) for option in inner)
    if kind is tuple:
        return isinstance(value, tuple) and all(_has_type(v, inner[0]) for v in value)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"valid are {', '.join(get_args(hint))}"
    options = get_args(hint) or (hint,)
    return f"expected {TYPES.get(options[0], options[0])}"


def _broken_rules(name: str, value: Any) -> Iterator[str]:
    for names, holds, rule in RULES:
        if name in names and value is not None and not holds(value):
            yield rule
    bits = 63 if name == "steps" else 32 if name.endswith("seed") else 31
    if isinstance(value, int) and value >= 2**bits:
        yield f"must stay below 2^{bits}"


def _parts(experiment: Experiment) -> Iterator[str]:
    """What is wrong with the choice of task, environment and algorithm."""
    if experiment.task not in TASKS:
        raise unknown("task", experiment.task, TASKS)
    if not isinstance(experiment.env, TASKS[experiment.task][0]):
        yield f"{type(experiment.env).__name__} is not the environment of {experiment.task}"
    if not hasattr(experiment.algorithm, "update"):
        yield f"{type(experiment.algorithm).__name__} is not an algorithm"
    maze = isinstance(experiment.goals, MazeGoalOptions)
    if maze != (experiment.task in MAZES):
        yield f"{type(experiment.goals).__name__} are not the goal options of {experiment.task}"
    continuous = isinstance(TASKS[experiment.task][0].actions, Box)
    if isinstance(experiment.algorithm, OffPolicy) != continuous:
        kind = "continuous" if continuous else "discrete"
        yield f"{experiment.task} has {kind} actions, {experiment.name} chooses the other kind"


def _sizes(experiment: Experiment) -> Iterator[str]:
    if experiment.steps_per_update >= 2**31:
        yield "--num-envs times --num-steps must stay below 2^31"
    if experiment.total_updates >= 2**31:
        yield f"--steps {experiment.steps} needs {experiment.total_updates} updates, not under 2^31"
    if isinstance(experiment.algorithm, OffPolicy):
        yield from _replay(experiment)


def _replay(experiment: Experiment) -> Iterator[str]:
    """A replay holds whole rows of environments, at least a rollout, and enough to begin with."""
    size, warm_up = experiment.algorithm.replay_size, experiment.algorithm.warm_up
    envs, rollout = experiment.num_envs, experiment.steps_per_update
    if size < rollout:
        yield f"--algorithm.replay-size {size} cannot hold the {rollout} transitions of a rollout"
    elif size % envs:
        near = size // envs * envs
        yield f"--algorithm.replay-size {size} is no multiple of {envs} environments; {near} is"
    if warm_up > size:
        yield f"--algorithm.warm-up {warm_up} is more than --algorithm.replay-size {size} holds"


def _flag(name: str) -> str:
    return name.replace("_", "-")
