"""Mazes of square cells, as the JaxGCRL benchmark lays them out: where walls, start and goals are.

Cell (i, j) is the square of side `CELL` around the point (CELL i, CELL j).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

CELL = 4.0  # side of a cell, in metres

LAYOUTS = {  # rows run along x, columns along y; S is the start, every other free cell a goal
    "u": """
        #####
        #S  #
        ### #
        #   #
        #####""",
    "big": """
        ########
        #S ##  #
        #  #   #
        ##   ###
        #  #   #
        # #  # #
        #   #  #
        ########""",
    "hardest": """
        ############
        #S   #     #
        # ## # # # #
        #      #   #
        # #### ### #
        #  # #     #
        ## # # # ###
        #  #   #   #
        ############""",
}


@dataclass(frozen=True)
class Maze:
    """A layout and what follows from it."""

    name: str

    @cached_property
    def _letters(self) -> np.ndarray:  # [rows, columns]
        lines = LAYOUTS[self.name].strip("\n").splitlines()
        return np.array([list(line.strip()) for line in lines])

    @cached_property
    def walls(self) -> np.ndarray:  # [rows, columns] bool
        return self._letters == "#"

    @cached_property
    def start(self) -> np.ndarray:  # [2] a point
        return CELL * np.argwhere(self._letters == "S")[0].astype(np.float32)

    @cached_property
    def goal_cells(self) -> np.ndarray:  # [M, 2] cells, row by row
        return np.argwhere(self._letters == " ")

    @cached_property
    def goals(self) -> np.ndarray:  # [M, 2] points
        return CELL * self.goal_cells.astype(np.float32)

    @cached_property
    def middle(self) -> tuple[float, float]:  # a point
        return tuple(CELL * (n - 1) / 2 for n in self.walls.shape)

    @cached_property
    def extent(self) -> tuple[float, float]:  # how far goals lie from the middle
        return tuple(CELL * (n - 3) / 2 for n in self.walls.shape)

    def is_free(self, points: np.ndarray) -> np.ndarray:
        """Whether points lie in free cells. [..., 2] -> [...]"""
        i, j = np.moveaxis(np.floor(np.asarray(points) / CELL + 0.5).astype(int), -1, 0)
        rows, columns = self.walls.shape
        inside = (i >= 0) & (i < rows) & (j >= 0) & (j < columns)
        return inside & ~self.walls[np.clip(i, 0, rows - 1), np.clip(j, 0, columns - 1)]
