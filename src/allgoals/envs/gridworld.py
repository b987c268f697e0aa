"""A maze with random walls: the smallest world in which every method can be checked exactly."""

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from allgoals.envs.limits import check_time_limit
from allgoals.types import Array, Discrete, Key, Reset, Step

MOVES = np.array([[0, -1], [0, 1], [-1, 0], [1, 0]], np.int32)  # up, down, left, right, as (x, y)


class GridworldState(NamedTuple):
    position: Array  # [2] (x, y)
    time: Array


@dataclass(frozen=True)
class Gridworld:
    """Walk in four directions; walls block, edges clip, only time ends an episode."""

    size: int = 16  # cells along each side
    wall_probability: float = 0.3  # chance that a cell is a wall; the centre never is
    map_seed: int = 0  # which map
    max_steps: int = 200  # time limit, a truncation

    actions = Discrete(4)

    def __post_init__(self):
        if not 2 <= self.size <= 256:
            raise ValueError(f"env.size must lie in 2..256, not {self.size}")
        if not 0 <= self.wall_probability <= 1:
            raise ValueError(f"env.wall-probability must lie in 0..1, not {self.wall_probability}")
        if self.map_seed < 0:
            raise ValueError(f"env.map-seed must be 0 or more, not {self.map_seed}")
        check_time_limit(self.max_steps)

    @property
    def start(self) -> tuple[int, int]:
        return self.size // 2, self.size // 2

    @cached_property
    def walls(self) -> np.ndarray:  # [size, size] indexed [x, y]
        random = np.random.default_rng(self.map_seed)
        walls = random.random((self.size, self.size)) < self.wall_probability
        walls[self.start] = False
        return walls

    @cached_property
    def free_cells(self) -> np.ndarray:  # [G, 2]
        return np.argwhere(~self.walls)

    @cached_property
    def distance(self) -> np.ndarray:  # [size, size] steps from the start, -1 where no path leads
        distance = np.full(self.walls.shape, -1)
        distance[self.start] = 0
        frontier = deque([self.start])
        while frontier:
            x, y = frontier.popleft()
            near = [(x + dx, y + dy) for dx, dy in MOVES.tolist()]
            fresh = [cell for cell in near if self._is_free(*cell) and distance[cell] < 0]
            for cell in fresh:
                distance[cell] = distance[x, y] + 1
            frontier.extend(fresh)
        return distance

    def _is_free(self, x: int, y: int) -> bool:
        return 0 <= x < self.size and 0 <= y < self.size and not self.walls[x, y]

    def reset(self, key: Key) -> Reset:
        del key  # every episode starts in the centre
        state = GridworldState(jnp.array(self.start, jnp.int32), jnp.int32(0))
        return Reset(state, self.observe(state))

    def step(self, state: GridworldState, action: Array, key: Key) -> Step:
        del key  # moves are certain
        ahead = jnp.clip(state.position + jnp.asarray(MOVES)[action], 0, self.size - 1)
        blocked = jnp.asarray(self.walls)[ahead[0], ahead[1]]
        state = GridworldState(jnp.where(blocked, state.position, ahead), state.time + 1)
        return Step(state, self.observe(state), jnp.bool_(False), state.time >= self.max_steps)

    def observe(self, state: GridworldState) -> Array:
        return state.position.astype(jnp.uint8)
