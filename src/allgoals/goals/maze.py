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
from scipy.spatial import KDTree

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


def off_grid(points: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """From the nearest point of the grid to each point. [M, 2]"""
    return points - grid[nearest(points, grid)]


def nearest(points: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Which point of the grid lies nearest to each point. [M]"""
    return KDTree(grid).query(points)[1]


def roomy_places(maze: Maze, spacing: float) -> np.ndarray:
    """Places all over free space where a body finds room, close together. [P, 2]"""
    places = grid_points(maze, min(spacing / 4, 0.125))
    return places[maze.is_free(places[:, None] + REACH * AROUND).all(axis=1)]


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
    of_points = off_grid(points, grid)
    of_all = np.concatenate([of_points, off_grid(roomy_places(maze, options.spacing), grid)])
    farthest = np.abs(of_all).max(axis=0)
    space = GoalSpace(
        lambda obs: obs[..., :2], partial(outcome, options.reward, REACH), points, grid,
        grid_outcome=partial(outcome, options.reward, options.grid_reach),
        grid_reach=options.grid_reach,
        nearest=nearest(points, grid),
        spread=tuple(np.maximum(farthest, options.spacing / 2).tolist()),
        snap_error=_worst(of_points if at_cells else of_all),
    )  # fmt: skip
    names = tuple(
        f"cell/{i:.0f}-{j:.0f}" if at_cells else f"point/{x:.2f}-{y:.2f}"
        for (i, j), (x, y) in zip(points / CELL, points, strict=True)
    )
    bounded = options.reward == "sparse" and options.ends
    return _goal_set(names, space, bounded, options.ends)


def _worst(offsets: np.ndarray) -> float:
    return float(np.linalg.norm(offsets, axis=1).max())


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
    grid = goals.space.grid
    space = goals.space._replace(
        points=points, nearest=nearest(points, grid), snap_error=_worst(off_grid(points, grid))
    )
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


def snap_warning(space: GoalSpace, flag: str) -> str:
    """What to know where standing at the nearest point of the grid may miss a goal, or nothing."""
    if space.snap_error + space.grid_reach <= REACH + 1e-6:
        return ""
    return (
        f"goals of the grid lie up to {space.snap_error:.2f} from the commanded ones and are"
        f" reached within {space.grid_reach:g}, a goal is reached within {REACH:g}: success can be"
        f" missed. Train with another --goals.maze.spacing: one that divides {CELL:g} where cells"
        f" are commanded, a finer one with a smaller --goals.maze.grid-reach; or with {flag}"
    )
