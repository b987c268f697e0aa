"""The goals of CraftaxGC as a table of conditions on an observation: 136 classic, 512 full.

A goal is a place in the observation and what must stand there: a number from `low` to `high`, or
one bit. Names and order are the paper's.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from allgoals.envs.craftax import (
    ARMOUR,
    CLASSIC_COUNTED,
    CLASSIC_MOBS,
    CLASSIC_TOOLS,
    COUNTED,
    Craftax,
    CraftaxClassic,
)
from allgoals.goals.base import binary
from allgoals.types import GoalOutcome, GoalSet, GridLayout, GridObs

SIDES = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
CELLS = tuple(SIDES.values())  # rows and columns away from the player; what a map goal can speak of
NO_CELL = len(CELLS)

CLASSIC_BLOCKS = {
    "OUT_OF_BOUNDS": 1, "GRASS": 2, "WATER": 3, "STONE": 4, "TREE": 5, "PATH": 7, "COAL": 8,
    "IRON": 9, "DIAMOND": 10, "CRAFTING_TABLE": 11, "FURNACE": 12, "SAND": 13, "LAVA": 14,
    "PLANT": 15, "RIPE_PLANT": 16,
}  # fmt: skip
BLOCKS = {name.lower(): value for name, value in CLASSIC_BLOCKS.items()} | {
    "wall": 17, "wall_moss": 19, "stalagmite": 20, "sapphire": 21, "ruby": 22, "chest": 23,
    "fountain": 24, "fire_grass": 25, "ice_grass": 26, "fire_tree": 28, "ice_shrub": 29,
    "enchanter_fire": 30, "enchanter_ice": 31, "necromancer": 32, "grave": 33, "grave2": 34,
    "grave3": 35, "necromancer_hurt": 36,
}  # fmt: skip
MOBS = {  # bits of each class's layer
    "melee": (
        "zombie", "gnome_warrior", "orc_soldier", "lizard", "knight", "troll", "pigman",
        "frost_troll",
    ),
    "passive": ("cow", "bat", "snail"),
    "ranged": (
        "skeleton", "gnome_archer", "orc_mage", "kobold", "knight_archer", "deep_thing",
        "fire_elemental", "ice_elemental",
    ),
    "mob_projectile": (
        "arrow", "dagger", "fireball", None, "arrow2", "slimeball", "fireball2", "iceball2",
    ),
    "player_projectile": (None, None, "player_fireball", "player_iceball", "player_arrow"),
}  # fmt: skip
ITEMS = {"torch": 1, "ladder_down": 2, "ladder_up": 3, "ladder_down_blocked": 4}
MATERIALS = {"wood": 1, "stone": 2, "iron": 3, "diamond": 4}
ARMOUR_MATERIALS = {"iron": 1, "diamond": 2}
ELEMENTS = {"fire": 1, "ice": 2}
STACKED = ("wood", "stone", "coal", "iron", "torches", "arrows")  # counted beyond nine, in fives


class Condition(NamedTuple):
    """What a goal asks of an observation."""

    name: str
    where: str  # the name of a map layer or of a vector entry
    low: int  # a number from low to high; of a layer of bits, the bit's number
    high: int
    side: str | None = None  # which neighbour of the player, for map layers


def classic_conditions() -> Iterator[Condition]:
    for item in CLASSIC_COUNTED:
        yield from _counts(item)
    for tool in CLASSIC_TOOLS:
        yield Condition(f"tools/{tool}", tool, 1, 1)
    yield from _beside("block_map", "block", CLASSIC_BLOCKS)
    yield from _beside("mob_map", "mob", _bits(CLASSIC_MOBS))


def conditions() -> Iterator[Condition]:
    for item in COUNTED:
        yield from _counts(item)
    for item in STACKED:
        for low in range(10, 100, 5):
            yield Condition(f"inventory/{item}_{low}-{low + 4}", item, low, low + 4)
    yield from _beside("block_map", "block", BLOCKS)
    for layer, mobs in MOBS.items():
        yield from _beside("mob_map", layer, _bits(mobs))
    yield from _beside("item_map", "item", ITEMS)
    for material, level in MATERIALS.items():
        for tool in ("pickaxe", "sword"):
            yield Condition(f"tools/{material}_{tool}", tool, level, level)
    yield Condition("tools/bow", "bow", 1, 1)
    for piece in ARMOUR:
        for material, level in ARMOUR_MATERIALS.items():
            yield Condition(f"tools/{material}_{piece}", piece, level, level)
    for piece in ARMOUR:
        for element, kind in ELEMENTS.items():
            yield Condition(f"enchant/{piece}_{element}", f"{piece}_enchantment", kind, kind)
    for element, kind in ELEMENTS.items():
        for weapon in ("sword", "bow"):
            yield Condition(f"enchant/{weapon}_{element}", f"{weapon}_enchantment", kind, kind)
    for floor in range(9):
        yield Condition(f"dungeon_level/dlvl_{floor}", "floor", floor, floor)
    for attribute in ("intelligence", "strength", "dexterity"):
        for level in range(2, 6):
            yield Condition(f"intrinsics/{attribute}_{level}", attribute, level, level)


def _counts(item: str) -> Iterator[Condition]:
    for n in range(1, 10):
        yield Condition(f"inventory/{item}_{n}", item, n, n)


def _bits(names: tuple[str | None, ...]) -> dict[str, int]:
    """The number of each named bit."""
    return {name: bit for bit, name in enumerate(names) if name}


def _beside(group: str, layer: str, things: dict[str, int]) -> Iterator[Condition]:
    for thing, value in things.items():
        for side in SIDES:
            yield Condition(f"{group}/{thing}_{side}", layer, value, value, side)


class CraftaxGoal(NamedTuple):
    """How goals look to a network that is told its goal: what the observation should hold."""

    vector: np.ndarray  # [G, widened vector] uint8, ones where the wanted numbers are
    thing: np.ndarray  # [G, channels] uint8, a one for the wanted block, item or mob
    cell: np.ndarray  # [G] uint8 where it should be, an index of CELLS


def craftax_goals(env: CraftaxClassic | Craftax) -> GoalSet:
    table = classic_conditions() if isinstance(env, CraftaxClassic) else conditions()
    return goals_from(list(table), env.layout)


def goals_from(table: list[Condition], layout: GridLayout) -> GoalSet:
    """Goals from conditions: `outcome` is one gather and two comparisons."""
    place, mask, low, high = np.array([_test(c, layout) for c in table]).T
    place = place.astype(np.int32)
    mask, low, high = (column.astype(np.uint8) for column in (mask, low, high))

    def outcome(obs: GridObs) -> GoalOutcome:
        flat = obs.map.reshape(*obs.map.shape[:-3], -1)
        found = jnp.concatenate([flat, obs.vector], axis=-1)[..., place] & mask
        return binary((found >= low) & (found <= high))

    return GoalSet(
        names=tuple(condition.name for condition in table),
        features=jax.tree.map(lambda *x: np.stack(x), *[_features(c, layout) for c in table]),
        outcome=outcome,
        bounded=True,
        reachable=None,
    )


def _test(condition: Condition, layout: GridLayout) -> tuple[int, int, int, int]:
    """Where to look in the flat observation, which bits count, and the range they must lie in."""
    height, width = layout.view
    depth = len(layout.layers)
    if condition.side is None:
        entries = [entry.name for entry in layout.entries]
        place = height * width * depth + entries.index(condition.where)
        return place, 255, condition.low, condition.high
    down, right = SIDES[condition.side]
    i = [layer.name for layer in layout.layers].index(condition.where)
    place = ((height // 2 + down) * width + width // 2 + right) * depth + i
    if layout.layers[i].bits:
        return place, 1 << condition.low, 1 << condition.low, 1 << condition.low
    return place, 255, condition.low, condition.high


def _features(condition: Condition, layout: GridLayout) -> CraftaxGoal:
    vector = np.zeros(sum(entry.size for entry in layout.entries), np.uint8)
    thing = np.zeros(layout.channels, np.uint8)
    if condition.side is not None:
        thing[_start(layout.layers, condition.where) + condition.low] = 1
        return CraftaxGoal(vector, thing, np.uint8(list(SIDES).index(condition.side)))
    start = _start(layout.entries, condition.where)
    single = any(e.name == condition.where and e.size == 1 for e in layout.entries)
    low, high = (0, 0) if single else (condition.low, condition.high)
    vector[start + low : start + high + 1] = 1
    return CraftaxGoal(vector, thing, np.uint8(NO_CELL))


def _start(parts: tuple, name: str) -> int:
    """Where a part begins once all parts are widened."""
    before = [part.name for part in parts].index(name)
    return sum(part.size for part in parts[:before])
