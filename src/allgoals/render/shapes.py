"""What pictures of mazes from above share: colours, smooth shapes, and the words below."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from allgoals.render.caption import FAINT_INK, PAPER, SUCCESS, write_caption

Point = tuple[float, float]

WIDTH = 480  # a multiple of 16, as video likes it
MARGIN = 16
MAZE = WIDTH - 2 * MARGIN
CAPTION = 64  # the height of the words below a maze
NAME_LEFT = MARGIN + 24
NAME_WIDTH = WIDTH - MARGIN - NAME_LEFT
DETAIL = 3  # shapes are drawn this many times larger, then shrunk, to be smooth

FREE = (236, 233, 226)
WALL = (72, 80, 95)
TRAIL = (126, 170, 220)
AGENT = (28, 92, 180)
GOAL = (226, 98, 66)
GLOW = (190, 224, 201)


class Shapes:
    """Draws on an enlarged picture in the coordinates of the final one."""

    def __init__(self, image: Image.Image):
        self.image = image
        self.pen = ImageDraw.Draw(image)

    def disc(self, centre: Point, radius: float, colour: tuple) -> None:
        self.pen.circle([DETAIL * c for c in centre], DETAIL * radius, fill=colour)

    def ring(self, centre: Point, radius: float, colour: tuple) -> None:
        """A circle one pixel wide."""
        self.pen.circle([DETAIL * c for c in centre], DETAIL * radius, outline=colour, width=DETAIL)

    def square(self, centre: Point, half: float, colour: tuple) -> None:
        """A square of side 2 `half`."""
        x, y = centre
        self.box((x - half, y - half), (x + half, y + half), colour)

    def box(self, first: Point, last: Point, colour: tuple) -> None:
        """A rectangle between two corners."""
        self.image.paste(colour, tuple(round(DETAIL * edge) for edge in (*first, *last)))

    def target(self, centre: Point, radius: float, colour: tuple, around: tuple) -> None:
        """A bull's-eye, set off from what surrounds it."""
        self.disc(centre, 1.2 * radius, around)
        self.disc(centre, radius, colour)
        self.disc(centre, 0.7 * radius, PAPER)
        self.disc(centre, 0.4 * radius, colour)

    def line(self, path: list[Point], width: float, colour: tuple) -> None:
        """A line with round ends and joints."""
        thickness = round(DETAIL * width) | 1  # odd, so that line and joints are equally thick
        self.pen.line([(DETAIL * x, DETAIL * y) for x, y in path], colour, thickness)
        for point in path:
            self.disc(point, (thickness - 1) / 2 / DETAIL, colour)

    def finish(
        self, name: tuple[str, ImageFont.FreeTypeFont], status: str, top: int, reached: bool
    ) -> np.ndarray:
        """The picture in its final size, with a fitted name and a status below `top`. [H, W, 3]"""
        middle = top + 24  # of the first line
        self.disc((MARGIN + 7, middle), 5, SUCCESS if reached else GOAL)
        picture = self.image.reduce(DETAIL)
        write_caption(picture, (NAME_LEFT, middle), name, status, SUCCESS if reached else FAINT_INK)
        return np.asarray(picture)
