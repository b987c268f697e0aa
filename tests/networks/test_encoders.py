"""What a network sees of a map, against plain convolutions of plain one-hot maps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.goals.craftax import CELLS, NO_CELL
from allgoals.networks.convolution import conv3x3
from allgoals.networks.encoders import GridEncoder
from allgoals.tasks import make_task
from allgoals.types import GridObs


def convolution(x, kernel):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)


def random_obs(layout, random, batch):
    shape = (batch, *layout.view)
    layers = [random.integers(0, 2**x.size if x.bits else x.size, shape) for x in layout.layers]
    entries = [
        random.integers(0, 256 if x.scale > 1 else max(x.size, 2), batch) for x in layout.entries
    ]
    return GridObs(np.stack(layers, -1).astype(np.uint8), np.stack(entries, -1).astype(np.uint8))


def plain_map(layout, obs):
    parts = []
    for i, layer in enumerate(layout.layers):
        for n in range(layer.size):
            cell = obs.map[..., i].astype(int)
            parts.append((cell // 2**n) % 2 if layer.bits else cell == n)
    return np.stack(parts, axis=-1).astype(np.float32)


def plain_vector(layout, obs):
    parts = []
    for i, entry in enumerate(layout.entries):
        value = obs.vector[:, i]
        if entry.size == 1:
            parts.append(value / entry.scale)
        else:
            parts += [value == n for n in range(entry.size)]
    return np.stack(parts, axis=-1).astype(np.float32)


def plain_goal_map(layout, goal):
    height, width = layout.view
    wanted = np.zeros((len(goal.cell), height, width, layout.channels), np.float32)
    for i, cell in enumerate(goal.cell):
        if cell != NO_CELL:
            down, right = CELLS[cell]
            wanted[i, height // 2 + down, width // 2 + right] = goal.thing[i]
    return wanted


def plain_norm(x, stats):
    return (x - stats["mean"]) / np.sqrt(stats["variance"] + 1e-3)


def plain_encoding(params, map_, kernel, vectors):
    x = np.asarray(convolution(jnp.asarray(map_), kernel) + params["bias"])
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
    x = np.maximum(x * params["RMSNorm_0"]["scale"] + params["shift"], 0)
    return np.concatenate([x.reshape(len(x), -1), *vectors], axis=-1)


@pytest.mark.parametrize("name", ["craftax-classic", "craftax"])
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("normalise", [True, False])
def test_encodings_equal_convolutions_of_explicit_maps(name, told, normalise):
    task = make_task(name)
    layout, random = task.env.layout, np.random.default_rng(0)
    which = np.unique(np.linspace(0, task.num_goals - 1, 120, dtype=int))
    goal = jax.tree.map(lambda x: x[which], task.goals.features) if told else None
    obs = random_obs(layout, random, len(which))
    encoder = GridEncoder(layout, CELLS, 6, normalise)
    variables = jax.jit(encoder.init)(jax.random.key(0), obs, goal)
    stats = jax.tree.map(lambda x: x + random.random(x.shape).astype(x.dtype),
                         variables.get("stats", {}))  # fmt: skip
    params = variables["params"]
    params = jax.tree.map(lambda x: x + 0.3 * random.normal(size=x.shape).astype(x.dtype), params)
    map_, vector, kernel = plain_map(layout, obs), plain_vector(layout, obs), params["kernel"]
    if normalise:  # the map's moments and the vector's
        of_map, of_vector = (stats[f"RunningNorm_{i}"] for i in range(2))
        map_, vector = plain_norm(map_, of_map), plain_norm(vector, of_vector)
    vectors = [vector]
    if told:
        assert len(set(goal.cell.tolist())) == 5
        map_ = np.concatenate([map_, plain_goal_map(layout, goal)], axis=-1)
        kernel = jnp.concatenate([kernel, params["goal_kernel"]], axis=2)
        vectors.append(goal.vector)
    parts = jax.jit(encoder.apply)({"params": params, "stats": stats}, obs, goal)
    encoded = np.concatenate(parts, axis=-1)
    expected = plain_encoding(params, map_, kernel, vectors)
    assert encoded.shape == expected.shape
    np.testing.assert_allclose(encoded, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["craftax-classic", "craftax"])
def test_a_goal_speaks_of_one_cell_or_of_the_vector(name):
    task = make_task(name)
    goal, on_map = task.goals.features, np.array(["_map/" in x for x in task.goals.names])
    assert (goal.thing.sum(-1) == on_map).all() and ((goal.cell == NO_CELL) == ~on_map).all()
    assert (goal.vector.any(-1) == ~on_map).all()
    whole = np.concatenate([goal.vector, goal.thing, goal.cell[:, None]], axis=-1)
    assert len(np.unique(whole, axis=0)) == task.num_goals


@pytest.mark.parametrize(("channels", "features"), [(3, 8), (5, 5), (8, 3)])
def test_products_equal_a_convolution_with_both_gradients(channels, features):
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (4, 5, 7, channels))
    kernel = jax.random.normal(keys[1], (3, 3, channels, features))
    weight = jax.random.normal(keys[2], (4, 5, 7, features))

    def with_gradients(conv):
        value, pull = jax.vjp(conv, x, kernel)
        return value, *pull(weight)

    every = jax.jit(lambda: (with_gradients(conv3x3), with_gradients(convolution)))()
    for ours, theirs in zip(*every, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
