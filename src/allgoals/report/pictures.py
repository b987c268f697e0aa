"""Pictures of a study: each is a table of numbers first, and then a drawing of that table.

The table is what is tested, exported and put beside the drawing; a drawing reads nothing else.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from matplotlib.figure import Figure

from allgoals.report.drawing import PER_LINE, RANDOM, draw_lines, tall_figure
from allgoals.report.figures import COLOURS, styles
from allgoals.report.scores import (
    Goals,
    Row,
    Trained,
    goal_names,
    known,
    last,
    same_goals,
    scores,
    since,
    summary,
)
from allgoals.report.statistics import (
    performance_profile,
    probability_of_improvement,
    stratified_interval,
)

ERRORS = (
    "Lines: mean over seeds. Bands: one standard error, drawn where there are two seeds or more."
)
NARROW = (
    " These intervals are too narrow: the method takes the goals of a seed for independent, where"
    " here one network answers for all of them, and drawing few seeds anew understates how far"
    " seeds vary."
)


class Picture(Protocol):
    name: str  # of its files
    title: str

    @property
    def note(self) -> str: ...  # how to read it

    def rows(self, cases: Sequence[Trained]) -> list[Row]: ...

    def draw(self, rows: list[Row]) -> Figure: ...


@dataclass(frozen=True)
class Curves:
    """Success against steps: a panel per task, a line per case, one standard error around it."""

    name: str
    title: str
    goals: tuple[str, ...] = ()  # a panel for each of these; or one for the mean over all goals
    components: tuple[str, ...] = ("agent",)
    task: str = ""  # this one alone
    note: str = ERRORS

    def rows(self, cases: Sequence[Trained]) -> list[Row]:
        chosen = [case for case in cases if self.task in ("", case.panel)]
        rows = [
            {"panel": panel, "label": label, "steps": step, **summary(table)}
            for case in chosen
            for goal in self.goals or ("",)
            for component in self.components
            for panel, label in [self._place(case, goal, component)]
            for step, table in scores(case.runs, goal, component).items()
        ]
        return rows + [row for goal in self.goals or ("",) for row in self._random(chosen, goal)]

    def _random(self, cases: Sequence[Trained], goal: str) -> Iterator[Row]:
        """A level line in every panel, from the beginning to the end."""
        lines: dict[str, tuple[int, float]] = {}  # where each ends, and how high it is
        for case in cases:
            panel, _ = self._place(case, goal, "agent")
            end, chance = max(scores(case.runs, goal), default=0), case.chance(goal)
            if end and not math.isnan(chance):
                lines[panel] = max(lines.get(panel, (0, chance)), (end, chance))
        for panel, (end, chance) in lines.items():
            for steps in (0, end):
                yield {"panel": panel, "label": RANDOM, "steps": steps, **known(chance)}

    def _place(self, case: Trained, goal: str, component: str) -> tuple[str, str]:
        """In which panel a line is drawn, and what it is called."""
        panel = f"{case.panel}: {goal}" if goal else case.panel
        alone = len(self.components) == 1
        return panel, case.label if alone else f"{case.label}, {component}"

    def draw(self, rows: list[Row]) -> Figure:
        small, to_one = len(self.goals) > PER_LINE, bool(self.goals)
        return draw_lines(rows, "steps", "environment steps", small=small, to_one=to_one)


@dataclass(frozen=True)
class OverParameter:
    """The last success against a parameter: a line per label."""

    name: str
    title: str
    parameter: str
    goal: Goals = ""  # or the mean over all, or some of them
    note: str = ERRORS

    def rows(self, cases: Sequence[Trained]) -> list[Row]:
        found = [(case, last(scores(case.runs, self.goal))) for case in cases]
        found = [(case, table) for case, table in found if table is not None]
        rows = [
            {"panel": case.panel, "label": case.label, "x": case.x,
             **summary(table, same_goals(case.runs))}
            for case, table in found
        ]  # fmt: skip
        by_chance = {(case.panel, case.x): case.chance(self.goal) for case, _ in found}
        return rows + [
            {"panel": panel, "label": RANDOM, "x": x, **known(chance)}
            for (panel, x), chance in sorted(by_chance.items()) if not math.isnan(chance)
        ]  # fmt: skip

    def draw(self, rows: list[Row]) -> Figure:
        of_one = isinstance(self.goal, str) and self.goal != ""
        return draw_lines(rows, "x", self.parameter, to_one=of_one)


@dataclass(frozen=True)
class Bars:
    """The last success of every goal by each component of a dual agent, best goals first."""

    name: str
    title: str
    components: tuple[str, ...] = ("leo", "uvfa", "agent")
    task: str = ""  # this one alone
    at: int | None = None  # the first evaluation from this step on; the last by default
    note: str = "Each component acting alone, and both mixed (agent); mean over seeds."

    def rows(self, cases: Sequence[Trained]) -> list[Row]:
        chosen = [case for case in cases if self.task in ("", case.panel)]
        found = [row for case in chosen for row in self._of(case)]
        return sorted(found, key=lambda row: -max(row[c] for c in self.components))

    def _of(self, case: Trained) -> Iterator[Row]:
        for goal in goal_names(case.runs):
            by_step = {c: scores(case.runs, goal, c) for c in self.components}
            step = since(set.intersection(*map(set, by_step.values())), self.at)
            if step is not None:
                rates = {c: float(np.mean(table[step])) for c, table in by_step.items()}
                where = {"panel": case.panel, "label": case.label, "steps": step, "goal": goal}
                yield {**where, **rates}

    def draw(self, rows: list[Row]) -> Figure:
        figure, axes = tall_figure(len(rows), 0.16)
        height = 0.8 / len(self.components)
        place = np.arange(len(rows))
        for i, (component, look) in enumerate(zip(self.components, styles(9), strict=False)):
            rates = [row[component] for row in rows]
            axes.barh(place + i * height, rates, height, color=look.colour, label=component)
        middle = place + height * (len(self.components) - 1) / 2
        axes.set_yticks(middle, [str(row["goal"]) for row in rows], fontsize=6)
        axes.set(xlabel="success", ylim=(len(rows), -1))
        axes.legend(frameon=False)
        return figure


@dataclass(frozen=True)
class Ranking:
    """The last success of every case, the best first."""

    name: str
    title: str
    note: str = "Mean over seeds and goals at the last evaluation; whiskers: one standard error."

    def rows(self, cases: Sequence[Trained]) -> list[Row]:
        rows = [
            {"panel": case.panel, "label": case.label, **summary(table)}
            for case in cases
            if (table := last(scores(case.runs))) is not None
        ]
        return sorted(rows, key=lambda row: -row["mean"])

    def draw(self, rows: list[Row]) -> Figure:
        figure, axes = tall_figure(len(rows), 0.24)
        errors = np.nan_to_num([row["error"] for row in rows])
        place = np.arange(len(rows))
        axes.barh(place, [row["mean"] for row in rows], xerr=errors, color=COLOURS[0], capsize=2)
        axes.set_yticks(place, [str(row["label"]) for row in rows])
        axes.set(xlabel="success", ylim=(len(rows), -1))
        return figure


@dataclass(frozen=True)
class Profiles:
    """The share of goals and seeds whose last success is above each threshold."""

    name: str
    title: str
    note: str = (
        "Higher is better everywhere; the area below a line is its mean success. Bands: 95 %"
        " stratified bootstrap over seeds, from two seeds on." + NARROW
    )

    def rows(self, cases: Sequence[Trained]) -> list[Row]:
        found = [(case, last(scores(case.runs))) for case in cases]
        return [row for case, table in found if table is not None for row in self._of(case, table)]

    def _of(self, case: Trained, table: np.ndarray) -> Iterator[Row]:
        thresholds = np.linspace(0, 1, 21)
        profile = partial(performance_profile, thresholds=thresholds)
        lines = zip(thresholds, profile(table), *stratified_interval(profile, table), strict=True)
        for threshold, share, low, high in lines:
            yield {
                "panel": case.panel, "label": case.label, "x": float(threshold), "n": len(table),
                "mean": float(share), "error": math.nan, "low": float(low), "high": float(high),
            }  # fmt: skip

    def draw(self, rows: list[Row]) -> Figure:
        return draw_lines(rows, "x", "success above", y_label="share of goals and seeds")


@dataclass(frozen=True)
class Improvements:
    """How likely each case is to be above each other on a goal and seeds drawn at random."""

    name: str
    title: str
    note: str = (
        "A tie counts half. Whiskers: 95 % stratified bootstrap over seeds, from two seeds on."
        + NARROW
    )

    def rows(self, cases: Sequence[Trained]) -> list[Row]:
        found = [(case, last(scores(case.runs))) for case in cases]
        return [
            self._row(one, ours, other, theirs)
            for i, (one, ours) in enumerate(found)
            for other, theirs in found[:i]
            if one.panel == other.panel and ours is not None and theirs is not None
        ]

    def _row(self, one: Trained, ours: np.ndarray, other: Trained, theirs: np.ndarray) -> Row:
        low, high = map(float, stratified_interval(probability_of_improvement, ours, theirs))
        chance = probability_of_improvement(ours, theirs)
        row = {"panel": one.panel, "label": one.label, "over": other.label, "chance": chance}
        return {**row, "low": low, "high": high}

    def draw(self, rows: list[Row]) -> Figure:
        figure, axes = tall_figure(len(rows), 0.2)
        place = np.arange(len(rows))
        chance, low, high = (np.array([r[k] for r in rows]) for k in ("chance", "low", "high"))
        ends = np.nan_to_num([chance - low, high - chance]) if rows else None
        axes.errorbar(chance, place, xerr=ends, fmt="o", color=COLOURS[0], markersize=4, capsize=2)
        axes.axvline(0.5, color="#888888", dashes=(4, 2))
        several = len({row["panel"] for row in rows}) > 1
        names = [f"{r['label']} over {r['over']}" + f", {r['panel']}" * several for r in rows]
        axes.set_yticks(place, names, fontsize=7)
        axes.set(xlabel="probability of improvement", ylim=(len(rows), -1), xlim=(0, 1))
        return figure
