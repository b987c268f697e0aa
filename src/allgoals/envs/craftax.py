"""Craftax-Classic and Craftax, as the `craftax` package has them, seen as small integers.

The package is imported when a world is first made: it takes seconds that a list of goals need not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import jax
import jax.numpy as jnp

from allgoals.envs.limits import check_time_limit
from allgoals.types import (
    Array,
    Discrete,
    Entry,
    GridLayout,
    GridObs,
    Key,
    Layer,
    PyTree,
    Reset,
    Step,
)

CLASSIC_BLOCKS = 17
CLASSIC_MOBS = ("zombie", "cow", "skeleton", "arrow")
CLASSIC_COUNTED = ("wood", "stone", "coal", "iron", "diamond", "sapling")
CLASSIC_TOOLS = (
    "wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword",
)  # fmt: skip
CLASSIC_INTRINSICS = ("health", "food", "drink", "energy")

CLASSIC_LAYOUT = GridLayout(
    view=(7, 9),
    layers=(Layer("block", CLASSIC_BLOCKS), Layer("mob", len(CLASSIC_MOBS), bits=True)),
    entries=(
        *(Entry(name, 10) for name in CLASSIC_COUNTED),
        *(Entry(name, 1) for name in CLASSIC_TOOLS),
        *(Entry(name, 10) for name in CLASSIC_INTRINSICS),
        Entry("direction", 5),
        Entry("light", 1, scale=255.0),
        Entry("sleeping", 1),
    ),
)

BLOCKS = 37
DARK = BLOCKS  # a cell without light shows this block, no item and no mob
MOB_CLASSES = ("melee", "passive", "ranged", "mob_projectile", "player_projectile")
COUNTED = (
    "wood", "stone", "coal", "iron", "diamond", "sapphire", "ruby", "sapling", "torches", "arrows",
)  # fmt: skip
ARMOUR = ("helmet", "chestplate", "pants", "boots")
POTIONS = ("red", "green", "blue", "pink", "cyan", "yellow")
INTRINSICS = {"health": 14, "food": 18, "drink": 18, "energy": 18, "mana": 22}
ATTRIBUTES = ("dexterity", "strength", "intelligence")

LAYOUT = GridLayout(
    view=(9, 11),
    layers=(
        Layer("block", BLOCKS + 1),
        Layer("item", 5),
        *(Layer(name, 8, bits=True) for name in MOB_CLASSES),
    ),
    entries=(
        *(Entry(name, 100) for name in COUNTED),
        Entry("books", 3),
        *(Entry(f"{colour}_potion", 10) for colour in POTIONS),
        Entry("pickaxe", 5),
        Entry("sword", 5),
        Entry("bow", 1),
        *(Entry(piece, 3) for piece in ARMOUR),
        Entry("sword_enchantment", 3),
        Entry("bow_enchantment", 3),
        *(Entry(f"{piece}_enchantment", 3) for piece in ARMOUR),
        *(Entry(name, size) for name, size in INTRINSICS.items()),
        Entry("xp", 10),
        *(Entry(name, 6) for name in ATTRIBUTES),
        Entry("floor", 9),
        Entry("direction", 5),
        Entry("light", 1, scale=255.0),
        Entry("sleeping", 1),
        Entry("resting", 1),
        Entry("fireball_learned", 1),
        Entry("iceball_learned", 1),
        Entry("floor_cleared", 1),
        Entry("boss_vulnerable", 1),
    ),
)


@dataclass(frozen=True)
class CraftaxClassic:
    """Survive, gather and craft in one open world."""

    max_steps: int = 10_000  # time limit, a truncation

    actions = Discrete(17)
    layout = CLASSIC_LAYOUT

    def __post_init__(self):
        check_time_limit(self.max_steps)

    def reset(self, key: Key) -> Reset:
        return classic_game().reset(key)

    def step(self, state: PyTree, action: Array, key: Key) -> Step:
        return classic_game().step(state, action, key, self.max_steps)


@dataclass(frozen=True)
class Craftax:
    """The same over nine floors with magic, bows and a boss; darkness hides what is there."""

    max_steps: int = 100_000  # time limit, a truncation

    actions = Discrete(43)
    layout = LAYOUT

    def __post_init__(self):
        check_time_limit(self.max_steps)

    def reset(self, key: Key) -> Reset:
        return full_game().reset(key)

    def step(self, state: PyTree, action: Array, key: Key) -> Step:
        return full_game().step(state, action, key, self.max_steps)


class Game(NamedTuple):
    """One of the package's two games, seen as we see it."""

    world_gen: ModuleType
    logic: ModuleType
    settings: tuple  # parameters, with a time limit that is never reached, and sizes
    over_settings: tuple  # as many of these as its `is_game_over` takes
    observe: Callable[[PyTree], GridObs]

    def reset(self, key: Key) -> Reset:
        state = self.world_gen.generate_world(key, *self.settings)
        return Reset(state, self.observe(state))

    def step(self, state: PyTree, action: Array, key: Key, max_steps: int) -> Step:
        """The game says when it is over; time is ours, and no reason to stop bootstrapping."""
        state, _ = self.logic.craftax_step(key, state, action, *self.settings)
        over = self.logic.is_game_over(state, *self.over_settings)
        return Step(state, self.observe(state), over, ~over & (state.timestep >= max_steps))


@cache
def classic_game() -> Game:
    world_gen, logic, state = _load("craftax_classic", "world_gen", "envs.craftax_state")
    settings = _settings(state)
    return Game(world_gen, logic, settings, settings[:1], observe_classic)


@cache
def full_game() -> Game:
    world_gen, logic, state = _load("craftax", "world_gen.world_gen", "craftax_state")
    settings = _settings(state)
    return Game(world_gen, logic, settings, settings, observe)


def _load(game: str, world_gen: str, state: str) -> list[ModuleType]:
    with jax.ensure_compile_time_eval():  # its constants must not belong to whoever is traced
        return [import_module(f"craftax.{game}.{m}") for m in (world_gen, "game_logic", state)]


def _settings(state: ModuleType) -> tuple:
    return state.EnvParams(max_timesteps=2**31 - 1), state.StaticEnvParams()


def observe_classic(state: PyTree) -> GridObs:
    """What the player sees, as `CLASSIC_LAYOUT` says."""
    rows, columns = _in_view(state.player_position, CLASSIC_LAYOUT.view)
    block = _crop(state.map, rows, columns, outside=1)
    kinds = (state.zombies, state.cows, state.skeletons, state.arrows)
    mobs = [
        _marks(kind.position, kind.mask, jnp.uint8(1 << i), rows, columns)
        for i, kind in enumerate(kinds)
    ]
    bag = state.inventory
    vector = [
        *(getattr(bag, name) for name in CLASSIC_COUNTED),
        *(jnp.minimum(getattr(bag, name), 1) for name in CLASSIC_TOOLS),
        *(getattr(state, f"player_{name}") for name in CLASSIC_INTRINSICS),
        state.player_direction,
        jnp.round(state.light_level * 255),
        state.is_sleeping,
    ]
    map_ = jnp.stack([block, sum(mobs[1:], mobs[0])], axis=-1)
    return GridObs(map_, _small(vector, CLASSIC_LAYOUT))


def observe(state: PyTree) -> GridObs:
    """What the player sees, as `LAYOUT` says."""
    floor = state.player_level
    rows, columns = _in_view(state.player_position, LAYOUT.view)
    lit = _crop(state.light_map[floor], rows, columns, outside=0.0, dtype=jnp.float32) > 0.05
    block = _crop(state.map[floor], rows, columns, outside=1)
    item = _crop(state.item_map[floor], rows, columns, outside=0)
    kinds = (
        state.melee_mobs, state.passive_mobs, state.ranged_mobs,
        state.mob_projectiles, state.player_projectiles,
    )  # fmt: skip
    mobs = [
        _marks(
            kind.position[floor], kind.mask[floor],
            jnp.uint8(1) << kind.type_id[floor].astype(jnp.uint8), rows, columns,
        )
        for kind in kinds
    ]  # fmt: skip
    shown = jnp.where(lit[..., None], jnp.stack([block, item, *mobs], axis=-1), 0)
    map_ = shown.at[..., 0].set(jnp.where(lit, block, DARK))
    return GridObs(map_, _small(_vector(state), LAYOUT))


def _vector(state: PyTree) -> list[Array]:
    bag, floor = state.inventory, state.player_level
    no_melee = ~state.melee_mobs.mask[floor].any()
    no_ranged = ~state.ranged_mobs.mask[floor].any()
    return [
        *(getattr(bag, name) for name in COUNTED),
        bag.books,
        *bag.potions,
        bag.pickaxe,
        bag.sword,
        jnp.minimum(bag.bow, 1),
        *bag.armour,
        state.sword_enchantment,
        state.bow_enchantment,
        *state.armour_enchantments,
        jnp.ceil(state.player_health),  # damage comes in fractions; 0 is dead
        state.player_food,
        state.player_drink,
        state.player_energy,
        state.player_mana,
        state.player_xp,
        *(getattr(state, f"player_{name}") for name in ATTRIBUTES),
        floor,
        state.player_direction,
        jnp.round(state.light_level * 255),
        state.is_sleeping,
        state.is_resting,
        *state.learned_spells,
        state.monsters_killed[floor] >= 8,
        no_melee & no_ranged & (state.boss_timesteps_to_spawn_this_round <= 0),
    ]


def _small(numbers: list[Array], layout: GridLayout) -> Array:
    """As bytes, each within its entry's values."""
    most = [255 if entry.scale > 1 else max(entry.size - 1, 1) for entry in layout.entries]
    stacked = jnp.stack([jnp.asarray(x).astype(jnp.int32) for x in numbers])
    return jnp.clip(stacked, 0, jnp.array(most)).astype(jnp.uint8)


def _in_view(position: Array, view: tuple[int, int]) -> tuple[Array, Array]:
    """The rows [H] and columns [W] of the world that the player in the middle can see."""
    height, width = view
    return (
        position[0] - height // 2 + jnp.arange(height),
        position[1] - width // 2 + jnp.arange(width),
    )


def _crop(grid: Array, rows: Array, columns: Array, outside: float, dtype=jnp.uint8) -> Array:
    """[H, W] of a grid, with a value of its own outside the world."""
    inside = (rows >= 0) & (rows < grid.shape[0])
    inside = inside[:, None] & (columns >= 0) & (columns < grid.shape[1])
    cells = grid.at[rows[:, None], columns].get(mode="clip")
    return jnp.where(inside, cells, outside).astype(dtype)


def _marks(position: Array, alive: Array, mark: Array, rows: Array, columns: Array) -> Array:
    """The marks of all creatures [M, 2] alive, where they stand. [H, W] uint8"""
    here = (position[:, :1] == rows)[:, :, None] & (position[:, 1:] == columns)[:, None, :]
    marks = jnp.where(here & alive[:, None, None], jnp.reshape(mark, (-1, 1, 1)), jnp.uint8(0))
    return jax.lax.reduce(marks, jnp.uint8(0), jax.lax.bitwise_or, (0,))
