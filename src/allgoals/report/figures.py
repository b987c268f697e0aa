"""Charts as inline SVG: lines and bands only, all words are left to the page around them."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from allgoals.report.results import Curve

# Okabe and Ito's colours, which colour-blind readers can tell apart, without the pale ones.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f6000", "#56b4e9")
DASHES = ((), (5, 2), (1, 1.5))
LARGEST = 1e30  # beyond it a chart has no ticks to offer
LOOK = {
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
}


@dataclass(frozen=True)
class Style:
    """How the lines of one group or component look, in charts and legends alike."""

    colour: str
    dashes: tuple[float, ...]


@dataclass(frozen=True)
class Line:
    x: np.ndarray
    y: np.ndarray
    style: Style


@dataclass(frozen=True)
class Band(Line):
    """A line with dots and, where they are numbers, an interval around it."""

    low: np.ndarray
    high: np.ndarray


def styles(number: int) -> list[Style]:
    """As many looks as are needed, different as long as that is possible."""
    looks = [Style(colour, dashes) for dashes in DASHES for colour in COLOURS]
    return [looks[i % len(looks)] for i in range(number)]


def band(curve: Curve, style: Style) -> Band:
    return Band(curve.steps, curve.mean, style, curve.low, curve.high)


def success_chart(bands: Sequence[Band]) -> Markup:
    """Success from 0 to 1 against steps."""
    figure, axes = _figure(4.8, 3.1)
    for one in bands:
        axes.fill_between(one.x, one.low, one.high, color=one.style.colour, alpha=0.18, linewidth=0)
        _plot(axes, one, linewidth=1.8, marker="o", markersize=3)
    axes.set_xlim(left=0)
    axes.set_ylim(-0.03, 1.03)
    axes.set_ylabel("success over reachable goals")
    return inline_svg(figure)


def metric_chart(lines: Sequence[Line]) -> Markup:
    """A thin line per run; a logarithmic axis for what is positive and spans decades."""
    figure, axes = _figure(3.6, 2.3)
    for line in lines:
        _plot(axes, line, linewidth=0.9, alpha=0.85)
    axes.set_xlim(left=0)
    if _spans_decades(line.y for line in lines):
        axes.set_yscale("log")
    else:
        axes.yaxis.set_major_formatter(lambda value, _: short_count(value))
    return inline_svg(figure)


def short_count(value: float) -> str:
    """A number as it fits on an axis: 250k, 1.5M, 2B."""
    for scale, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= scale:
            return f"{value / scale:g}{unit}"
    return f"{value:g}"


def _spans_decades(values: Iterable[np.ndarray]) -> bool:
    values = np.concatenate([np.empty(0), *values])
    values = values[np.isfinite(values)]
    return values.size > 0 and values.min() > 0 and values.max() > 10 * values.min()


def _figure(width: float, height: float):
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
    axes.xaxis.set_major_formatter(lambda value, _: short_count(value))
    axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
    axes.set_xlabel("environment steps")
    return figure, axes


def _plot(axes, line: Line, **look) -> None:
    dashes = (0, line.style.dashes) if line.style.dashes else "solid"
    y = np.where(np.abs(line.y) <= LARGEST, line.y, np.nan)
    axes.plot(line.x, y, color=line.style.colour, linestyle=dashes, **look)


def inline_svg(figure: Figure) -> Markup:
    """The figure as an element of a page: no header, and no name that another figure has."""
    file = StringIO()
    with matplotlib.rc_context(LOOK | {"svg.hashsalt": "allgoals"}):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<(metadata|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r' (xmlns(:xlink)?|version|width|height)="[^"]*"', "", text, count=5)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Markup(re.sub(r"\b([mp][0-9a-f]{10})\b", rf"\g<1>{digest}", text))
