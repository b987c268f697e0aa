"""The chosen-action head is exact; networks are as the paper has them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.networks.encoders import OneHotCoordinates
from allgoals.networks.grouped import _all_then_take, _in_blocks, grouped_matmul
from allgoals.networks.heads import ActorCritic, AllGoalsQ, GoalConditionedQ

MIXES = {
    "random": lambda n, a: np.random.default_rng(0).integers(0, a, n),
    "one action fills all": lambda n, a: np.full(n, a - 1),
    "first action fills all": lambda n, a: np.zeros(n, int),
    "one absent": lambda n, a: np.arange(n) % (a - 1),
    "last one absent, skewed": lambda n, a: np.where(np.arange(n) < n - 3, 0, 1),
}


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize(("rows", "groups"), [(70, 4), (33, 17), (100, 43), (1, 2)])
def test_blocks_equal_plain_products(mix, rows, groups):
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
    for product in (_in_blocks, _all_then_take, grouped_matmul):
        np.testing.assert_allclose(product(x, kernel, group), plain, rtol=1e-5, atol=1e-5)
    ours = jax.grad(total(_in_blocks), (0, 1))(x, kernel)
    theirs = jax.grad(total(_all_then_take), (0, 1))(x, kernel)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_every_view_of_the_head_is_a_part_of_the_whole():
    network = AllGoalsQ(OneHotCoordinates(6), 16, 2, num_actions=4, num_goals=7, bounded=True)
    obs = jax.random.randint(jax.random.key(0), (40, 2), 0, 6)
    params = network.init(jax.random.key(1), obs)
    action = jax.random.randint(jax.random.key(2), (40,), 0, 4)
    every = network.apply(params, obs)
    assert every.shape == (40, 4, 7) and (every > 0).all() and (every < 1).all()
    chosen = network.apply(params, obs, action, method="chosen")
    np.testing.assert_allclose(chosen, every[jnp.arange(40), action], rtol=1e-5)
    best = network.apply(params, obs, method="best")
    np.testing.assert_allclose(best, every.max(axis=1), rtol=1e-5)
    goal = jax.random.randint(jax.random.key(3), (40,), 0, 7)
    commanded = network.apply(params, obs, goal, method="commanded")
    np.testing.assert_allclose(commanded, every[jnp.arange(40), :, goal], rtol=1e-5)


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
