"""A study's report: its pictures, the numbers behind them as files, claims judged, every run."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from allgoals.report.claims import Judgement
from allgoals.report.figures import LOOK, inline_svg
from allgoals.report.load import Run
from allgoals.report.page import fill, page_of, write_page
from allgoals.report.pictures import Picture
from allgoals.report.published import published
from allgoals.report.results import UNNAMED, GoalRow, Section, goal_rows, sections
from allgoals.report.scores import UNKNOWN, ByTask, Row, Trained
from allgoals.runs.directory import write_bytes

MOST_ROWS = 500  # of a table on the page; its file has all


@dataclass(frozen=True)
class Shown:
    """What the page says of its study."""

    name: str
    paper: str
    about: str
    budget: str
    command: str
    caution: str = ""  # what a reader should know before believing it


@dataclass(frozen=True)
class Judged:
    text: str
    judgement: Judgement


@dataclass(frozen=True)
class Drawn:
    """A picture with the numbers behind it."""

    name: str
    title: str
    note: str
    rows: list[Row]
    figure: Figure | None = None  # or a table alone

    @cached_property
    def svg(self) -> Markup | None:
        return inline_svg(self.figure) if self.figure else None

    @cached_property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))

    @cached_property
    def numeric(self) -> list[bool]:
        return [not any(isinstance(r.get(c), str) for r in self.rows) for c in self.columns]


def write_study(
    folder: Path,
    shown: Shown,
    cases: Sequence[Trained],
    pictures: Sequence[Picture],
    judged: Sequence[Judged],
    how: str,
) -> Path:
    """The page in a folder, and its pictures and tables as files beside it."""
    drawn = [draw(picture, cases) for picture in pictures]
    runs = list({run.path: run for case in cases for run in case.runs}.values())
    by_chance = {run.config["task"]: case.by_chance for case in cases for run in case.runs}
    return write_findings(folder, shown, drawn, judged, how, runs, by_chance, called(cases))


def called(cases: Sequence[Trained]) -> dict[Path, str]:
    """After what each run is called: its case's label, with what tells it from its namesakes."""
    return {run.path: _name(case, cases) for case in cases for run in case.runs}


def _name(case: Trained, cases: Sequence[Trained]) -> str:
    task, _, sampled = case.panel.partition(", ")
    alike = [
        one for one in cases if one.label == case.label and one.panel.partition(", ")[0] == task
    ]
    parts = [case.label]
    parts += [sampled] if len({one.panel for one in alike}) > 1 else []
    parts += [f"{case.x:g}"] if len({one.x for one in alike}) > 1 else []
    return ", ".join(parts)


def write_findings(
    folder: Path,
    shown: Shown,
    drawn: Sequence[Drawn],
    judged: Sequence[Judged],
    how: str,  # claims were judged
    runs: list[Run],
    by_chance: ByTask = UNKNOWN,
    names: Mapping[Path, str] = UNNAMED,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for one in drawn:
        if one.figure:
            export_figure(folder, one.name, one.figure)
        export_table(folder / one.name, one.rows, one.columns)
    tables = {
        "goals": goal_table(runs, by_chance), "evaluations": evaluation_table(runs),
        "claims": claim_table(judged),
    }  # fmt: skip
    for name, rows in tables.items():
        export_table(folder / name, rows, list(rows[0]) if rows else [])
    told = dict(shown=shown, drawn=drawn, judged=judged, how=how)
    found = sections(runs, names)
    makers = list(dict.fromkeys(start.made_by for run in runs for start in run.starts))
    write_page(folder / "report.md", fill("study.md", sections=found, makers=makers, **told))
    if found:
        every = fill("goals.md", shown=shown, tables=goal_tables(found, by_chance))
        write_page(folder / "goals.md", every)
    page = page_of("study.html", runs, by_chance, names, most_rows=MOST_ROWS, **told)
    write_page(folder / "report.html", page)
    return folder / "report.html"


def draw(picture: Picture, cases: Sequence[Trained]) -> Drawn:
    rows = picture.rows(cases)
    note = picture.note if rows else "Nothing to draw yet."
    return Drawn(picture.name, picture.title, note, rows, picture.draw(rows))


def claim_table(judged: Sequence[Judged]) -> list[Row]:
    return [
        {"claim": one.text, "verdict": one.judgement.verdict, "evidence": one.judgement.evidence}
        for one in judged
    ]


def evaluation_table(runs: Sequence[Run]) -> list[Row]:
    """Every run's mean success over reachable goals at every evaluation."""
    return [
        {**_facts(run), "steps": one.steps, "component": component, "success": mean}
        for run in runs
        for one in run.evaluations.values()
        for component, mean in one.mean.items()
    ]


def _facts(run: Run) -> Row:
    return {
        "task": run.config["task"], "algorithm": run.config["name"], "run": str(run.path),
        "seed": run.seed,
    }  # fmt: skip


def goal_table(runs: Sequence[Run], by_chance: ByTask) -> list[Row]:
    """Every run's last success at every goal, a random policy's, and the paper's if it has one."""
    papers = {task: published(task) for task in {run.config["task"] for run in runs}}
    return [
        {
            **_facts(run), "steps": run.last.steps, "component": component, "goal": goal,
            "success": float(rate),
            "random": by_chance.get(run.config["task"], {}).get(goal, math.nan),
            "paper_dual_leo_pqn": papers[run.config["task"]].get(goal, math.nan),
        }
        for run in runs if run.last and run.goals
        for component, rates in run.last.success.items()
        for goal, rate in zip(run.goals.names, rates, strict=True)
    ]  # fmt: skip


@dataclass(frozen=True)
class GoalTable:
    """The last success at every goal of a task, over seeds, beside the paper's and by chance."""

    task: str
    labels: list[str]
    rows: list[GoalRow]
    paper: dict[str, float]


def goal_tables(found: Sequence[Section], by_chance: ByTask) -> list[GoalTable]:
    return [
        GoalTable(one.task, [group.label for group in one.groups],
                  goal_rows(one.groups, by_chance.get(one.task, {})), published(one.task))
        for one in found
    ]  # fmt: skip


def export_figure(folder: Path, name: str, figure: Figure) -> None:
    for kind in ("svg", "pdf"):
        file = io.BytesIO()
        with matplotlib.rc_context(LOOK | {"svg.hashsalt": "allgoals"}):
            metadata = {"Date": None} if kind == "svg" else {"CreationDate": None}
            figure.savefig(file, format=kind, metadata=metadata)
        write_bytes(folder / f"{name}.{kind}", file.getvalue())


def export_table(path: Path, rows: list[Row], columns: list[str]) -> None:
    """As CSV and, where pyarrow is installed, as Parquet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_bytes(path.with_suffix(".csv"), text.getvalue().encode())
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        return
    file: Any = io.BytesIO()
    parquet.write_table(arrow.table({c: [row.get(c) for row in rows] for c in columns}), file)
    write_bytes(path.with_suffix(".parquet"), file.getvalue())
