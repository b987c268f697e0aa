"""The maze from above: where the agent should go, the way it took, and whether it got there."""

from collections.abc import Iterable

import numpy as np
from PIL import Image

from allgoals.envs.gridworld import Gridworld
from allgoals.render.caption import PAPER, SUCCESS
from allgoals.render.caption import fitted as _fitted
from allgoals.render.caption import status as _status
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

HEIGHT = MARGIN + MAZE + CAPTION


def cell_centre(env: Gridworld, cell: Iterable[float]) -> Point:
    """Where the middle of a cell lies in the picture."""
    x, y = cell
    side = _cell_side(env)
    spare = (MAZE - side * env.size) // 2
    return MARGIN + spare + side * (x + 0.5), MARGIN + spare + side * (y + 0.5)


def goal_cell(goal: str) -> tuple[int, int]:
    """The cell a goal's name speaks of."""
    x, y = goal.removeprefix("position/").split("-")
    return int(x), int(y)


def draw(env: Gridworld, episode: Episode, t: int) -> np.ndarray:
    """The episode after `t` actions. [HEIGHT, WIDTH, 3] uint8"""
    side = _cell_side(env)
    reached = t == episode.success_step
    path = [cell_centre(env, state.position) for state in episode.states[: t + 1]]
    goal = cell_centre(env, goal_cell(episode.goal))
    colour, around = (SUCCESS, GLOW) if reached else (GOAL, PAPER)
    radius = max(0.23 * side, 3)
    shapes = Shapes(_maze(env))
    shapes.line(path, max(0.2 * side, 2.5), TRAIL)
    shapes.target(goal, max(0.4 * side, 6.5), colour, around)
    shapes.disc(path[-1], 1.3 * radius, PAPER)
    shapes.disc(path[-1], radius, AGENT)
    name = _fitted(episode.goal, NAME_WIDTH)
    return shapes.finish(name, _status(episode, t), MARGIN + MAZE, reached)


def _cell_side(env: Gridworld) -> int:
    return max(1, MAZE // env.size)


def _maze(env: Gridworld) -> Image.Image:
    """Walls and free cells on paper, enlarged."""
    side = _cell_side(env)
    cells = np.where(env.walls.T[..., None], WALL, FREE).astype(np.uint8)  # [y, x, 3]
    maze = Image.fromarray(cells).resize((side * env.size * DETAIL,) * 2, Image.Resampling.NEAREST)
    picture = Image.new("RGB", (WIDTH * DETAIL, HEIGHT * DETAIL), PAPER)
    left, top = cell_centre(env, (-0.5, -0.5))
    picture.paste(maze, (int(left) * DETAIL, int(top) * DETAIL))
    return picture
