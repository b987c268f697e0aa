"""The chosen-action head is exact; networks are as the paper has them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms import Leo, Ppo, Pqn
from allgoals.envs.gridworld import Gridworld
from allgoals.networks import all_actions
from allgoals.networks.control import AllGoalsCritics
from allgoals.networks.encoders import OneHotCoordinates, RunningNorm, VectorEncoder
from allgoals.networks.grouped import _all_then_take, _by_group, grouped_matmul
from allgoals.networks.heads import ActorCritic, AllGoalsQ, GoalConditionedQ
from allgoals.tasks import make_task

MIXES = {
    "random": lambda n, a: np.random.default_rng(0).integers(0, a, n),
    "one action fills all": lambda n, a: np.full(n, a - 1),
    "first action fills all": lambda n, a: np.zeros(n, int),
    "one absent": lambda n, a: np.arange(n) % (a - 1),
    "just more than their share for many": lambda n, a: np.arange(n) % max(1, n // 9),
    "last one absent, skewed": lambda n, a: np.where(np.arange(n) < n - 3, 0, 1),
}


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize(("rows", "groups"), [(70, 4), (200, 3), (33, 17), (100, 43), (1, 2)])
def test_groups_equal_plain_products(mix, rows, groups):
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (rows, 8))
    kernel = jax.random.normal(keys[1], (groups, 8, 5))
    weight = jax.random.normal(keys[2], (rows, 5))
    group = jnp.array(MIXES[mix](rows, groups) % groups)

    def total(product):
        return lambda x, kernel: (product(x, kernel, group) * weight).sum()

    plain = np.stack(
        [np.asarray(x[i], np.float64) @ np.asarray(kernel[group[i]]) for i in range(rows)]
    )
    for product in (_by_group, _all_then_take, grouped_matmul):
        np.testing.assert_allclose(product(x, kernel, group), plain, rtol=1e-5, atol=1e-5)
    ours = jax.grad(total(_by_group), (0, 1))(x, kernel)
    theirs = jax.grad(total(_all_then_take), (0, 1))(x, kernel)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_every_view_of_the_head_is_a_part_of_the_whole():
    network = AllGoalsQ(OneHotCoordinates(6), 16, 2, num_actions=10, num_goals=7, bounded=True)
    obs = jax.random.randint(jax.random.key(0), (40, 2), 0, 6)
    params = network.init(jax.random.key(1), obs)
    action = jax.random.randint(jax.random.key(2), (40,), 0, 10)
    every = network.apply(params, obs)
    assert every.shape == (40, 10, 7) and (every > 0).all() and (every < 1).all()
    chosen = network.apply(params, obs, action, method="chosen")
    np.testing.assert_allclose(chosen, every[jnp.arange(40), action], rtol=1e-5)
    goal = jax.random.randint(jax.random.key(3), (40,), 0, 7)
    commanded, features = network.apply(params, obs, goal, method="acting")
    np.testing.assert_allclose(commanded, every[jnp.arange(40), :, goal], rtol=1e-5)
    best = network.apply(params, features, method="best")
    np.testing.assert_allclose(best, every.max(axis=1), rtol=1e-5)


@pytest.fixture
def head():
    """Features, kernel, bias and the goals commanded: as few as show a wrong axis."""
    keys = jax.random.split(jax.random.key(0), 4)
    x, kernel = jax.random.normal(keys[0], (20, 64)), jax.random.normal(keys[1], (10, 64, 7))
    return x, kernel, jax.random.normal(keys[2], (10, 7)), jax.random.randint(keys[3], (20,), 0, 7)


def every_value(x, kernel, bias, dtype="float32"):
    """Sums of the rounded factors in float64. [B, A, G]"""
    rounded = [np.asarray(each.astype(dtype), np.float64) for each in (x, kernel)]
    return np.einsum("bh,ahg->bag", *rounded) + np.asarray(bias, np.float64)


def test_the_commanded_row_is_that_of_the_whole_table(head):
    x, kernel, bias, goal = head
    row = all_actions.commanded(x, kernel, bias, goal)
    plain = every_value(x, kernel, bias)[np.arange(20), :, goal]
    np.testing.assert_allclose(row, plain, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("rows", [64, 20, 8, 7, 1])
@pytest.mark.parametrize("way", ["_one_by_one", "_at_once"])
def test_best_values_round_their_factors_and_nothing_else(head, dtype, rows, way, monkeypatch):
    """Coarse sums would be off by 1e-2. Blocks are one, whole ones, or leave some rows over."""
    monkeypatch.setattr(all_actions, "ROWS", rows)
    monkeypatch.setattr(all_actions, "_best", getattr(all_actions, way))
    x, kernel, bias, _ = head
    best = all_actions.best(x.reshape(4, 5, 64), kernel, bias, dtype)
    assert best.dtype == np.float32 and best.shape == (4, 5, 7)
    plain = every_value(x, kernel, bias, dtype).max(axis=1).reshape(best.shape)
    np.testing.assert_allclose(best, plain, rtol=1e-5, atol=2e-5)


def test_only_what_is_not_learnt_from_is_rounded():
    """Beside float32: the loss sees the same values, bootstraps differ by rounding alone."""
    task = make_task("gridworld", Gridworld(size=6, wall_probability=0.0))
    exact, rounded = (Leo(width=32, layers=2, all_actions_in=d) for d in ("float32", "bfloat16"))
    one, other = (leo.init(task, jax.random.key(0)) for leo in (exact, rounded))
    obs = jax.random.randint(jax.random.key(1), (40, 2), 0, 6).astype(jnp.uint8)
    action = jax.random.randint(jax.random.key(2), (40,), 0, 4)
    chosen = [net(obs, action, method="chosen") for net in (one, other)]
    np.testing.assert_array_equal(*chosen)
    commanded, features = one(obs, action, method="acting")
    np.testing.assert_array_equal(commanded, other(obs, action, method="acting")[0])
    best = [net(features, method="best") for net in (one, other)]
    assert (best[0] != best[1]).any()
    # Logits lie in -1..1 or so: the head begins orthogonal. Two factors are off by 2^-8 at most.
    np.testing.assert_allclose(*best, atol=2**-8)


def test_the_head_begins_orthogonal():
    network = AllGoalsQ(OneHotCoordinates(6), 16, 1, num_actions=3, num_goals=4, bounded=True)
    kernel = network.init(jax.random.key(0), jnp.zeros((1, 2), int))["params"]["kernel"]
    flat = kernel.transpose(1, 0, 2).reshape(16, 12)
    np.testing.assert_allclose(flat.T @ flat, np.eye(12), atol=1e-5)


@pytest.mark.parametrize("bounded", [True, False])
def test_networks_that_are_told_their_goal(bounded):
    obs, goal = jnp.array([[1, 2], [1, 2]]), jnp.array([[0, 0], [3, 3]])
    q = GoalConditionedQ(OneHotCoordinates(6), 16, 1, 4, bounded)
    values = q.apply(q.init(jax.random.key(0), obs, goal), obs, goal)
    assert values.shape == (2, 4) and (values[0] != values[1]).any()
    assert ((values > 0) & (values < 1)).all() == bounded
    both = ActorCritic(OneHotCoordinates(6), 16, 1, 2, 1, 4, bounded)
    logits, value = both.apply(both.init(jax.random.key(0), obs, goal), obs, goal)
    assert logits.shape == (2, 4) and value.shape == (2,) and (logits[0] != logits[1]).any()


@pytest.mark.parametrize("late", [False, True])
def test_a_layer_in_two_parts_begins_as_one(late):
    """What is seen and the action have weights of the same size, as in a critic that joins them."""
    size, width = 29, 64
    encoder = VectorEncoder((0.0,) * size, (1.0,) * size)
    critics = AllGoalsCritics(encoder, width, 2, 5, (size, 8), late)
    params = critics.init(jax.random.key(0), jnp.zeros((1, size)), jnp.zeros((1, 8)))["params"]
    one = params["pair_0"]
    before = one["dense_1" if late else "dense_0"]["kernel"]
    joined = np.concatenate([before, one["action"]["kernel"]])
    limit = np.sqrt(3 / len(joined))  # LeCun's for so many inputs
    for part in (before, one["action"]["kernel"]):
        assert 0.9 * limit < np.abs(part).max() <= limit
        np.testing.assert_allclose(np.std(part), limit / 3**0.5, rtol=0.1)


def test_inputs_are_normalised_by_what_was_learnt_from():
    """After many equal batches the moments are those of a batch; evaluating changes nothing."""
    x = jax.random.normal(jax.random.key(0), (64, 3)) * jnp.array([1.0, 5.0, 0.0]) + 2.0
    norm = RunningNorm()
    variables = norm.init(jax.random.key(1), x)
    before, same = norm.apply(variables, x), norm.apply(variables, x)
    np.testing.assert_array_equal(before, same)
    for _ in range(50):
        _, changed = norm.apply(variables, x, mutable=["stats"])
        variables = {**variables, **changed}
    np.testing.assert_allclose(variables["stats"]["mean"], x.mean(axis=0), rtol=1e-5)
    expected = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-3)
    np.testing.assert_allclose(norm.apply(variables, x), expected, atol=1e-4)


def test_a_gradient_step_takes_note_of_its_inputs():
    task = make_task("gridworld", Gridworld(size=4, wall_probability=0.0))
    leo = Leo(width=8, layers=1, normalise_inputs=True)
    model = leo.init(task, jax.random.key(0))
    obs = jnp.array([[0, 1], [2, 3], [2, 3]], jnp.uint8)

    def loss(net):
        return net(obs).mean(), {}

    learnt, _ = model.learn(loss, 0.1, 1.0)
    stats = jax.tree.leaves_with_path(learnt.stats)
    means = {jax.tree_util.keystr(path): x for path, x in stats if "mean" in str(path)}
    (mean,) = means.values()
    np.testing.assert_allclose(mean, [1 / 3, 0, 2 / 3, 0, 0, 1 / 3, 0, 2 / 3], atol=1e-6)


@pytest.mark.parametrize("value", [0.02, 0.5, 0.9])
def test_values_begin_where_they_are_told_to(value):
    task = make_task("gridworld", Gridworld(size=4, wall_probability=0.0))
    obs, goal = jnp.zeros((1, 2), jnp.uint8), jnp.zeros(1, jnp.int32)
    for algorithm in (Leo(width=8, layers=1), Pqn(width=8, layers=1), Ppo(width=8)):
        algorithm = dataclasses.replace(algorithm, initial_value=value)
        model = algorithm.init(task, jax.random.key(0))
        flat = jax.tree_util.tree_map_with_path(
            lambda path, x: x * (path[-1].key != "kernel"), model.params
        )
        flat = model.replace(params=flat)
        assert float(algorithm.value(task, flat, obs, goal)[0]) == pytest.approx(value, abs=1e-5)
