"""What a report needs to draw a task, computed while the agent is at hand."""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.algorithms.base import Algorithm
from allgoals.envs.ant_maze import AntMaze
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.maze import CELL
from allgoals.envs.point_maze import PointMaze
from allgoals.types import PyTree, Task

MOST_VALUES = 512 * 512


def layout(task: Task) -> dict[str, Any] | None:
    """Where walls, start and goals lie, as (x, y), for worlds that have a map."""
    if isinstance(task.env, Gridworld):
        return _grid(task.env.walls, task.env.start, _places(task, "position/"))
    at_cells = all(name.startswith("cell/") for name in task.goals.names)
    if not (isinstance(task.env, PointMaze | AntMaze) and at_cells):
        return None
    maze = task.env.maze
    goals = _places(task, "cell/")[:, ::-1]  # a maze counts rows first: they are the map's y
    return _grid(maze.walls.T, (maze.start / CELL)[::-1], goals)


def _places(task: Task, kind: str) -> np.ndarray:
    """The numbers in the goals' names. [G, 2]"""
    return np.array([name.removeprefix(kind).split("-") for name in task.goals.names], int)


def _grid(walls: np.ndarray, start: Iterable[float], goals: np.ndarray) -> dict[str, Any]:
    """A map of walls [x, y]; it is square, what lies beyond the walls stays empty."""
    return {
        "kind": "grid",
        "size": max(walls.shape),
        "walls": np.argwhere(walls).tolist(),
        "start": [int(n) for n in start],
        "cells": np.argwhere(~walls).tolist(),
        "goals": goals.tolist(),
    }


def value_table(task: Task, algorithm: Algorithm, learner: PyTree) -> np.ndarray | None:
    """The value of every goal from every free cell, [S, G]; None if too large, or if a cell does
    not tell the whole state."""
    if not isinstance(task.env, Gridworld):
        return None
    cells = jnp.asarray(task.env.free_cells, jnp.uint8)  # [S, 2]
    if len(cells) * task.num_goals > MOST_VALUES:
        return None

    @jax.jit
    def from_cell(cell):
        goals = jnp.arange(task.num_goals)
        here = jnp.broadcast_to(cell, (task.num_goals, 2))
        return algorithm.value(task, learner, here, goals)

    return np.stack([np.asarray(from_cell(cell)) for cell in cells]).astype(np.float16)
