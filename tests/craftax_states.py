"""States of both games: generated, played on from, made by hand, and read without our tables."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import jax
import numpy as np

from allgoals.envs.craftax import observe, observe_classic
from allgoals.tasks import make_task
from allgoals.types import PyTree, Task

GAMES = ("craftax-classic", "craftax")
WORLDS = 64
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
MOBS = {
    "craftax-classic": ("zombies", "cows", "skeletons", "arrows"),
    "craftax": (
        "melee_mobs", "passive_mobs", "ranged_mobs", "mob_projectiles", "player_projectiles",
    ),
}  # fmt: skip
PIECES = ("helmet", "chestplate", "pants", "boots")
MISSPELT = {"orc_solider": "orc_soldier", "archer": "knight_archer"}
RENAMED = {
    "enchanter_fire": "enchantment_table_fire",
    "enchanter_ice": "enchantment_table_ice",
    "necromancer_hurt": "necromancer_vulnerable",
}


class Game(NamedTuple):
    task: Task
    constants: ModuleType  # of the craftax package, as is `parameters`
    parameters: ModuleType
    worlds: PyTree  # [WORLDS, ...] as generated
    step: Callable  # states, actions, keys -> Step, and which goals hold [WORLDS, G]
    judge: Callable  # states -> what is seen of them, and which goals hold
    view: Callable  # states -> the package's own observation, flat

    @property
    def is_full(self) -> bool:
        return self.task.name == "craftax"


@cache
def load(name: str) -> Game:
    task, is_full = make_task(name), name == "craftax"
    package = "craftax.craftax" if is_full else "craftax.craftax_classic"
    see = jax.vmap(observe if is_full else observe_classic)
    parameters = f"{package}.craftax_state" if is_full else f"{package}.envs.craftax_state"
    renderer = import_module(f"{package}.renderer")

    def step(state, action, key):
        after = jax.vmap(task.env.step)(state, action, key)
        return after, task.goals.outcome(after.obs).done

    def judge(state):
        obs = see(state)
        return obs, task.goals.outcome(obs).done

    def generate(keys):
        return jax.lax.map(lambda key: task.env.reset(key).state, keys)

    return Game(
        task,
        import_module(f"{package}.constants"),
        import_module(parameters),
        plain(quick(generate)(jax.random.split(jax.random.key(0), WORLDS))),
        quick(step),
        quick(judge),
        quick(jax.vmap(renderer.render_craftax_symbolic)),
    )


def quick(function: Callable) -> Callable:
    return jax.jit(function, compiler_options=QUICK)


def plain(state: PyTree) -> PyTree:
    """Arrays of numpy that may be written to."""
    return jax.tree.map(np.array, state.replace(state_rng=None))


def play(game: Game, state: PyTree, steps: int, seed: int) -> Iterator[tuple]:
    """Random actions: every state on the way, what is seen of it, and which goals hold."""
    random = np.random.default_rng(seed)
    for key in jax.random.split(jax.random.key(seed), steps):
        action = random.integers(0, game.task.num_actions, WORLDS, np.int32)
        after, done = game.step(state, action, jax.random.split(key, WORLDS))
        state = plain(after.state)
        yield state, jax.tree.map(np.asarray, after.obs), np.asarray(done)


def scrambled(game: Game, seed: int) -> PyTree:
    """Worlds, bags and creatures at random, many of them at the world's edge or in each other."""
    random = np.random.default_rng(seed)
    state = jax.tree.map(np.array, game.worlds)
    last = state.map.shape[-1] - 1

    def fill(array, low, high):
        array[...] = random.integers(low, high, array.shape)

    fill(state.map, 0, len(game.constants.BlockType))
    edge = random.choice([0, 1, last - 1, last], (WORLDS, 2))
    at_edge = random.random((WORLDS, 2)) < 0.4
    state.player_position[...] = np.where(at_edge, edge, random.integers(0, last + 1, (WORLDS, 2)))
    for held in jax.tree.leaves(state.inventory):
        fill(held, 0, 100 if game.is_full else 10)
    for name in ("food", "drink", "energy"):
        fill(getattr(state, f"player_{name}"), 0, 18 if game.is_full else 10)
    fill(state.player_direction, 1, 5)
    fill(state.is_sleeping, 0, 2)
    state.light_level[...] = random.random(WORLDS)
    for name in MOBS[game.task.name]:
        kind = getattr(state, name)
        centre = np.expand_dims(state.player_position, tuple(range(1, kind.position.ndim - 1)))
        near = random.random(kind.mask.shape) < 0.6
        away = np.where(near[..., None], 1, 9) * random.integers(-1, 2, kind.position.shape)
        away += np.where(near[..., None], 0, random.integers(-3, 4, kind.position.shape))
        kind.position[...] = np.clip(centre + away, 0, last)
        kind.position[::3, ..., 1, :] = kind.position[::3, ..., 0, :]
        kind.mask[...] = random.random(kind.mask.shape) < 0.6
        kind.mask[::8] = False
    if not game.is_full:
        fill(state.player_health, 0, 10)
        return state
    for name in MOBS["craftax"]:
        fill(getattr(state, name).type_id, 0, 3 if name == "passive_mobs" else 8)
    fill(state.item_map, 0, len(game.constants.ItemType))
    state.light_map[...] = random.choice(
        np.float32([0, 0.04, 0.05, 0.051, 0.5, 1]), state.light_map.shape
    )
    fill(state.player_level, 0, 9)
    state.player_health[...] = random.integers(0, 53, WORLDS) / 4
    fill(state.player_mana, 0, 22)
    fill(state.player_xp, 0, 13)
    for name in ("dexterity", "strength", "intelligence"):
        fill(getattr(state, f"player_{name}"), 1, 6)
    bag = state.inventory
    for array, most in [(bag.pickaxe, 4), (bag.sword, 4), (bag.bow, 1), (bag.armour, 2)]:
        fill(array, 0, most + 1)
    for array in (state.sword_enchantment, state.bow_enchantment, state.armour_enchantments):
        fill(array, 0, 3)
    for array in (state.is_resting, state.learned_spells):
        fill(array, 0, 2)
    fill(state.monsters_killed, 6, 11)
    fill(state.boss_timesteps_to_spawn_this_round, -1, 3)
    return state


def empty(game: Game) -> PyTree:
    """Nothing held, and nothing in sight that a goal speaks of."""
    state = jax.tree.map(np.array, game.worlds)
    state.map[...] = game.constants.BlockType.WOOD.value
    if game.is_full:
        state.item_map[...] = 0
        state.light_map[...] = 1
    for name in MOBS[game.task.name]:
        assert not getattr(state, name).mask.any()
    return state


def fulfil(game: Game, state: PyTree, row: int, name: str, most: bool) -> None:
    """Change a row of `empty` states into one of which the goal is true, just or amply."""
    group, what = name.split("/")
    bag, full = state.inventory, game.is_full
    if group == "inventory":
        item, low, high = amounts(what)
        getattr(bag, item)[row] = high if most else low
    elif group == "tools" and not full:
        getattr(bag, what)[row] = 9 if most else 1
    elif group in ("tools", "enchant", "intrinsics", "dungeon_level"):
        array, index, value = equipment(state, group, what)
        array[(row, *index)] = value
    else:
        thing, side = what.rsplit("_", 1)
        here = state.player_position[row]
        if thing.upper() == "OUT_OF_BOUNDS" and not full:
            away, last = direction(game, side), state.map.shape[-1] - 1
            here[...] = np.select([away < 0, away > 0], [0, last], here)
            return
        place = (row, *([0] if full else []), *(here + direction(game, side)))
        if group == "block_map":
            state.map[place] = block(game, thing)
        elif group == "item_map":
            state.item_map[place] = game.constants.ItemType[thing.upper()].value
        else:
            field, type_id = creatures(game)[thing]
            kind, one = getattr(state, field), (*place[:-2], -1 if most else 0)
            kind.position[one], kind.mask[one] = place[-2:], True
            if full:
                kind.type_id[one] = type_id


def holds(game: Game, state: PyTree, name: str) -> np.ndarray:
    """Whether the goal of this name is true, from the game's own numbers. [WORLDS]"""
    group, what = name.split("/")
    if group == "inventory":
        item, low, high = amounts(what)
        held = getattr(state.inventory, item)
        return (low <= held) & (held <= high)
    if group == "tools" and not game.is_full:
        return getattr(state.inventory, what) > 0
    if group in ("tools", "enchant", "intrinsics", "dungeon_level"):
        array, index, value = equipment(state, group, what)
        return array[(slice(None), *index)] == value
    thing, side = what.rsplit("_", 1)
    cell = state.player_position + direction(game, side)
    seen = look(on_floor(state, state.light_map), cell, 0.0) > 0.05 if game.is_full else True
    if group == "block_map":
        outside = game.constants.BlockType.OUT_OF_BOUNDS.value
        return seen & (look(on_floor(state, state.map), cell, outside) == block(game, thing))
    if group == "item_map":
        item = game.constants.ItemType[thing.upper()].value
        return seen & (look(on_floor(state, state.item_map), cell, 0) == item)
    field, type_id = creatures(game)[thing]
    kind = getattr(state, field)
    there = on_floor(state, kind.mask)
    there = there & (on_floor(state, kind.position) == cell[:, None]).all(-1)
    if game.is_full:
        there = there & (on_floor(state, kind.type_id) == type_id)
    return seen & there.any(-1)


def all_hold(game: Game, state: PyTree) -> np.ndarray:
    return np.stack([holds(game, state, name) for name in game.task.goals.names], axis=1)


def amounts(what: str) -> tuple[str, int, int]:
    item, amount = what.rsplit("_", 1)
    numbers = [int(n) for n in amount.split("-")]
    return item, numbers[0], numbers[-1]


def equipment(state: PyTree, group: str, what: str) -> tuple[np.ndarray, tuple[int, ...], int]:
    """Which number of the full game a goal speaks of, and what it should be."""
    if group == "dungeon_level":
        return state.player_level, (), int(what.removeprefix("dlvl_"))
    if what == "bow":
        return state.inventory.bow, (), 1
    first, second = what.split("_")
    if group == "intrinsics":
        return getattr(state, f"player_{first}"), (), int(second)
    if group == "enchant":
        value = {"fire": 1, "ice": 2}[second]
        if first in PIECES:
            return state.armour_enchantments, (PIECES.index(first),), value
        return getattr(state, f"{first}_enchantment"), (), value
    if second in PIECES:
        index = (PIECES.index(second),)
        return state.inventory.armour, index, {"iron": 1, "diamond": 2}[first]
    value = {"wood": 1, "stone": 2, "iron": 3, "diamond": 4}[first]
    return getattr(state.inventory, second), (), value


def block(game: Game, name: str) -> int:
    return game.constants.BlockType[RENAMED.get(name, name).upper()].value


def direction(game: Game, side: str) -> np.ndarray:
    return np.asarray(game.constants.DIRECTIONS)[game.constants.Action[side.upper()].value]


def creatures(game: Game) -> dict[str, tuple[str, int]]:
    """In which field of the state, and there with which type, creatures of a name are found."""
    if not game.is_full:
        return {kind.removesuffix("s"): (kind, 0) for kind in MOBS["craftax-classic"]}
    constants, found = game.constants, {}
    fields = {"passive_mobs": "PASSIVE", "melee_mobs": "MELEE", "ranged_mobs": "RANGED"}
    for field, kind in fields.items():
        row = np.asarray(constants.MOB_ACHIEVEMENT_MAP)[constants.MobType[kind].value]
        for type_id, achievement in enumerate(row):
            if achievement:
                _, name = constants.Achievement(achievement).name.lower().split("_", 1)
                found[MISSPELT.get(name, name)] = (field, type_id)
    for kind in constants.ProjectileType:
        found[kind.name.lower()] = ("mob_projectiles", kind.value)
    for name, kind in {"fireball": "FIREBALL", "iceball": "ICEBALL", "arrow": "ARROW2"}.items():
        found[f"player_{name}"] = ("player_projectiles", constants.ProjectileType[kind].value)
    return found


def on_floor(state: PyTree, array: np.ndarray) -> np.ndarray:
    """What the array holds of the floor that each player is on."""
    if not hasattr(state, "player_level"):
        return array
    return array[np.arange(len(array)), state.player_level]


def look(grid: np.ndarray, cell: np.ndarray, outside: float) -> np.ndarray:
    """The grids' values [N, H, W] at one cell each, or what lies outside the world."""
    inside = ((cell >= 0) & (cell < grid.shape[1:])).all(-1)
    row, column = np.where(inside[:, None], cell, 0).T
    return np.where(inside, grid[np.arange(len(grid)), row, column], outside)
