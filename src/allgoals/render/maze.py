"""Continuous mazes from above, to scale: rows run down and columns to the right, as layouts print.

A body is drawn where it is, with the way it took; the circle around the goal is how near it must
come.
"""

from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from allgoals.envs.ant_maze import LEGS, AntMaze
from allgoals.envs.maze import CELL, Maze
from allgoals.envs.point_maze import RADIUS, PointMaze
from allgoals.goals.maze import REACH
from allgoals.render.caption import PAPER, SUCCESS, fitted, status
from allgoals.render.episode import Episode
from allgoals.render.shapes import (
    AGENT,
    CAPTION,
    DETAIL,
    FREE,
    GLOW,
    GOAL,
    MARGIN,
    MAZE,
    NAME_WIDTH,
    TRAIL,
    WALL,
    WIDTH,
    Point,
    Shapes,
)
from allgoals.types import PyTree

EDGE = CELL / 2 - 1.0  # where pictures begin: a metre of the outer walls is shown
TORSO, LIMB = 0.25, 0.08  # radii of the ant's parts, in metres
SHIN = 0.4  # from an ankle to its foot, along each axis
HALO = 1.5  # pixels of paper around a body


def draw(env: PointMaze | AntMaze, episode: Episode, t: int) -> np.ndarray:
    """The episode after `t` actions. [H, WIDTH, 3] uint8"""
    maze, reached = env.maze, t == episode.success_step
    metre = scale(maze)
    path = [place(maze, _position(env, state)) for state in episode.states[: t + 1]]
    goal = place(maze, goal_point(episode.goal))
    colour, around = (SUCCESS, GLOW) if reached else (GOAL, PAPER)
    shapes = Shapes(_ground(maze).copy())
    shapes.disc(goal, REACH * metre, around)
    shapes.line(path, max(0.1 * metre, 2), TRAIL)
    shapes.target(goal, 0.6 * REACH * metre, colour, around)
    if isinstance(env, AntMaze):
        _draw_ant(shapes, maze, episode.states[t].body)
    else:
        shapes.square(path[-1], RADIUS * metre + HALO, PAPER)
        shapes.square(path[-1], RADIUS * metre, AGENT)
    shapes.ring(goal, REACH * metre, colour)
    name = fitted(episode.goal, NAME_WIDTH)
    return shapes.finish(name, status(episode, t), _bottom(maze), reached)


def goal_point(goal: str) -> Point:
    """Where the goal of a name lies, in metres."""
    kind, numbers = goal.split("/")
    x, y = map(float, numbers.split("-"))
    return (CELL * x, CELL * y) if kind == "cell" else (x, y)


def scale(maze: Maze) -> float:
    """How many pixels a metre has; a cell has a whole number of them."""
    return int(CELL * MAZE / _extent(maze)[1]) / CELL


def place(maze: Maze, point: Point) -> Point:
    """Where a point of the maze lies in the picture."""
    (x, y), metre = point, scale(maze)
    spare = (MAZE - metre * _extent(maze)[1]) // 2
    return MARGIN + spare + metre * (y - EDGE), MARGIN + metre * (x - EDGE)


def _extent(maze: Maze) -> tuple[float, float]:
    """How many metres are shown along x and y."""
    rows, columns = maze.walls.shape
    return CELL * (rows - 1) - 2 * EDGE, CELL * (columns - 1) - 2 * EDGE


def _bottom(maze: Maze) -> int:
    """Where the maze ends in the picture."""
    return int(MARGIN + scale(maze) * _extent(maze)[0])


@cache
def _ground(maze: Maze) -> Image.Image:
    """Walls and free cells on paper, enlarged."""
    height = -(-(_bottom(maze) + CAPTION) // 16) * 16  # as video likes it
    shapes = Shapes(Image.new("RGB", (DETAIL * WIDTH, DETAIL * height), PAPER))
    first, last = (EDGE, EDGE), tuple(EDGE + metres for metres in _extent(maze))
    shapes.box(place(maze, first), place(maze, last), WALL)
    for cell in np.argwhere(~maze.walls):
        shapes.square(place(maze, CELL * cell), scale(maze) * CELL / 2, FREE)
    return shapes.image


def _position(env: PointMaze | AntMaze, state: PyTree) -> np.ndarray:  # [2]
    return state.body.x.pos[0, :2] if isinstance(env, AntMaze) else state.position


def _draw_ant(shapes: Shapes, maze: Maze, body: Any) -> None:
    metre = scale(maze)
    torso = place(maze, body.x.pos[0, :2])
    paths = [[place(maze, joint) for joint in leg] for leg in legs(body)]
    for halo, colour in ((HALO, PAPER), (0, AGENT)):
        for path in paths:
            shapes.line(path, 2 * (LIMB * metre + halo), colour)
        shapes.disc(torso, TORSO * metre + halo, colour)


def legs(body: Any) -> np.ndarray:
    """Torso, hip, ankle and foot of every leg, from above. [4, 4, 2]"""
    places, rotations = np.asarray(body.x.pos), np.asarray(body.x.rot)  # [9, 3] and [9, 4]
    torso, hips, ankles = places[:1].repeat(4, axis=0), places[1::2], places[2::2]  # [4, 3] each
    shins = SHIN * np.array([(x, y, 0) for x, y in LEGS])
    feet = ankles + _rotated(shins, rotations[2::2])
    return np.stack([torso, hips, ankles, feet], axis=1)[..., :2]


def _rotated(vectors: np.ndarray, quaternions: np.ndarray) -> np.ndarray:
    """Vectors [n, 3], each turned by its quaternion (w, x, y, z). [n, 3]"""
    w, axis = quaternions[:, :1], quaternions[:, 1:]
    half = np.cross(axis, vectors)
    return vectors + 2 * (w * half + np.cross(axis, half))
