"""Figures out of tables of numbers: bars one below the other, panels of lines."""

import math

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from allgoals.report.figures import LOOK, Style, short_count, styles
from allgoals.report.scores import Row

PER_LINE = 3  # panels side by side
SMALL_PER_LINE = 6
RANDOM = "random policy"


def tall_figure(rows: int, each: float):
    """Rows one below the other."""
    return one_figure(8, 1 + each * max(1, rows))


def one_figure(width: float, height: float):
    """A figure and its only axes."""
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def draw_lines(
    rows: list[Row], x: str, x_label: str, y_label: str = "success", small: bool = False,
    to_one: bool = False,
) -> Figure:  # fmt: skip
    """A panel for each, a line for each label, one standard error or else an interval around it.

    Panels whose vertical axes end at one can be compared.
    """
    panels = list(dict.fromkeys(str(row["panel"]) for row in rows))
    labels = list(dict.fromkeys(str(row["label"]) for row in rows))
    trained = [label for label in labels if label != RANDOM]
    looks = dict(zip(trained, styles(len(trained)), strict=True))
    looks[RANDOM] = Style("#888888", (2, 2))
    across = min(max(1, len(panels)), SMALL_PER_LINE if small else PER_LINE)
    down = max(1, math.ceil(len(panels) / across))
    width, height = (2.0, 1.7) if small else (4.2, 3.0) if across > 1 else (7.0, 3.4)
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(width * across, height * down + 0.4), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes, panel in zip(grid.flat, panels, strict=False):
        for label in labels:
            _line(axes, [r for r in rows if (r["panel"], r["label"]) == (panel, label)], x, looks)
        axes.set_title(panel, fontsize=6 if small else 9)
        axes.xaxis.set_major_formatter(lambda value, _: short_count(value))
        axes.set_ylim(0, 1.05 if to_one else None)
    figure.supxlabel(x_label, fontsize=9)
    figure.supylabel(y_label, fontsize=9)
    drawn = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in figure.axes]
    known = {name: handle for pairs in drawn for handle, name in pairs}
    names = [label for label in labels if label in known]
    handles = [known[name] for name in names]
    longest = max(map(len, names), default=1) + 6  # letters, with the piece of line before them
    columns = max(1, min(4, int(11 * figure.get_figwidth() / longest)))
    figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False)
    return figure


def _line(axes, rows: list[Row], x: str, looks: dict) -> None:
    if not rows:
        return
    look = looks[rows[0]["label"]]
    at = [row[x] for row in rows]
    mean, error = (np.array([row[key] for row in rows], float) for key in ("mean", "error"))
    dashes = (0, look.dashes) if look.dashes else "solid"
    axes.plot(at, mean, "o", linestyle=dashes, color=look.colour, markersize=3,
              label=rows[0]["label"])  # fmt: skip
    low, high = mean - error, mean + error
    if np.isnan(error).all() and "low" in rows[0]:
        low, high = (np.array([row[key] for row in rows], float) for key in ("low", "high"))
    axes.fill_between(at, low, high, color=look.colour, alpha=0.18, linewidth=0)
