"""Goals of a maze: stand within reach of a point.

The benchmark commands the centres of the free cells. A network that answers for every goal at once
needs finitely many: a grid over free space. A commanded goal is pursued by way of the nearest point
of the grid, and judged by where it truly is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import jax.numpy as jnp
import numpy as np

from allgoals.envs.maze import CELL, Maze
from allgoals.errors import UsageError, unknown
from allgoals.types import Array, GoalOutcome, GoalSet, GoalSpace

REACH = 0.5  # a goal is reached within this distance
POINTS_PER_CELL = 16  # commanded goals, where they may lie anywhere


@dataclass(frozen=True)
class MazeGoals:
    """How the goals of a maze are set."""

    commanded: Literal["cells", "anywhere"] = "cells"  # centres of cells, or points in free space
    reward: Literal["sparse", "dense"] = "sparse"  # 1 within reach, or the distance, negative
    ends: bool = False  # reaching a goal ends its pursuit
    spacing: float = 1.0  # between the points of the grid
    grid_reach: float = REACH  # a point of the grid counts as reached within this distance

    def __post_init__(self):
        if not 0.25 <= self.spacing <= CELL:
            raise ValueError(f"goals.maze.spacing must lie in 0.25..{CELL:g}, not {self.spacing}")
        if not 0 < self.grid_reach <= CELL:
            raise ValueError(
                f"goals.maze.grid-reach must be above 0 and at most {CELL:g}, not {self.grid_reach}"
            )


AROUND = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


def grid_points(maze: Maze, spacing: float, clearance: float = 0.0) -> np.ndarray:
    """Multiples of the spacing in free space, none closer to a wall than the clearance. [G, 2]"""
    rows, columns = maze.walls.shape
    axes = [np.arange(0, CELL * n, spacing) for n in (rows, columns)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    free = maze.is_free(points[:, None] + clearance * AROUND).all(axis=1)
    return points[free].astype(np.float32)


def scattered_points(maze: Maze) -> np.ndarray:
    """Points all over free space, the same ones every time, where a body finds room. [M, 2]"""
    draw = np.random.default_rng(0).uniform(-CELL / 2, CELL / 2, (1000 * len(maze.goals), 2))
    points = np.repeat(maze.goals, 1000, axis=0) + draw
    roomy = maze.is_free(points[:, None] + REACH * AROUND).all(axis=1)
    first = np.argsort(~roomy.reshape(-1, 1000), axis=1, kind="stable")[:, :POINTS_PER_CELL]
    rows = np.arange(len(maze.goals))[:, None] * 1000 + first
    return points[rows.ravel()].astype(np.float32)


def worst_error(maze: Maze, grid: np.ndarray, spacing: float) -> float:
    """How far from the grid a place lies at most where a body finds room."""
    places = grid_points(maze, spacing / 4)
    places = places[maze.is_free(places[:, None] + REACH * AROUND).all(axis=1)]
    worst = 0.0
    for some in np.array_split(places, len(places) // 1000 + 1):
        window = max(2 * spacing, CELL / 2)
        inside = (grid >= some.min(axis=0) - window) & (grid <= some.max(axis=0) + window)
        near = grid[inside.all(axis=1)]
        worst = max(worst, np.linalg.norm(some[:, None] - near, axis=-1).min(axis=1).max())
    return float(worst)


def nearest(points: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Which point of the grid lies nearest to each point. [M]"""
    return np.linalg.norm(points[:, None] - grid, axis=-1).argmin(axis=1)


def outcome(reward: str, reach: float, point: Array, goal: Array) -> GoalOutcome:
    """What standing at a point means to a goal. [..., 2] twice -> [...]"""
    distance = jnp.linalg.norm(point - goal, axis=-1)
    reached = distance < reach
    return GoalOutcome(reached if reward == "sparse" else -distance, reached)


def maze_goals(maze: Maze, options: MazeGoals, clearance: float = 0.0) -> GoalSet:
    """Goals of a maze, for a body that cannot reach what is closer to a wall than the clearance."""
    at_cells = options.commanded == "cells"
    points = maze.goals if at_cells else scattered_points(maze)
    grid = grid_points(maze, options.spacing, clearance)
    close = nearest(points, grid)
    offsets = np.abs(points - grid[close]).max(axis=0)
    errors = np.linalg.norm(points - grid[close], axis=1)
    error = errors.max() if at_cells else worst_error(maze, grid, options.spacing)
    space = GoalSpace(
        lambda obs: obs[..., :2], partial(outcome, options.reward, REACH), points, grid,
        grid_outcome=partial(outcome, options.reward, options.grid_reach),
        nearest=close,
        spread=tuple(np.maximum(offsets, options.spacing / 2).tolist()),
        snap_error=float(error),
    )  # fmt: skip
    names = tuple(
        f"cell/{i:.0f}-{j:.0f}" if at_cells else f"point/{x:.2f}-{y:.2f}"
        for (i, j), (x, y) in zip(points / CELL, points, strict=True)
    )
    bounded = options.reward == "sparse" and options.ends
    return _goal_set(names, space, bounded, options.ends)


def _goal_set(names: tuple[str, ...], space: GoalSpace, bounded: bool, ends: bool) -> GoalSet:
    """Goals at the points of a space."""
    return GoalSet(
        names, space.points,
        lambda obs: space.outcome(space.project(obs)[..., None, :], space.points),
        bounded, np.ones(len(names), bool), ends, space,
    )  # fmt: skip


def goals_at(goals: GoalSet, maze: Maze, names: Sequence[str]) -> GoalSet:
    """Goals by name: of a set, or anywhere in free space as point/X-Y, in metres."""
    points = np.array([_point(goals, maze, name) for name in names], np.float32)
    space = goals.space._replace(points=points, nearest=nearest(points, goals.space.grid))
    return _goal_set(tuple(names), space, goals.bounded, goals.ends)


def _point(goals: GoalSet, maze: Maze, name: str) -> Array:
    if name in goals.names:
        return goals.space.points[goals.names.index(name)]
    found = re.fullmatch(r"point/(\d+\.?\d*)-(\d+\.?\d*)", name)
    if not found:
        raise unknown("goal of this maze, nor a point/X-Y in metres:", name, goals.names)
    point = np.array([float(number) for number in found.groups()])
    if not maze.is_free(point):
        raise UsageError(f"{name} is not in the maze's free space")
    return point


def snap_warning(goals: GoalSpace, options: MazeGoals, flag: str) -> str:
    """What to know where standing at the nearest point of the grid may miss a goal, or nothing."""
    error = goals.snap_error
    if error + options.grid_reach <= REACH + 1e-6:
        return ""
    spacing = f"one that divides {CELL:g}, " if options.commanded == "cells" else ""
    return (
        f"goals of the grid lie up to {error:.2f} from the commanded ones and are reached within"
        f" {options.grid_reach:g}, a goal is reached within {REACH:g}: success can be missed."
        f" Choose another --goals.maze.spacing: {spacing}a finer one with a smaller"
        f" --goals.maze.grid-reach, or {flag}"
    )
