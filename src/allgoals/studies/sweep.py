"""A random sweep over sets of values: which value of each hyperparameter is best."""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from allgoals.errors import UsageError
from allgoals.experiment import Experiment, to_dict
from allgoals.report.claims import Judgement, above, among, difference
from allgoals.report.drawing import one_figure
from allgoals.report.figures import COLOURS, LOOK
from allgoals.report.load import Run
from allgoals.report.scores import Row
from allgoals.report.statistics import standard_error
from allgoals.report.study import Drawn, Judged, Shown, write_findings
from allgoals.runs.directory import RunDirectory
from allgoals.studies.jobs import Job, load_made
from allgoals.studies.trials import Finished, Space, Trials
from allgoals.studies.types import Budget, Desk

PER_LINE = 4


@dataclass(frozen=True)
class Sweep:
    name: str
    paper: str
    about: str
    base: Callable[[Budget], Experiment]
    space: Space  # values by dotted name of a field
    best: dict[str, Any]  # what the paper chose
    trials: dict[Budget, int]
    matters: dict[str, tuple[str, Any]] = field(default_factory=dict)  # only where another is so

    def check(self, desk: Desk) -> None:
        if desk.storage is None:
            desk.folder(self.name).mkdir(parents=True, exist_ok=True)
        settings = [to_dict(self.base(desk.budget)), self.space]
        self._trials(desk).check(hashlib.sha256(json.dumps(settings).encode()).hexdigest())

    def work(self, desk: Desk) -> None:
        self._trials(desk).work(partial(self.evaluate, desk))

    def evaluate(self, desk: Desk, index: int, chosen: dict[str, Any]) -> float:
        """The mean success at the end of trial `index`; 0 for one that diverged."""
        path = self._path(desk, index)
        job = Job(f"{self.name}, trial {index}", path, self.experiment(desk.budget, index, chosen))
        job.check()
        desk.say(f"trial {index + 1} of {self.trials[desk.budget]}: {_words(chosen)}")
        if not job.over:
            job.work(desk)
        if not job.finished:
            return 0.0
        return RunDirectory(path).read("summary.json")["evaluation"]["agent"]

    def write(self, desk: Desk) -> Path:
        done = self._trials(desk).finished()
        if not done:
            raise UsageError(f"{self.name}: no trial is finished yet")
        top = max(done, key=lambda one: one.value)
        tables = (self.by_value(done), [self._row(one, desk) for one in done])
        drawn = [
            Drawn("values", "Success by value of each hyperparameter", VALUES, tables[0],
                  draw_values(tables[0])),
            Drawn("choices", "The best value of each hyperparameter", CHOICES,
                  self.choices(tables[0], top)),
            Drawn("trials", "Trials in order of success", "", tables[1], draw_trials(done)),
        ]  # fmt: skip
        shown = Shown(
            self.name, self.paper, f"{self.about} The best trial is {top.index}:"
            f" {_words(top.parameters)}, success {top.value:.3f}.", desk.budget, desk.command,
        )  # fmt: skip
        run, task = self._path(desk, top.index), self.base(desk.budget).task
        runs = [self._made(top, desk)] if (run / "config.json").exists() else []  # or elsewhere
        return write_findings(
            desk.folder(self.name), shown, drawn, self.judged(done, task), BY_TRIALS, runs
        )

    def by_value(self, done: list[Finished]) -> list[Row]:
        """Mean and best success of the trials with each value, where it plays a part."""
        return [
            {"parameter": name, "value": str(value), "n": len(found),
             "mean": float(np.mean(found)) if found else float("nan"),
             "error": standard_error(found), "best": max(found, default=float("nan")),
             "paper": value == self.best[name]}
            for name in self.space for value, found in self._successes(done, name).items()
        ]  # fmt: skip

    def _successes(self, done: list[Finished], name: str) -> dict[Any, list[float]]:
        """Of the trials with each value of a hyperparameter, where it plays a part."""

        def counts(one: Finished, value: Any) -> bool:
            other, needed = self.matters.get(name, (name, value))
            return one.parameters[name] == value and one.parameters[other] == needed

        return {v: [one.value for one in done if counts(one, v)] for v in self.space[name]}

    def judged(self, done: list[Finished], task: str) -> list[Judged]:
        """Whether the paper's value of each hyperparameter is above all others."""
        return [
            Judged(f"{task}: {_short(name)}: {self.best[name]} is the best value",
                   self._judge(done, name))
            for name, values in self.space.items() if len(values) > 1
        ]  # fmt: skip

    def _judge(self, done: list[Finished], name: str) -> Judgement:
        found = self._successes(done, name)
        chosen = found.pop(self.best[name])
        rivals = {value: some for value, some in found.items() if some}
        if not chosen or not rivals:
            return Judgement("cannot say", "nothing to compare was tried")
        rival = max(rivals, key=lambda value: np.mean(rivals[value]))
        tables = [np.array(some)[:, None] for some in (chosen, rivals[rival])]
        compare = partial(difference, tables, (self.best[name], rival), paired=False)
        found = compare()
        if not found.low > 0:
            found = compare(confidence=among(len(rivals)))
        return Judgement(above(0.0, found.low, found.high), found.evidence)

    def choices(self, by_value: list[Row], top: Finished) -> list[Row]:
        """The value with the best mean, the best trial's, and the paper's."""
        return [
            {"parameter": name, "best_mean": _best(by_value, name),
             "best_trial": str(top.parameters[name]), "paper": str(self.best[name])}
            for name in self.space
        ]  # fmt: skip

    def _row(self, one: Finished, desk: Desk) -> Row:
        path = self._path(desk, one.index)
        row = {"trial": one.index, "success": one.value}
        row |= {name: str(value) for name, value in one.parameters.items()}
        row |= {"run": str(path), "seconds": math.nan, "machine": "", "command": ""}
        if not (path / "config.json").exists():  # it was trained on another machine
            return row
        run = self._made(one, desk)
        row["seconds"] = run.seconds
        return row | {"machine": run.starts[-1].machine, "command": run.command}

    def _made(self, one: Finished, desk: Desk) -> Run:
        experiment = self.experiment(desk.budget, one.index, one.parameters)
        return load_made(self._path(desk, one.index), experiment)

    def _trials(self, desk: Desk) -> Trials:
        url = desk.storage or f"sqlite:///{desk.folder(self.name) / 'trials.db'}"
        return Trials(url, f"{self.name}-{desk.budget}", self.space, self.trials[desk.budget])

    def _path(self, desk: Desk, index: int) -> Path:
        return desk.folder(self.name) / "trials" / f"{index:03}"

    def experiment(self, budget: Budget, index: int, chosen: dict[str, Any]) -> Experiment:
        experiment = replace(self.base(budget), seed=index)  # no two trials are the same
        for name, value in chosen.items():
            experiment = changed(experiment, name.split("."), value)
        return experiment


VALUES = (
    "Bars: mean success of the trials with a value, where it plays a part, and one standard error;"
    " dots: the best of them. Dark: the paper's choice. Neither bar nor dot: no trial."
)
BY_TRIALS = (
    "Supported or contradicted: of the trials with the paper's value and those with the best of the"
    " other values, the 95 % interval of the difference (Welch's) lies on one side; since the best"
    " of several values is partly so by luck, what contradicts is an interval that allows for their"
    " number. Every trial has a seed and other hyperparameters of its own. The paper does not say"
    " how it chose: by means or by the best trial."
)


CHOICES = "By the mean of its trials, in the best trial, and in the paper."


def _best(by_value: list[Row], name: str) -> str:
    tried = [row for row in by_value if row["parameter"] == name and row["n"]]
    return str(max(tried, key=lambda row: row["mean"])["value"]) if tried else "not tried"


def _short(name: str) -> str:
    return name.removeprefix("algorithm.")


def changed(record: Any, path: list[str], value: Any) -> Any:
    """A nested record with one field changed."""
    name, *rest = path
    return replace(record, **{name: changed(getattr(record, name), rest, value) if rest else value})


def _words(chosen: dict[str, Any]) -> str:
    return ", ".join(f"{name.split('.')[-1]} {value}" for name, value in chosen.items())


def draw_values(rows: list[Row]) -> Figure:
    names = list(dict.fromkeys(str(row["parameter"]) for row in rows))
    down = -(-len(names) // PER_LINE)
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(2.6 * PER_LINE, 2.1 * down), layout="constrained")
        grid = figure.subplots(down, PER_LINE, squeeze=False, sharey=True)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    for axes, name in zip(grid.flat, names, strict=False):
        of = [row for row in rows if row["parameter"] == name]
        colours = [COLOURS[0] if row["paper"] else COLOURS[5] for row in of]
        place = np.arange(len(of))
        means, errors = (np.array([row[key] for row in of]) for key in ("mean", "error"))
        axes.bar(place, means, yerr=errors, color=colours, capsize=2, ecolor="#777777")
        axes.plot(place, [row["best"] for row in of], "o", color="#333333", markersize=3)
        axes.set_xticks(place, [str(row["value"]) for row in of], fontsize=7)
        axes.set_xlim(-0.6, len(of) - 0.4)  # with room for what is not drawn
        axes.set_title(_short(name), fontsize=8)
    return figure


def draw_trials(done: list[Finished]) -> Figure:
    figure, axes = one_figure(7, 2.6)
    values = sorted((one.value for one in done), reverse=True)
    axes.plot(range(1, len(values) + 1), values, "o", color=COLOURS[0], markersize=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="rank", ylabel="success", ylim=0)
    return figure
