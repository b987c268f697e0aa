"""Both games: what is seen of a state, how episodes end, and where worlds come from."""

from importlib import import_module

import jax
import numpy as np
import pytest

from allgoals.envs.craftax import DARK, LAYOUT, Craftax, CraftaxClassic
from allgoals.envs.vector import VectorEnv
from allgoals.goals.samplers import uniform
from allgoals.networks.encoders import widen_map
from allgoals.rollout import collect, start
from allgoals.tasks import make_task
from tests.craftax_states import (
    GAMES,
    MOBS,
    PIECES,
    WORLDS,
    empty,
    load,
    look,
    on_floor,
    plain,
    play,
    quick,
    scrambled,
)

STEPS, TIME, BLOCK = 30, 5, 16


@pytest.fixture(scope="module", params=GAMES)
def game(request):
    return load(request.param)


@pytest.fixture(scope="module")
def sights(game):
    """States, what is seen of them, and what the package's own observation shows."""
    made = [game.worlds, *(scrambled(game, seed) for seed in range(4))]
    seen = [(state, jax.tree.map(np.asarray, game.judge(state)[0])) for state in made]
    seen += [(state, obs) for state, obs, _ in play(game, scrambled(game, 4), 6, seed=0)]
    return [(state, obs, np.asarray(game.view(state))) for state, obs in seen]


def widened(game, obs):
    return np.asarray(widen_map(obs.map, game.task.env.layout))


def package_map(game, flat):
    """The cells of the package's observation: blocks, items, creatures and light."""
    rows, columns = game.constants.OBS_DIM
    depth = (37 + 5 + 5 * 8 + 1) if game.is_full else (17 + 4)
    return np.asarray(flat)[:, : rows * columns * depth].reshape(-1, rows, columns, depth)


def creatures_of(game, obs, flat):
    """The channels of creatures, as we have them and as the package has."""
    ours, theirs = widened(game, obs), package_map(game, flat)
    if game.is_full:
        return ours[..., 38 + 5 :], theirs[..., 37 + 5 : -1]
    return ours[..., 17:], theirs[..., 17:]


def test_sizes_are_those_of_the_package(game):
    constants, env = game.constants, game.task.env
    layers = {layer.name: layer.size for layer in env.layout.layers}
    assert env.actions.n == len(constants.Action)
    assert env.layout.view == constants.OBS_DIM
    assert env.max_steps == game.parameters.EnvParams().max_timesteps
    assert layers["block"] == len(constants.BlockType) + game.is_full  # one for darkness
    if game.is_full:
        assert layers["item"] == len(constants.ItemType)
        assert max(block.value for block in constants.BlockType) + 1 == DARK


def test_everything_the_game_allows_fits_the_vector(game):
    """But for potions, books and experience, which a game rarely gives so many of."""
    sizes = {entry.name: entry.size for entry in game.task.env.layout.entries}
    state = jax.tree.map(lambda x: np.full_like(x[0], 1000), game.worlds)
    if not game.is_full:
        logic = import_module("craftax.craftax_classic.game_logic")
        most = logic.cap_inventory(state).inventory
        for item in ("wood", "stone", "coal", "iron", "diamond", "sapling"):
            assert sizes[item] == getattr(most, item) + 1
        return
    parameters = game.parameters.EnvParams()
    best = {f"player_{name}": parameters.max_attribute for name in ("strength", "dexterity")}
    state = state.replace(player_intelligence=parameters.max_attribute, **best)
    logic = import_module("craftax.craftax.util.game_logic_utils")
    most = logic.clip_inventory_and_intrinsics(state, parameters)
    for name in ("health", "food", "drink", "energy", "mana", "strength"):
        assert sizes[name] == getattr(most, f"player_{name}") + 1
    for item in ("wood", "stone", "coal", "iron", "diamond", "sapphire", "ruby", "sapling"):
        assert sizes[item] == getattr(most.inventory, item) + 1
    assert sizes["torches"] == sizes["arrows"] == most.inventory.torches + 1
    assert sizes["strength"] == sizes["dexterity"] == sizes["intelligence"]
    assert sizes["floor"] == game.parameters.StaticEnvParams().num_levels


def test_blocks_items_and_light_are_those_the_package_shows(game, sights):
    for _, obs, flat in sights:
        ours, theirs = widened(game, obs), package_map(game, flat)
        if not game.is_full:
            assert (ours[..., :17] == theirs[..., :17]).all()
            continue
        light = theirs[..., -1:]
        assert (ours[..., :37] == theirs[..., :37]).all()
        assert (ours[..., DARK] == 1 - light[..., 0]).all()
        assert (ours[..., 38:43] * light == theirs[..., 37:42]).all()


def test_creatures_are_those_the_package_shows_where_it_loses_none(game):
    """It writes the dead after the living, and wraps what is left of or above the view."""
    state = scrambled(game, 5)
    half = np.array(game.constants.OBS_DIM) // 2
    for name in MOBS[game.task.name]:
        kind = getattr(state, name)
        kind.mask[...] = True
        centre = np.expand_dims(state.player_position, tuple(range(1, kind.position.ndim - 1)))
        kind.position[...] = np.clip(kind.position, centre - half, centre + half)
    ours, theirs = creatures_of(game, game.judge(state)[0], game.view(state))
    assert (ours == theirs).all() and ours.sum() > 200


def test_every_living_creature_in_the_light_is_shown_and_nothing_else(game, sights):
    lost = 0
    for state, obs, flat in sights:
        assert (obs.map == seen_plainly(game, state)).all()
        ours, theirs = creatures_of(game, obs, flat)
        assert (theirs <= ours).all()
        lost += (theirs < ours).sum()
    assert lost > 0


def seen_plainly(game, state):
    """Cell by cell from the state's own arrays."""
    rows, columns = game.constants.OBS_DIM
    outside = game.constants.BlockType.OUT_OF_BOUNDS.value
    seen = np.zeros((WORLDS, rows, columns, len(game.task.env.layout.layers)), np.uint8)
    for i, j in np.ndindex(rows, columns):
        cell = state.player_position + np.array([i - rows // 2, j - columns // 2])
        seen[:, i, j, 0] = look(on_floor(state, state.map), cell, outside)
        if game.is_full:
            seen[:, i, j, 1] = look(on_floor(state, state.item_map), cell, 0)
        for k, name in enumerate(MOBS[game.task.name]):
            kind = getattr(state, name)
            here = (on_floor(state, kind.position) == cell[:, None]).all(-1)
            here &= on_floor(state, kind.mask)
            types = on_floor(state, kind.type_id) if game.is_full else np.full(here.shape, k)
            for number in range(8):
                layer = seen[:, i, j, 2 + k] if game.is_full else seen[:, i, j, 1]
                layer |= np.uint8(1 << number) * (here & (types == number)).any(-1)
        if game.is_full:
            dark = ~(look(on_floor(state, state.light_map), cell, 0.0) > 0.05)
            seen[dark, i, j] = [DARK, 0, 0, 0, 0, 0, 0]
    return seen


def test_darkness_hides_blocks_items_and_creatures():
    game = load("craftax")
    state = scrambled(game, 6)
    state.light_map[...] = 0
    obs, done = game.judge(state)
    assert (np.asarray(obs.map) == [DARK, 0, 0, 0, 0, 0, 0]).all()
    assert not [name for name, found in goals_of_maps(game, done) if found]
    state.light_map[...] = 1
    obs, done = game.judge(state)
    inside = np.asarray(obs.map)[..., 0] != DARK
    assert inside.mean() > 0.5 and [name for name, found in goals_of_maps(game, done) if found]


def goals_of_maps(game, done):
    found = np.asarray(done).any(axis=0)
    return [pair for pair in zip(game.task.goals.names, found, strict=True) if "_map" in pair[0]]


def test_what_lies_outside_the_world_is_dark_in_craftax_and_a_block_in_classic(game):
    state = empty(game)
    state.player_position[...] = 0
    obs = np.asarray(game.judge(state)[0].map)
    rows, columns = game.constants.OBS_DIM
    outside = DARK if game.is_full else game.constants.BlockType.OUT_OF_BOUNDS.value
    assert (obs[:, : rows // 2, :, 0] == outside).all()
    assert (obs[:, :, : columns // 2, 0] == outside).all()
    assert (obs[:, rows // 2 :, columns // 2 :, 0] == game.constants.BlockType.WOOD.value).all()


def test_the_vector_holds_the_states_numbers(game, sights):
    for state, obs, _ in sights:
        for i, entry in enumerate(game.task.env.layout.entries):
            most = 255 if entry.name == "light" else max(entry.size - 1, 1)
            expected = np.clip(number(game, state, entry.name), 0, most)
            assert (obs.vector[:, i] == expected).all(), entry.name


def test_cleared_floors_and_the_boss_are_as_the_package_has_them():
    game = load("craftax")
    assert [entry.name for entry in LAYOUT.entries[-2:]] == ["floor_cleared", "boss_vulnerable"]
    states = [scrambled(game, seed) for seed in range(4)]
    ours = np.concatenate([game.judge(state)[0].vector[:, -2:] for state in states])
    theirs = np.concatenate([game.view(state)[:, -2:] for state in states])
    assert (ours == theirs).all() and set(ours[:, 0]) == set(ours[:, 1]) == {0, 1}


def number(game, state, name):
    """What the entry of this name should say of every state. [WORLDS]"""
    bag = state.inventory
    part, _, kind = name.rpartition("_")
    if kind == "potion":
        action = game.constants.Action
        return bag.potions[
            :, action[f"DRINK_POTION_{part.upper()}"].value - action.DRINK_POTION_RED.value
        ]
    if name in PIECES:
        return bag.armour[:, PIECES.index(name)]
    if part in PIECES:
        return state.armour_enchantments[:, PIECES.index(part)]
    if hasattr(bag, name):
        return getattr(bag, name)
    special = {
        "floor": lambda: state.player_level,
        "light": lambda: np.rint(state.light_level * np.float32(255)),
        "sleeping": lambda: state.is_sleeping,
        "resting": lambda: state.is_resting,
        "health": lambda: np.ceil(state.player_health),
        "fireball_learned": lambda: state.learned_spells[:, 0],
        "iceball_learned": lambda: state.learned_spells[:, 1],
        "floor_cleared": lambda: (
            on_floor(state, state.monsters_killed) >= game.constants.MONSTERS_KILLED_TO_CLEAR_LEVEL
        ),
        "boss_vulnerable": lambda: (
            ~on_floor(state, state.melee_mobs.mask).any(-1)
            & ~on_floor(state, state.ranged_mobs.mask).any(-1)
            & (state.boss_timesteps_to_spawn_this_round <= 0)
        ),
    }
    if name in special:
        return special[name]()
    return getattr(state, f"player_{name}" if hasattr(state, f"player_{name}") else name)


def test_deaths_and_victories_terminate_and_time_truncates(game):
    state, action = empty(game), np.zeros(WORLDS, np.int32)

    def starve(row):
        state.player_health[row] = 1
        state.player_food[row] = state.player_drink[row] = 0
        state.player_recover[row] = -15

    def finish(row):
        if game.is_full:
            state.boss_progress[row] = game.parameters.StaticEnvParams().num_levels - 1
            return
        constants = game.constants
        y, x = state.player_position[row]
        state.map[row, y, x - 1] = constants.BlockType.LAVA.value
        action[row] = constants.Action.LEFT.value

    def wait(row, left):
        state.timestep[row] = game.task.env.max_steps - left

    starve(1), finish(2)
    wait(3, 1), wait(4, 2)
    starve(5), wait(5, 1)
    finish(6), wait(6, 1)
    state.player_health[7] = 0
    after, _ = game.step(state, action, jax.random.split(jax.random.key(0), WORLDS))
    assert np.flatnonzero(after.terminated).tolist() == [1, 2, 5, 6, 7]
    assert np.flatnonzero(after.truncated).tolist() == [3]
    assert np.flatnonzero(after.state.player_health <= 0).tolist() == (
        [1, 5, 7] if game.is_full else [1, 2, 5, 6, 7]
    )


@pytest.mark.parametrize("env", [CraftaxClassic, Craftax])
@pytest.mark.parametrize("max_steps", [0, -3, 2**31])
def test_impossible_time_limits_are_refused(env, max_steps):
    with pytest.raises(ValueError, match="max-steps"):
        env(max_steps=max_steps)


@pytest.fixture(scope="module")
def story():
    """A rollout of short episodes that end at different times, and the states it went through."""
    task = make_task("craftax-classic", CraftaxClassic(max_steps=TIME))
    envs = VectorEnv(task.env, WORLDS, block=BLOCK)

    def policy(obs, goal, key):
        return jax.random.randint(key, goal.shape, 0, task.num_actions), None

    def one(actor, key):
        after, rollout = collect(task, envs, policy, uniform, 0.9, actor, key, 1)
        pool = after.envs.pool.used, after.envs.pool.generated
        row = jax.tree.map(lambda x: x[0], rollout)
        return after, (actor.envs.state, row, after.envs.obs, after.envs.state.map, pool)

    def tell(key, keys):
        actor = start(task, envs, uniform, key)
        state = actor.envs.state.replace(timestep=jax.numpy.arange(WORLDS) % TIME)
        return jax.lax.scan(one, actor._replace(envs=actor.envs._replace(state=state)), keys)

    keys = jax.random.split(jax.random.key(1), STEPS)
    final, (states, *rest) = quick(tell)(jax.random.key(0), keys)
    return task, keys, final, (plain(states), *jax.tree.map(np.asarray, rest))


def test_stored_last_observations_are_those_of_the_step_itself(story):
    task, keys, _, (states, rollout, first_obs, _, _) = story
    step, ended = load("craftax-classic").step, rollout.ended
    assert ended.sum() > 300
    fresh = np.zeros(ended.shape, bool)
    for t in range(STEPS):
        state = jax.tree.map(lambda x, t=t: x[t], states)
        key_env = jax.random.split(jax.random.split(keys[t], 1)[0], 3)[1]
        after, done = step(state, rollout.action[t], jax.random.split(key_env, WORLDS))
        assert (rollout.next_obs.map[t] == np.asarray(after.obs.map)).all()
        assert (rollout.next_obs.vector[t] == np.asarray(after.obs.vector)).all()
        assert (rollout.outcome.done[t] == np.asarray(done)).all()
        fresh[t] = (first_obs.map[t] != rollout.next_obs.map[t]).any((1, 2, 3))
    assert fresh[ended].mean() > 0.9 and not fresh[~ended].any()


def test_outcomes_of_ended_rows_are_not_those_of_the_fresh_world(story):
    task, _, _, (_, rollout, first_obs, _, _) = story
    ended = rollout.ended
    judged = np.asarray(task.goals.outcome(rollout.next_obs).done)
    of_the_reset = np.asarray(task.goals.outcome(first_obs).done)
    assert (rollout.outcome.done == judged).all()
    assert (rollout.outcome.reward == judged).all()
    assert (judged[ended] != of_the_reset[ended]).any(-1).mean() > 0.5


def test_time_limits_are_the_environments_own(story):
    _, _, _, (states, rollout, _, _, _) = story
    last = states.timestep == TIME - 1
    assert (rollout.truncated == last & ~rollout.terminated).all()
    assert (rollout.ended | ~last).all() and rollout.truncated.sum() > 300


def test_no_world_is_used_twice_and_none_is_lost(story):
    _, _, final, (states, rollout, _, maps, (used, generated)) = story
    ended = rollout.ended
    worlds = [*states.map[0], *maps[ended]]
    assert (used == WORLDS + np.cumsum(ended.sum(axis=1))).all()
    assert used[-1] == len(worlds) == len({world.tobytes() for world in worlds})
    left = generated - used
    assert (generated % BLOCK == 0).all() and ((left >= 0) & (left < BLOCK)).all()
    unused = np.asarray(final.envs.pool.worlds.state.map)[used[-1] % BLOCK :][: left[-1]]
    assert len(unused) == left[-1]
    assert len({world.tobytes() for world in [*worlds, *unused]}) == generated[-1]
