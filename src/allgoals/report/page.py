"""The page: sections of charts, tables and maps, filled into one template."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from allgoals.errors import UsageError
from allgoals.report import maps
from allgoals.report.figures import Line, Style, band, metric_chart, styles, success_chart
from allgoals.report.load import Run
from allgoals.report.published import published
from allgoals.report.results import (
    UNNAMED,
    Curve,
    Final,
    GoalRow,
    Group,
    Section,
    curve,
    final,
    goal_rows,
    metric,
    metric_names,
    n_text,
    sections,
    without_seed,
)
from allgoals.report.scores import UNKNOWN, ByTask
from allgoals.runs.directory import write_text

MOST_POINTS = 6_000  # in one chart of metrics
POINTS_PER_LINE = 150
NOTHING = "–"


@dataclass(frozen=True)
class Entry:
    """A curve in a legend."""

    name: str
    style: Style
    n: str


@dataclass(frozen=True)
class Chart:
    title: str
    svg: Markup
    legend: list[Entry]


@dataclass(frozen=True)
class SectionView:
    """A section with everything that is shown of it."""

    section: Section
    curves: list[Curve]  # one per group
    charts: list[Chart]
    finals: list[Final]
    goals: list[GoalRow]
    maps: list[maps.Maps]
    metrics: list[Chart]
    published: dict[str, float]  # the paper's success at these goals, where it says


def write_page(out: Path, page: str) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, page)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error}") from None


def page_of(
    template: str, runs: list[Run], by_chance: ByTask = UNKNOWN,
    names: Mapping[Path, str] = UNNAMED, **more: Any,
) -> str:  # fmt: skip
    """A page about these runs."""
    found = sections(runs, names)
    drawable = [group for section in found for group in section.groups if group.mapped]
    views = [view(one, len(drawable), by_chance.get(one.task, {})) for one in found]
    colours = maps.COLOURS if drawable else ()
    return fill(template, views=views, colours=colours, without_seed=without_seed, **more)


def fill(template: str, **values: Any) -> str:
    page = _environment().get_template(template).render(**values)
    return page.encode("utf-8", "replace").decode()  # names may hold what is no character


def view(section: Section, num_maps: int, random: Mapping[str, float]) -> SectionView:
    groups = section.groups
    goals = goal_rows(groups, random)
    paper = published(section.task)
    curves = [curve(group.runs) for group in groups]
    looks = styles(len(groups))
    return SectionView(
        section=section,
        curves=curves,
        charts=[
            _chart("The agent", [group.label for group in groups], curves),
            *(component_chart(group) for group in groups if len(group.components) > 1),
        ],
        finals=[final(group) for group in groups],
        goals=goals,
        maps=[maps.draw(group, num_maps) for group in groups if group.mapped],
        metrics=[_metric_chart(groups, looks, name) for name in metric_names(groups)],
        published={row.name: paper[row.name] for row in goals if row.name in paper},
    )


def component_chart(group: Group) -> Chart:
    """A dual agent beside each of its parts acting alone."""
    names = group.components
    return _chart(f"Components of {group.label}", names, [curve(group.runs, n) for n in names])


def _chart(title: str, names: list[str], curves: list[Curve]) -> Chart:
    looks = styles(len(names))
    bands = [band(one, look) for one, look in zip(curves, looks, strict=True)]
    legend = [
        Entry(name, look, n_text(one)) for name, look, one in zip(names, looks, curves, strict=True)
    ]
    return Chart(title, success_chart(bands), legend)


def _metric_chart(groups: tuple[Group, ...], looks: list[Style], name: str) -> Chart:
    num_lines = sum(len(group.runs) for group in groups)
    most = max(10, min(POINTS_PER_LINE, MOST_POINTS // num_lines))
    lines = [
        Line(*metric(run, name, most), look)
        for group, look in zip(groups, looks, strict=True)
        for run in group.runs
    ]
    return Chart(name, metric_chart(lines), [])


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("allgoals.report", ""),
        autoescape=select_autoescape(("html",)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"number": number, "count": count, "pretty": pretty, "cell": cell}
    environment.filters |= {"level": level, "mean": mean}
    return environment


def number(value: float | None, digits: int = 3) -> str:
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


def mean(values: Iterable[float]) -> float:
    """Not a number of nothing."""
    found = list(values)
    return fmean(found) if found else math.nan


def count(value: float | None) -> str:
    return NOTHING if value is None or not math.isfinite(value) else f"{value:,.0f}"


def pretty(data: object) -> str:
    return json.dumps(data, indent=2)


def cell(value: object) -> str:
    """A value of a table: text as it is, whole numbers in groups, others to three digits."""
    if isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def level(value: float | None) -> str:
    """The paper's three colours of success: nearly always, sometimes, never."""
    if value is None or math.isnan(value):
        return "unknown"
    return "always" if value >= 0.9 else "sometimes" if value > 0 else "never"
