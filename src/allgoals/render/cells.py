"""Worlds as letters: coloured cells of two characters, and what they mean."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from rich.style import Style
from rich.text import Text

from allgoals.envs.craftax import CLASSIC_MOBS, DARK, Craftax, CraftaxClassic
from allgoals.envs.gridworld import Gridworld
from allgoals.goals.craftax import MOBS
from allgoals.render.caption import PAPER
from allgoals.render.gridworld import AGENT, FREE, GOAL, WALL, goal_cell
from allgoals.types import GridLayout, GridObs, Obs


class Cell(NamedTuple):
    """One kind of cell."""

    name: str
    letters: str  # two of them
    ink: str
    ground: str

    @property
    def text(self) -> Text:
        return Text(self.letters, Style(color=self.ink, bgcolor=self.ground))


class View(NamedTuple):
    """What a player sees and has."""

    rows: list[list[Cell]]
    numbers: list[dict[str, str]]  # each a group of names and values

    @property
    def kinds(self) -> list[Cell]:
        """Each kind of cell in view once, as a legend wants them."""
        return list(dict.fromkeys(cell for row in self.rows for cell in row))


def _colour(rgb: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*rgb)


YOU = Cell("you", "@@", _colour(PAPER), _colour(AGENT))
WANTED = Cell("goal", "<>", _colour(PAPER), _colour(GOAL))
MAZE_WALL = Cell("wall", "##", _colour(PAPER), _colour(WALL))
MAZE_FREE = Cell("free", "  ", _colour(WALL), _colour(FREE))

BLOCKS = (
    Cell("nothing", "  ", "#000000", "#000000"),
    Cell("edge", "  ", "#303030", "#303030"),
    Cell("grass", ",,", "#5aa84a", "#2f7d32"),
    Cell("water", "~~", "#a8d0ff", "#2a62c8"),
    Cell("stone", "%%", "#a0a0a0", "#6e6e6e"),
    Cell("tree", "tr", "#c8f0b0", "#14501c"),
    Cell("wood", "wo", "#f0d8a8", "#7a5528"),
    Cell("path", "..", "#a08a68", "#7d6a4c"),
    Cell("coal", "co", "#f0f0f0", "#1c1c1c"),
    Cell("iron", "ir", "#3c2010", "#d8a888"),
    Cell("diamond", "di", "#103840", "#b8f4f8"),
    Cell("table", "ta", "#fff0c8", "#8a4f20"),
    Cell("furnace", "fu", "#ffc060", "#404040"),
    Cell("sand", "::", "#b8a468", "#dcc88c"),
    Cell("lava", "!!", "#ffe060", "#d84010"),
    Cell("plant", "pl", "#f0ffb0", "#3f9a35"),
    Cell("ripe plant", "rp", "#ffffff", "#b03070"),
    Cell("wall", "##", "#b0a8b8", "#544c60"),
    Cell("darkness", "  ", "#000000", "#000000"),
    Cell("mossy wall", "#m", "#a8d890", "#445540"),
    Cell("stalagmite", "/\\", "#d8d0c0", "#58504c"),
    Cell("sapphire", "sa", "#ffffff", "#2038d0"),
    Cell("ruby", "ru", "#ffffff", "#c01030"),
    Cell("chest", "ch", "#402000", "#e0a030"),
    Cell("fountain", "fo", "#102050", "#90c0f0"),
    Cell("fire grass", ",,", "#f09060", "#903818"),
    Cell("ice grass", ",,", "#ffffff", "#90b8d8"),
    Cell("gravel", "..", "#c8c0b8", "#88807c"),
    Cell("fire tree", "ft", "#ffd080", "#701808"),
    Cell("ice shrub", "is", "#204868", "#d8f0ff"),
    Cell("fire enchanter", "ef", "#ffffff", "#c84818"),
    Cell("ice enchanter", "ei", "#ffffff", "#3090c0"),
    Cell("necromancer", "ne", "#e0ffb0", "#402060"),
    Cell("grave", "gr", "#e8e8e8", "#4c4448"),
    Cell("grave", "gr", "#e8e8e8", "#4c4448"),
    Cell("grave", "gr", "#e8e8e8", "#4c4448"),
    Cell("necromancer, hurt", "nh", "#ffffff", "#a02080"),
    Cell("dark", "  ", "#101018", "#101018"),
)
assert len(BLOCKS) == DARK + 1
ITEMS = {1: ("torch", "**"), 2: ("down", ">>"), 3: ("up", "<<"), 4: ("down, shut", ">x")}
ARROWS = " <>^v"  # the player's directions
HARMLESS = {"cow", "bat", "snail"}
PLAYER = "#1c5cb4"
PALE, RED = "#f0ece4", "#a01818"

APART = {"direction"}  # shown by the player's arrow
OWN = {
    "health", "food", "drink", "energy", "mana", "xp", "dexterity", "strength", "intelligence",
    "floor", "light", "sleeping", "resting", "floor_cleared", "boss_vulnerable",
}  # fmt: skip


def view_maze(env: Gridworld, obs: Obs, wanted: Iterable[str]) -> View:
    """The maze from above, with the wanted cells marked."""
    cells = [[MAZE_WALL if wall else MAZE_FREE for wall in row] for row in env.walls.T]
    for x, y in map(goal_cell, wanted):
        cells[y][x] = WANTED
    x, y = map(int, obs)
    cells[y][x] = YOU
    return View(cells, [])


def view_craftax(env: CraftaxClassic | Craftax, obs: GridObs, wanted: Iterable[str]) -> View:
    """The player in the middle of what it sees, what it is and what it has."""
    del wanted  # a goal here is no place
    layers = [layer.name for layer in env.layout.layers]
    rows = [
        [_cell(dict(zip(layers, seen, strict=True))) for seen in row] for row in obs.map.tolist()
    ]
    height, width = env.layout.view
    own, carried = _numbers(env.layout, obs.vector)
    direction = int(obs.vector[[entry.name for entry in env.layout.entries].index("direction")])
    rows[height // 2][width // 2] = Cell("you", "@" + ARROWS[direction], "#ffffff", PLAYER)
    return View(rows, [own, carried])


def _cell(seen: dict[str, int]) -> Cell:
    """What stands out of all that is on a cell: a creature, an item, else the block."""
    block = BLOCKS[seen["block"]]
    for mob in _mobs(seen):
        return Cell(mob.replace("_", " "), _initials(mob), *_mob_colours(mob))
    if item := seen.get("item"):
        return Cell(*ITEMS[item], "#ffe890", block.ground)
    return block


def _mobs(seen: dict[str, int]) -> list[str]:
    """The names of the creatures and missiles whose bits are set."""
    if "mob" in seen:
        return [name for bit, name in enumerate(CLASSIC_MOBS) if seen["mob"] >> bit & 1]
    return [
        (name or layer).removeprefix("player_").rstrip("2")
        for layer, names in MOBS.items()
        for bit, name in enumerate(names)
        if seen[layer] >> bit & 1
    ]


def _initials(name: str) -> str:
    """Two capitals: of two words their first letters, of one its first two."""
    first, *others = name.split("_")
    return (first[0] + others[0][0] if others else first[:2]).upper()


def _mob_colours(name: str) -> tuple[str, str]:
    return (RED, PALE) if name in HARMLESS else (PALE, RED)


def _numbers(layout: GridLayout, vector: np.ndarray) -> tuple[dict[str, str], dict[str, str]]:
    """What is not zero: of the player itself, and of what it carries."""
    own, carried = {}, {}
    for entry, value in zip(layout.entries, vector.tolist(), strict=True):
        shown = f"{value / entry.scale:.0%}" if entry.scale > 1 else str(value)
        if value and entry.name not in APART:
            (own if entry.name in OWN else carried)[entry.name.replace("_", " ")] = shown
    return own, carried


VIEWS = {Gridworld: view_maze, CraftaxClassic: view_craftax, Craftax: view_craftax}
