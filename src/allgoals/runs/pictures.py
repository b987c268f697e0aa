"""What a report needs to draw a task, computed while the agent is at hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.algorithms.base import Algorithm
from allgoals.envs.gridworld import Gridworld
from allgoals.types import PyTree, Task

MOST_VALUES = 512 * 512


def layout(task: Task) -> dict[str, Any] | None:
    """Where walls, start and goals lie, for worlds that have a map."""
    if not isinstance(task.env, Gridworld):
        return None
    names = [name.removeprefix("position/") for name in task.goals.names]
    return {
        "kind": "grid",
        "size": task.env.size,
        "walls": np.argwhere(task.env.walls).tolist(),
        "start": list(task.env.start),
        "cells": task.env.free_cells.tolist(),
        "goals": [[int(n) for n in name.split("-")] for name in names],
    }


def value_table(task: Task, algorithm: Algorithm, learner: PyTree) -> np.ndarray | None:
    """The value of every goal from every free cell, [S, G]; None without a map or if too large."""
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
