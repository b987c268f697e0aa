"""The maze from above: where the agent should go, the way it took, and whether it got there."""

from collections.abc import Iterable

import numpy as np
from PIL import Image, ImageDraw

from allgoals.envs.gridworld import Gridworld
from allgoals.render.caption import FAINT_INK, PAPER, SUCCESS, write_caption
from allgoals.render.caption import fitted as _fitted
from allgoals.render.caption import status as _status
from allgoals.render.episode import Episode

Point = tuple[float, float]

WIDTH, HEIGHT = 480, 528  # multiples of 16, as video likes them
MARGIN = 16
MAZE = WIDTH - 2 * MARGIN
NAME_LEFT = MARGIN + 24
NAME_LINE = MARGIN + MAZE + 24  # the middle of the caption's first line
DETAIL = 3  # shapes are drawn this many times larger, then shrunk, to be smooth

FREE = (236, 233, 226)
WALL = (72, 80, 95)
TRAIL = (126, 170, 220)
AGENT = (28, 92, 180)
GOAL = (226, 98, 66)
GLOW = (190, 224, 201)


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
    colour = SUCCESS if reached else GOAL
    shapes = _Shapes(_maze(env))
    shapes.trail(path, max(0.2 * side, 2.5))
    shapes.target(goal, max(0.4 * side, 6.5), colour, GLOW if reached else PAPER)
    shapes.agent(path[-1], max(0.23 * side, 3))
    shapes.disc((MARGIN + 7, NAME_LINE), 5, colour)
    picture = shapes.image.reduce(DETAIL)
    name = _fitted(episode.goal, WIDTH - MARGIN - NAME_LEFT)
    colour = colour if reached else FAINT_INK
    write_caption(picture, (NAME_LEFT, NAME_LINE), name, _status(episode, t), colour)
    return np.asarray(picture)


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


class _Shapes:
    """Draws on an enlarged picture in the coordinates of the final one."""

    def __init__(self, image: Image.Image):
        self.image = image
        self.pen = ImageDraw.Draw(image)

    def disc(self, centre: Point, radius: float, colour: tuple) -> None:
        self.pen.circle([DETAIL * c for c in centre], DETAIL * radius, fill=colour)

    def target(self, centre: Point, radius: float, colour: tuple, around: tuple) -> None:
        """A bull's-eye, set off from what surrounds it."""
        self.disc(centre, 1.2 * radius, around)
        self.disc(centre, radius, colour)
        self.disc(centre, 0.7 * radius, PAPER)
        self.disc(centre, 0.4 * radius, colour)

    def agent(self, centre: Point, radius: float) -> None:
        self.disc(centre, 1.3 * radius, PAPER)
        self.disc(centre, radius, AGENT)

    def trail(self, path: list[Point], width: float) -> None:
        thickness = round(DETAIL * width) | 1  # odd, so that line and joints are equally thick
        self.pen.line([(DETAIL * x, DETAIL * y) for x, y in path], TRAIL, thickness)
        for point in path:
            self.disc(point, (thickness - 1) / 2 / DETAIL, TRAIL)
