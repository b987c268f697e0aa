"""Value iteration on a gridworld, in plain float64."""

import numpy as np

from allgoals.envs.gridworld import MOVES, Gridworld


def transitions(env: Gridworld) -> np.ndarray:
    """The free cell that each action leads to from each. [S, A]"""
    number = {tuple(cell): i for i, cell in enumerate(env.free_cells)}
    table = np.zeros((len(number), 4), int)
    for (x, y), i in number.items():
        for a, (dx, dy) in enumerate(MOVES):
            ahead = (int(np.clip(x + dx, 0, env.size - 1)), int(np.clip(y + dy, 0, env.size - 1)))
            table[i, a] = number.get(ahead, i)
    return table


def optimal_q(env: Gridworld, gamma: float) -> np.ndarray:
    """Q(s, a, g) where goal g is to stand on free cell g. [S, A, G]"""
    arrives = transitions(env)  # [S, A]
    states = len(arrives)
    reached = arrives[..., None] == np.arange(states)  # [S, A, G]
    q = np.zeros((states, 4, states))
    while True:
        updated = np.where(reached, 1.0, gamma * q.max(axis=1)[arrives])
        if np.abs(updated - q).max() < 1e-12:
            return updated
        q = updated


def distances(env: Gridworld) -> np.ndarray:
    """Length of the shortest walk, of one step or more, from cell to cell; inf if none. [S, S]"""
    arrives = transitions(env)
    states = len(arrives)
    d = np.full((states, states), np.inf)
    for _ in range(states + 1):
        onward = np.where(arrives[..., None] == np.arange(states), 0, d[arrives])  # [S, A, G]
        d = np.minimum(d, 1 + onward.min(axis=1))
    return d
