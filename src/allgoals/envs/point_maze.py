"""A point pushed through a maze: the ant mazes' layouts and goals without the ant."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.envs.limits import check_time_limit
from allgoals.envs.maze import CELL, Maze
from allgoals.types import Array, Box, Key, Reset, Step

RADIUS = 0.5  # half the side of the body, a square
PUSH = 0.2  # what a full action adds to the velocity, metres per step
GLIDE = 0.8  # share of the velocity that lasts
TOP_SPEED = PUSH / (1 - GLIDE)
CLEARANCE = 1e-3  # kept from walls, so that rounding never puts the body inside one


class PointState(NamedTuple):
    position: Array  # [2]
    velocity: Array  # [2]
    time: Array


@dataclass(frozen=True)
class PointMaze:
    """Push a sliding body in two directions; walls stop it, only time ends an episode."""

    max_steps: int = 200  # time limit, a truncation

    layout = "u"
    actions = Box(2)
    falls = False
    clearance = 0.01  # the body's middle comes half its side near a wall, so no goal on one is met

    def __post_init__(self):
        check_time_limit(self.max_steps)

    @cached_property
    def maze(self) -> Maze:
        return Maze(self.layout)

    def reset(self, key: Key) -> Reset:
        shift = jax.random.uniform(key, (2,), minval=-0.1, maxval=0.1)
        state = PointState(self.maze.start + shift, jnp.zeros(2), jnp.int32(0))
        return Reset(state, self.observe(state))

    def step(self, state: PointState, action: Array, key: Key) -> Step:
        del key  # pushes are certain
        velocity = GLIDE * state.velocity + PUSH * jnp.clip(action, -1.0, 1.0)
        position = state.position
        for axis in range(2):  # one after the other: a body slides along a wall
            position, velocity = self._move(position, velocity, axis)
        state = PointState(position, velocity, state.time + 1)
        return Step(state, self.observe(state), jnp.bool_(False), state.time >= self.max_steps)

    def _move(self, position: Array, velocity: Array, axis: int) -> tuple[Array, Array]:
        """Move along one axis, up to a wall at most."""
        direction = jnp.sign(velocity[axis])
        ahead = position.at[axis].add(velocity[axis])
        corners = jnp.array([[1.0, 1.0], [-1.0, -1.0]]).at[:, axis].set(direction)  # leading ones
        cells = jnp.floor((ahead + RADIUS * corners) / CELL + 0.5).astype(jnp.int32)
        blocked = jnp.asarray(self.maze.walls)[cells[:, 0], cells[:, 1]].any()
        face = CELL * (cells[0, axis] - 0.5 * direction)
        at_wall = position.at[axis].set(face - direction * (RADIUS + CLEARANCE))
        stopped = velocity.at[axis].set(0.0)
        return jnp.where(blocked, at_wall, ahead), jnp.where(blocked, stopped, velocity)

    def observe(self, state: PointState) -> Array:  # [4]
        return jnp.concatenate([state.position, state.velocity])


class PointUMaze(PointMaze):
    layout = "u"


class PointBigMaze(PointMaze):
    layout = "big"
