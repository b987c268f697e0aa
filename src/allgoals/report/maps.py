"""Maps of a grid: the success of every goal where it lies, and its value from any cell."""

import base64
from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex

from allgoals.report.load import Run
from allgoals.report.results import Group, goal_success

LEVELS = 256
MOST_EMBEDDED = 400_000  # values on one page, of all its maps
# Pale for low, strong for high, and never as dark as a wall.
COLOURS = tuple(to_hex(colour) for colour in colormaps["YlGnBu"](np.linspace(0, 0.78, LEVELS)))


@dataclass(frozen=True)
class Cell:
    """A free cell as it is drawn; without a colour it is no goal."""

    x: int
    y: int
    colour: str | None
    text: str
    reachable: bool


@dataclass(frozen=True)
class GridMap:
    size: int
    walls: list[list[int]]
    start: tuple[int, int]
    cells: list[Cell]
    low: float  # what the palest colour stands for
    high: float


@dataclass(frozen=True)
class Table:
    """The value of every goal from every cell, for the page's script to redraw the map with."""

    levels: str  # [S, G] bytes, base64
    goal_cells: list[int]  # [G]


@dataclass(frozen=True)
class Maps:
    """What is drawn of one group: success over all its seeds, values of one run."""

    label: str
    n: int
    success: GridMap | None
    run: Run | None  # whose values they are
    values: GridMap | None
    table: Table | None


def draw(group: Group, num_maps: int) -> Maps:
    """The maps of a group whose goals have a layout, on a page with so many."""
    n, rates = len(group.last), goal_success(group)
    ordered = np.array([rates[name] for name in group.goals.names]) if n else None
    success = grid_map(group, ordered, 0.0, 1.0) if n else None
    run = next((run for run in group.runs if run.values is not None), None)
    if run is None:
        return Maps(group.label, n, success, None, None, None)
    low, high = float(run.values.min()), float(run.values.max())
    picture = grid_map(group, run.values[_start(group)], low, high)
    small = run.values.size <= MOST_EMBEDDED // num_maps
    return Maps(group.label, n, success, run, picture, _table(group, run) if small else None)


def grid_map(group: Group, numbers: np.ndarray, low: float, high: float) -> GridMap:
    """A map with one number per goal."""
    layout, goals = group.goals.layout, group.goals
    goal_at = dict(zip(layout.goal_cells.tolist(), range(len(goals.names)), strict=True))
    shades = levels(numbers, low, high)

    def cell(i: int, x: int, y: int) -> Cell:
        goal = goal_at.get(i)
        if goal is None:
            return Cell(x, y, None, f"({x}, {y}): no goal", True)
        text = f"{goals.names[goal]}: {numbers[goal]:.2f}"
        return Cell(x, y, COLOURS[shades[goal]], text, bool(goals.reachable[goal]))

    cells = [cell(i, x, y) for i, (x, y) in enumerate(layout.cells.tolist())]
    return GridMap(layout.size, layout.walls.tolist(), layout.start, cells, low, high)


def levels(numbers: np.ndarray, low: float, high: float) -> np.ndarray:
    """Numbers from low to high as bytes."""
    span = high - low or 1.0
    scaled = np.nan_to_num((np.asarray(numbers, float) - low) / span)
    return np.rint(np.clip(scaled, 0, 1) * (LEVELS - 1)).astype(np.uint8)


def _table(group: Group, run: Run) -> Table:
    shades = levels(run.values, float(run.values.min()), float(run.values.max()))
    encoded = base64.b64encode(shades.tobytes()).decode()
    return Table(encoded, group.goals.layout.goal_cells.tolist())


def _start(group: Group) -> int:
    layout = group.goals.layout
    return layout.cells.tolist().index(list(layout.start))
