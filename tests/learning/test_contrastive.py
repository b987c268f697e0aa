"""Energies and contrastive losses against plain loops in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms.crl import geometric
from allgoals.learning.contrastive import contrastive_loss, energy
from allgoals.networks.control import Representations
from allgoals.networks.encoders import VectorEncoder

B, D = 7, 4


@pytest.fixture
def pairs() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(size=(B, D)), random.normal(size=(B, D))


def plain_energy(kind: str, x: np.ndarray, y: np.ndarray) -> float:
    if kind in ("dot", "cosine"):
        return float(x @ y)
    squared = float(((x - y) ** 2).sum())
    return -np.sqrt(squared) if kind == "norm" else -squared


def softmax_loss(logits: list[float], own: int) -> float:
    return float(np.log(np.sum(np.exp(logits))) - logits[own])


def plain_loss(loss: str, logits: np.ndarray) -> float:
    rows = np.mean([softmax_loss(list(logits[i]), i) for i in range(B)])
    columns = np.mean([softmax_loss(list(logits[:, i]), i) for i in range(B)])
    sigmoid = 1 / (1 + np.exp(-logits))
    chance = np.where(np.eye(B) == 1, sigmoid, 1 - sigmoid)
    binary = np.mean([-np.log(chance[i]).sum() for i in range(B)])
    return {
        "forward": rows, "backward": columns, "symmetric": (rows + columns) / 2, "binary": binary,
    }[loss]  # fmt: skip


@pytest.mark.parametrize("kind", ["norm", "l2", "dot", "cosine"])
@pytest.mark.parametrize("loss", ["forward", "backward", "symmetric", "binary"])
def test_losses_equal_plain_loops(kind, loss, pairs):
    phi, psi = pairs
    logits = np.array([[plain_energy(kind, x, y) for y in psi] for x in phi])
    penalty = 0.1 * np.mean([np.log(np.exp(row).sum()) ** 2 for row in logits])
    found, metrics = contrastive_loss(loss, kind, jnp.asarray(phi), jnp.asarray(psi), 0.1)
    np.testing.assert_allclose(found, plain_loss(loss, logits) + penalty, rtol=1e-4)
    assert metrics["accuracy"] == np.mean(logits.argmax(axis=1) == np.arange(B))


@pytest.mark.parametrize("kind", ["norm", "l2", "dot"])
def test_pairs_that_fit_lose_less_than_strangers(kind, pairs):
    phi, _ = pairs
    phi = jnp.asarray(3 * phi)
    for loss in ("forward", "backward", "symmetric", "binary"):
        own = contrastive_loss(loss, kind, phi, phi, 0.0)[0]
        others = contrastive_loss(loss, kind, phi, jnp.roll(phi, 1, axis=0), 0.0)[0]
        assert own < others
    slope = jax.grad(lambda x: energy(kind, x, x[::-1]).sum())(phi)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize(("gamma", "most"), [(0.9, 5), (0.99, 30), (0.5, 0)])
def test_futures_are_geometric_and_cut_at_the_end_of_the_episode(gamma, most):
    n = 40_000
    ahead = np.asarray(geometric(jax.random.key(0), jnp.full(n, most), gamma))
    expected = gamma ** np.arange(most + 1)
    share = np.bincount(ahead, minlength=most + 1) / n
    assert len(share) == most + 1
    np.testing.assert_allclose(share, expected / expected.sum(), atol=0.01)


def test_directions_have_a_cosine_times_a_factor_that_is_learnt():
    """Between -1 and 1 no softmax over a batch could ever be sure."""
    network = Representations(VectorEncoder((0.0,) * 4, (1.0,) * 4), 16, 1, D, directions=True)
    keys = jax.random.split(jax.random.key(0), 4)
    obs, action = jax.random.normal(keys[0], (B, 4)), jax.random.normal(keys[1], (B, 2))
    goal = jax.random.normal(keys[2], (B, 2))
    params = network.init(keys[3], obs, action, goal)
    phi, psi = network.apply(params, obs, action, goal)
    np.testing.assert_allclose(np.linalg.norm(phi, axis=1), 10.0, rtol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(psi, axis=1), 1.0, rtol=1e-3)
    cosine = [x @ y / np.sqrt((x @ x) * (y @ y)) for x, y in zip(phi, psi, strict=True)]
    np.testing.assert_allclose(energy("cosine", phi, psi), 10 * np.array(cosine), rtol=1e-3)

    def loss(params):
        return contrastive_loss("forward", "cosine", *network.apply(params, obs, action, goal), 0)

    slope = jax.grad(loss, has_aux=True)(params)[0]["params"]["log_factor"]
    assert abs(float(slope)) > 1e-3
