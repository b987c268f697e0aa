"""The goals of both games against the paper's lists and against a plain reading of the state."""

import csv
from pathlib import Path

import jax
import numpy as np
import pytest

from allgoals.goals import craftax as goals
from allgoals.goals.craftax import craftax_goals
from allgoals.tasks import make_task
from tests.craftax_states import (
    GAMES,
    MOBS,
    WORLDS,
    all_hold,
    block,
    creatures,
    direction,
    empty,
    fulfil,
    load,
    play,
    scrambled,
)

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module", params=GAMES)
def game(request):
    return load(request.param)


@pytest.mark.parametrize(("name", "count"), [("craftax-classic", 136), ("craftax", 512)])
def test_names_and_numbers_are_the_papers(name, count):
    with open(DATA / f"goals_{name.replace('-', '_')}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["id"]) for row in rows] == list(range(count))
    assert craftax_goals(make_task(name).env).names == tuple(row["name"] for row in rows)


def test_tables_hold_the_numbers_of_the_package(game):
    constants = game.constants
    blocks = goals.BLOCKS if game.is_full else goals.CLASSIC_BLOCKS
    assert blocks == {name: block(game, name) for name in blocks}
    for side, cell in goals.SIDES.items():
        assert cell == tuple(direction(game, side))
    if not game.is_full:
        return
    items = {item.name.lower(): item.value for item in constants.ItemType}
    assert items == {"none": 0, **goals.ITEMS}
    fields = dict(zip(goals.MOBS, MOBS["craftax"], strict=True))
    bits = {
        mob: (fields[layer], bit)
        for layer, mobs in goals.MOBS.items()
        for bit, mob in enumerate(mobs)
        if mob
    }
    nobody_throws = {"iceball": ("mob_projectiles", constants.ProjectileType.ICEBALL.value)}
    assert bits | nobody_throws == creatures(game)
    thrown = np.asarray(constants.RANGED_MOB_TYPE_TO_PROJECTILE_TYPE_MAPPING)
    assert constants.ProjectileType.ICEBALL.value not in thrown
    assert {*map(int, thrown)} == {
        bit for field, bit in bits.values() if field == "mob_projectiles"
    }


def fulfilled(game, most):
    """For every goal in turn a state in which little else is true; some batches of them."""
    names = game.task.goals.names
    for start in range(0, len(names), WORLDS):
        state, rows = empty(game), names[start : start + WORLDS]
        for row, name in enumerate(rows):
            fulfil(game, state, row, name, most)
        yield state, len(rows)


def judged(game, batches):
    return np.concatenate([np.asarray(game.judge(state)[1])[:rows] for state, rows in batches])


def only_itself(game):
    names = game.task.goals.names
    expected = np.eye(len(names), dtype=bool)
    if game.is_full:
        on_a_floor = [name.startswith("dungeon_level") for name in names]
        expected[~np.array(on_a_floor), names.index("dungeon_level/dlvl_0")] = True
    return expected


@pytest.mark.parametrize("most", [False, True])
def test_every_goal_is_true_of_a_state_made_for_it_and_false_of_all_others(game, most):
    assert (judged(game, fulfilled(game, most)) == only_itself(game)).all()


def test_no_goal_is_true_of_a_dead_creature(game):
    def killed():
        for state, rows in fulfilled(game, most=False):
            for kind in MOBS[game.task.name]:
                getattr(state, kind).mask[...] = False
            yield state, rows

    of_creatures = np.array([name.startswith("mob_map") for name in game.task.goals.names])
    assert (judged(game, killed()) == only_itself(game) & ~of_creatures).all()


def test_no_goal_is_true_of_what_lies_in_the_dark():
    game = load("craftax")

    def darkened():
        for state, rows in fulfilled(game, most=False):
            state.light_map[...] = 0.05
            yield state, rows

    of_maps = np.array(["_map/" in name for name in game.task.goals.names])
    assert (judged(game, darkened()) == only_itself(game) & ~of_maps).all()


def test_outcomes_equal_a_plain_reading_of_the_state(game):
    truths = []
    for seed, (begin, steps) in enumerate([(game.worlds, 45), (scrambled(game, 0), 25)]):
        for state, _, done in play(game, begin, steps, seed):
            truths.append(all_hold(game, state))
            assert (done == truths[-1]).all()
    for seed in range(1, 21):
        state = scrambled(game, seed)
        truths.append(all_hold(game, state))
        assert (np.asarray(game.judge(state)[1]) == truths[-1]).all()
    share = np.concatenate(truths).mean(axis=0)
    assert len(truths) * WORLDS > 5000 and (share > 0).mean() > 0.95 and (share < 1).all()


def test_outcomes_of_any_leading_axes_agree(game):
    obs, done = game.judge(scrambled(game, 0))
    folded = jax.tree.map(lambda x: x.reshape(4, -1, *x.shape[1:]), obs)
    outcome = game.task.goals.outcome(folded)
    assert (np.asarray(outcome.done).reshape(done.shape) == np.asarray(done)).all()
    assert (np.asarray(outcome.reward) == np.asarray(outcome.done)).all()
