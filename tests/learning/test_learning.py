"""Minibatches, gradient steps, schedules, exploration and distributions."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import special, stats

from allgoals.learning import distributions
from allgoals.learning.exploration import epsilon_greedy
from allgoals.learning.minibatch import learn_in_minibatches
from allgoals.learning.model import Model
from allgoals.learning.schedules import annealed, linear


def test_every_row_is_used_once_per_epoch():
    def learn(counts, rows, key):
        return counts.at[rows].add(1), {"rows": rows.sum() * 1.0}

    counts, metrics = learn_in_minibatches(
        learn, jnp.zeros(24, int), jax.random.key(0), rows=24, minibatch_size=8, epochs=3
    )
    assert counts.tolist() == [3] * 24
    assert metrics["rows"] == pytest.approx(23 * 24 / 2 / 3)


def test_epochs_are_shuffled_differently():
    def learn(seen, rows, key):
        return (seen[0].at[seen[1]].set(rows), seen[1] + 1), {}

    empty = (jnp.zeros((4, 16), int), 0)
    (order, _), _ = learn_in_minibatches(
        learn, empty, jax.random.key(0), rows=16, minibatch_size=16, epochs=4
    )
    assert len({tuple(row) for row in order.tolist()}) == 4


@pytest.mark.parametrize("norm", [1e-3, 1e3])
@pytest.mark.parametrize(
    ("name", "scale"), [("adam", optax.adam), ("adam_fine", optax.adam), ("radam", optax.radam)]
)
def test_a_step_is_that_of_optax(norm, name, scale):
    """Clipping by global norm, then Adam (eps 1e-5 or 1e-8) or RAdam, at that learning rate."""
    x = jax.random.normal(jax.random.key(0), (16, 3))
    model = Model.create("test", nn.Dense(2), name, jax.random.key(1), x)
    options = dict(eps=1e-5) if name == "adam" else {}
    reference = optax.chain(optax.clip_by_global_norm(norm), scale(0.01, **options))
    params, state = model.params, reference.init(model.params)

    def loss(net):
        return jnp.square(net(x) - 3.0).sum(), {}

    gradient = jax.grad(lambda p, net: loss(net.replace(params=p))[0])
    for _ in range(8):
        grads = gradient(params, model)
        updates, state = reference.update(grads, state)
        params = optax.apply_updates(params, updates)
        model, metrics = model.learn(loss, 0.01, norm)
    equal = jax.tree.map(lambda a, b: np.allclose(a, b, rtol=1e-4, atol=1e-6), params, model.params)
    assert all(jax.tree.leaves(equal))
    assert set(metrics) == {"test/loss", "test/gradient_norm"}


def test_schedules():
    assert float(linear(1.0, 0.1, 0.5, jnp.float32(0.25))) == pytest.approx(0.55)
    assert float(linear(1.0, 0.1, 0.5, jnp.float32(0.9))) == pytest.approx(0.1)
    assert float(annealed(2.0, True, jnp.float32(0.75))) == pytest.approx(0.5)
    assert float(annealed(2.0, False, jnp.float32(0.75))) == 2.0


def test_epsilon_greedy():
    q = jnp.tile(jnp.array([0.0, 1.0, 0.5, 0.2]), (20_000, 1))
    assert (epsilon_greedy(jax.random.key(0), q, 0.0) == 1).all()
    shares = np.bincount(epsilon_greedy(jax.random.key(0), q, 0.4), minlength=4) / 20_000
    np.testing.assert_allclose(shares, [0.1, 0.7, 0.1, 0.1], atol=0.015)  # over 4 sigma


def test_the_categorical_is_that_of_scipy():
    logits = np.random.default_rng(0).normal(size=(6, 5)) * 3
    p = special.softmax(logits, axis=-1)
    actions = np.arange(6) % 5
    log_p = np.log(p[np.arange(6), actions])
    np.testing.assert_allclose(distributions.log_prob(logits, actions), log_p, rtol=1e-5)
    np.testing.assert_allclose(distributions.entropy(logits), stats.entropy(p, axis=1), rtol=1e-5)
    cross = -(p[::-1] * np.log(p)).sum(-1)
    np.testing.assert_allclose(distributions.cross_entropy(p[::-1], logits), cross, rtol=1e-5)
