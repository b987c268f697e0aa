"""What the runs say: seeds of one configuration together, and the numbers behind every picture."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from allgoals.errors import UsageError
from allgoals.report.load import Evaluation, Goals, Run
from allgoals.report.scores import same_goals, summary
from allgoals.report.statistics import bootstrap_interval, interquartile_mean, standard_error

FIELDS_IN_LABEL = 3
UNNAMED: Mapping[Path, str] = MappingProxyType({})  # a run is called after what it is made of


@dataclass(frozen=True)
class Group:
    """Runs of one configuration, one per seed."""

    label: str
    runs: tuple[Run, ...]  # by seed

    @property
    def goals(self) -> Goals | None:
        return next((run.goals for run in self.runs if run.goals), None)

    @property
    def mapped(self) -> bool:
        """Whether all its goals lie on one map."""
        return bool(self.goals and self.goals.layout) and same_goals(self.runs)

    @property
    def last_step(self) -> int | None:
        """The latest step at which any of the runs was evaluated."""
        return max((run.last.steps for run in self.runs if run.last), default=None)

    @property
    def ended(self) -> list[Run]:
        """Those that were evaluated at the last step."""
        return [run for run in self.runs if self.last_step in run.evaluations]

    @property
    def last(self) -> list[Evaluation]:
        """The evaluations at the last step; runs that have not come that far have none."""
        return [run.evaluations[self.last_step] for run in self.ended]

    @property
    def components(self) -> list[str]:
        """The agent, then its parts if it is dual."""
        names = {name for run in self.runs for one in run.evaluations.values() for name in one.mean}
        return sorted(names, key=lambda name: (name != "agent", name))

    @property
    def repeated_seeds(self) -> list[int]:
        seeds = [run.seed for run in self.runs]
        return sorted({seed for seed in seeds if seeds.count(seed) > 1})


@dataclass(frozen=True)
class Section:
    """The groups that were trained on one task in one environment, so that they compare."""

    task: str
    env: dict[str, Any]
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Curve:
    """A mean over seeds against steps; the interval is not a number where n < 2."""

    steps: np.ndarray  # [T]
    mean: np.ndarray  # [T]
    low: np.ndarray  # [T]
    high: np.ndarray  # [T]
    n: np.ndarray  # [T] how many seeds were evaluated there


@dataclass(frozen=True)
class Final:
    """A group's success at its last step."""

    step: int | None
    n: int
    mean: float
    error: float
    low: float
    high: float
    middle: float  # interquartile mean over seeds and reachable goals
    middle_low: float  # stratified; not a number where seeds have goals of their own
    middle_high: float


@dataclass(frozen=True)
class GoalRow:
    name: str
    reachable: bool
    success: tuple[float, ...]  # one per group; not a number where it has no such goal
    random: float | None  # a random policy's, if it is known


def sections(runs: Iterable[Run], names: Mapping[Path, str] = UNNAMED) -> list[Section]:
    """Runs by task and environment, in the order they were given."""
    by_task = _gather(runs, lambda run: (run.config["task"], run.config["env"]))
    return [
        Section(same[0].config["task"], same[0].config["env"], tuple(_groups(same, names)))
        for same in by_task
    ]


def _groups(runs: list[Run], known: Mapping[Path, str]) -> list[Group]:
    found = _gather(runs, lambda run: without_seed(run.config))
    for same in found:
        _check_same_goals(same)
    names = labels([without_seed(same[0].config) for same in found])
    by_seed = [tuple(sorted(same, key=lambda run: run.seed)) for same in found]
    return [
        Group(known.get(same[0].path, name), same)
        for name, same in zip(names, by_seed, strict=True)
    ]


def _gather(runs: Iterable[Run], key: Callable[[Run], Any]) -> list[list[Run]]:
    """Runs with the same key together, keys in order of appearance."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(json.dumps(key(run), sort_keys=True), []).append(run)
    return list(found.values())


def _check_same_goals(runs: list[Run]) -> None:
    known = [run for run in runs if run.goals and not _own_goals(run.config)]
    for run in known:
        if run.goals.names != known[0].goals.names:
            raise UsageError(
                f"{run.path} and {known[0].path} differ in their goals, yet only in the seed of "
                "their configuration"
            )


def without_seed(config: dict[str, Any]) -> dict[str, Any]:
    """What the seeds of one configuration share."""
    shared = {name: value for name, value in config.items() if name != "seed"}
    if _own_goals(config):
        goals = config["goals"].items()
        shared["goals"] = {name: value for name, value in goals if name != "subset_seed"}
    return shared


def _own_goals(config: dict[str, Any]) -> bool:
    """Whether a run chose its goals at random by its own seed."""
    goals = config.get("goals", {})
    return goals.get("subset") is not None and goals.get("subset_seed") == config["seed"]


def labels(configs: list[dict[str, Any]]) -> list[str]:
    """Each configuration's algorithm, with the fields that tell it from others of its name."""
    flat = [flatten(config) for config in configs]
    names = [_label(one, flat) for one in flat]
    return numbered(names)


def numbered(names: Sequence[str]) -> list[str]:
    """Names that occur once as they are, others with a number."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: i + 1].count(name)})"
        for i, name in enumerate(names)
    ]


def _label(one: dict[str, Any], everyone: list[dict[str, Any]]) -> str:
    rivals = [other for other in everyone if other["name"] == one["name"]]
    telling = [k for k in one if any(other.get(k) != one[k] for other in rivals)]
    shown = [f"{name}={one[name]}" for name in telling[:FIELDS_IN_LABEL]]
    more = len(telling) - len(shown)
    return ", ".join([str(one["name"]), *shown, *([f"{more} more"] if more else [])])


def flatten(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested fields under dotted names; those of the algorithm stand alone."""
    flat: dict[str, Any] = {}
    for name, value in config.items():
        inner = "" if prefix + name == "algorithm" else f"{prefix}{name}."
        flat |= flatten(value, inner) if isinstance(value, dict) else {prefix + name: value}
    return flat


def curve(runs: Iterable[Run], component: str = "agent") -> Curve:
    """The mean success over reachable goals of whichever runs were evaluated at each step."""
    by_step: dict[int, list[float]] = {}
    for run in runs:
        for one in run.evaluations.values():
            if component in one.mean:
                by_step.setdefault(one.steps, []).append(one.mean[component])
    steps = sorted(by_step)
    points = [by_step[step] for step in steps]
    intervals = np.array([bootstrap_interval(point) for point in points]).reshape(-1, 2)
    return Curve(
        steps=np.array(steps, int),
        mean=np.array([np.mean(point) for point in points]),
        low=intervals[:, 0],
        high=intervals[:, 1],
        n=np.array([len(point) for point in points], int),
    )


def n_text(one: Curve) -> str:
    """How many seeds stand behind a curve, and from which step on it is other than at first."""
    if not len(one.n):
        return "n = 0"
    parts = [list(part) for _, part in groupby(zip(one.n, one.steps, strict=True), lambda p: p[0])]
    first, *later = [part[0] for part in parts]
    return "; ".join([f"n = {first[0]}", *(f"{n} from step {step:,}" for n, step in later)])


def final(group: Group) -> Final:
    """A group's success over seeds at its last step."""
    means = [one.mean["agent"] for one in group.last]
    low, high = bootstrap_interval(means)
    scores = [run.last.success["agent"][run.goals.reachable] for run in group.ended]
    together = summary(np.stack(scores)) if scores and same_goals(group.ended) else {}
    return Final(
        step=group.last_step,
        n=len(means),
        mean=float(np.mean(means)) if means else math.nan,
        error=standard_error(means),
        low=low,
        high=high,
        middle=interquartile_mean(np.concatenate(scores)) if scores else math.nan,
        middle_low=together.get("iqm_low", math.nan),
        middle_high=together.get("iqm_high", math.nan),
    )


def goal_success(group: Group) -> dict[str, float]:
    """The success of every goal at the last step, meant over the seeds that have it."""
    rates: dict[str, list[float]] = {}
    for run in group.ended:
        for name, rate in zip(run.goals.names, run.last.success["agent"], strict=True):
            rates.setdefault(name, []).append(float(rate))
    return {name: float(np.mean(some)) for name, some in rates.items()}


def goal_rows(groups: Sequence[Group], random: Mapping[str, float]) -> list[GoalRow]:
    """Every goal that any group has, with the success that each group and chance have at it."""
    reachable: dict[str, bool] = {}
    for goals in (run.goals for group in groups for run in group.runs if run.goals):
        reachable |= dict(zip(goals.names, goals.reachable.tolist(), strict=True))
    tables = [goal_success(group) for group in groups]
    return [
        GoalRow(name, can, tuple(table.get(name, math.nan) for table in tables), random.get(name))
        for name, can in reachable.items()
    ]


def metric_names(groups: Sequence[Group]) -> list[str]:
    """The metrics worth a picture: live success, speed, and every loss."""
    runs = [run for group in groups for run in group.runs]
    found = {name for run in runs for row in run.metrics for name in row}
    first = [name for name in ("goals/success", "steps_per_second") if name in found]
    return [*first, *sorted(name for name in found if name.endswith("/loss"))]


def metric(run: Run, name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of one metric, meant over blocks so that at most `most` points remain."""
    rows = [(row["steps"], row[name]) for row in run.metrics if name in row]
    blocks = np.array_split(np.array(rows, float).reshape(-1, 2), max(1, min(most, len(rows))))
    points = np.array([block.mean(axis=0) for block in blocks if len(block)]).reshape(-1, 2)
    return points[:, 0], points[:, 1]
