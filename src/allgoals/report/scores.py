"""What the runs of a case scored, as arrays by step, and their summaries."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import mean
from types import MappingProxyType

import numpy as np

from allgoals.report.load import Run
from allgoals.report.statistics import interquartile_mean, standard_error, stratified_interval

Row = dict[str, str | int | float]  # of a table


@dataclass(frozen=True)
class AllBut:
    """All goals that can be reached, but for some."""

    names: tuple[str, ...]


Goals = str | tuple[str, ...] | AllBut  # one or some by name; none for all that can be reached
ByTask = Mapping[str, dict[str, float]]  # a random policy's success, by task and goal
UNKNOWN: ByTask = MappingProxyType({})


@dataclass(frozen=True)
class Trained:
    """A case of a study with the runs that were made of it."""

    label: str
    panel: str
    x: float
    runs: tuple[Run, ...]  # one per seed
    by_chance: dict[str, float] = field(default_factory=dict)  # a random policy's success, by goal

    def chance(self, goals: Goals = "") -> float:
        """What a random policy reaches, meant over runs: at some goals, or all each could reach."""
        means = [mean(rates) for run in self.runs if (rates := self._rates(run, goals))]
        return mean(means) if means else math.nan

    def _rates(self, run: Run, goals: Goals) -> list[float]:
        """A random policy's success at the goals of a run, where it is known."""
        names = [run.goals.names[i] for i in _columns(run, goals)]
        return [self.by_chance[name] for name in names if name in self.by_chance]

    @property
    def missing(self) -> str:
        """What its seeds lack for a fair comparison, if anything."""
        diverged = sum(bool(run.failed) for run in self.runs)
        unfinished = sum(not run.finished for run in self.runs) - diverged
        counts = {"diverged": diverged, "unfinished": unfinished}
        told = " and ".join(f"{n} {what}" for what, n in counts.items() if n)
        return f"{self.label}: {told} of {len(self.runs)} runs" if told else ""


def goal_names(runs: Iterable[Run]) -> tuple[str, ...]:
    return next((run.goals.names for run in runs if run.goals), ())


def scores(
    runs: Iterable[Run], goals: Goals = "", component: str = "agent"
) -> dict[int, np.ndarray]:
    """By step, the success of every run that was evaluated there: [seeds, goals].

    A goal may be missing. Seeds that have different goals have as many of them.
    """
    found: dict[int, list[np.ndarray]] = {}
    for run in runs:
        chosen = _columns(run, goals)
        for step, one in run.evaluations.items() if chosen.size else ():
            if component in one.success:
                found.setdefault(step, []).append(one.success[component][chosen])
    return {step: np.stack(found[step]) for step in sorted(found)}


def _columns(run: Run, goals: Goals) -> np.ndarray:
    if run.goals is None:
        return np.empty(0, int)
    if isinstance(goals, AllBut):
        return np.flatnonzero(run.goals.reachable & ~np.isin(run.goals.names, goals.names))
    return np.flatnonzero(np.isin(run.goals.names, goals) if goals else run.goals.reachable)


def last(by_step: dict[int, np.ndarray]) -> np.ndarray | None:
    return by_step[max(by_step)] if by_step else None


def since(steps: Iterable[int], step: int | None) -> int | None:
    """The first from a step on, or the last; nothing of none."""
    found = [one for one in steps if step is not None and one >= step]
    return min(found) if found else max(steps, default=None)


def same_goals(runs: Iterable[Run]) -> bool:
    return len({run.goals.names for run in runs if run.goals}) < 2


def summary(table: np.ndarray, stratified: bool = True) -> dict[str, float]:
    """The paper's mean and standard error over seeds, and an interquartile mean with its 95 %.

    Not stratified is what has other goals for every seed.
    """
    means = table.mean(axis=1)
    stratified &= table.shape[1] > 1  # the middle half of one goal's few seeds says nothing
    nothing = (math.nan, math.nan)
    low, high = stratified_interval(interquartile_mean, table) if stratified else nothing
    return {
        "n": len(table), "mean": float(means.mean()), "error": standard_error(means),
        "iqm": interquartile_mean(table), "iqm_low": float(low), "iqm_high": float(high),
    }  # fmt: skip


def known(value: float) -> dict[str, float]:
    """The same of a value that no seed has a part in."""
    nothing = dict.fromkeys(("error", "iqm", "iqm_low", "iqm_high"), math.nan)
    return {"n": 0, "mean": value, **nothing}
