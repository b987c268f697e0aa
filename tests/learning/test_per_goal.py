"""The fused all-goals update against the naive one: a pass per goal, of which one head counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.learning import squashed
from allgoals.learning.model import Model
from allgoals.learning.per_goal import smaller_q
from allgoals.networks.control import AllGoalsCritics, AllGoalsPolicy
from allgoals.networks.encoders import VectorEncoder

B, S, A, G, H = 16, 5, 3, 11, 32
ENCODER = VectorEncoder((0.0,) * S, (1.0,) * S)


def models(late: bool) -> tuple[Model, Model, jax.Array]:
    keys = jax.random.split(jax.random.key(0), 3)
    obs = jax.random.normal(keys[0], (B, S))
    critics = AllGoalsCritics(ENCODER, H, 2, G, (S, A), late)
    policy = AllGoalsPolicy(ENCODER, H, 2, A, G)
    return (
        Model.create("critics", critics, "adam", keys[1], obs, jnp.zeros((B, A))),
        Model.create("policy", policy, "adam", keys[2], obs, jnp.arange(G)),
        obs,
    )


def naive_q(critics: Model, obs, action, heads):
    """One pass per goal through every head."""

    def one(goal, action):
        return critics(obs, action).min(axis=0)[:, goal]

    each = [one(heads[k], action[:, k]) for k in range(len(heads))]
    return jnp.stack(each, axis=1)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("heads", [jnp.arange(G), jnp.array([7, 3, 10])])
def test_values_and_policy_gradients_equal_the_naive_update(late, heads):
    critics, policy, obs = models(late)
    key = jax.random.key(3)

    def loss(params, q_of):
        net = policy.replace(params=params)
        action, log_pi = squashed.sample(key, *net(obs, heads))
        q = q_of(critics, obs, action, heads)
        return (0.2 * log_pi - q).mean(), q

    grad = jax.jit(jax.grad(loss, has_aux=True), static_argnums=1)
    (fused, q_fused), (naive, q_naive) = (grad(policy.params, f) for f in (smaller_q, naive_q))
    np.testing.assert_allclose(q_fused, q_naive, atol=1e-5)
    size = max(float(jnp.abs(x).max()) for x in jax.tree.leaves(naive))
    assert size > 1e-3
    for a, b in zip(jax.tree.leaves(fused), jax.tree.leaves(naive), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * size)


def test_an_action_s_density_is_that_of_the_squashed_normal():
    """Against the change of variables in float64, also far out where tanh is all but 1."""
    random = np.random.default_rng(0)
    mean, deviation = random.normal(size=(50, A)), random.uniform(0.1, 2, (50, A))
    noise = random.normal(size=(50, A))
    action, log_pi = squashed.squash(
        *(jnp.asarray(x, jnp.float32) for x in (mean, deviation, noise))
    )
    x = mean + deviation * noise
    normal = -0.5 * noise**2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)
    expected = (normal + 2 * np.log(np.cosh(x))).sum(-1)
    np.testing.assert_allclose(action, np.tanh(x), atol=1e-6)
    np.testing.assert_allclose(log_pi, expected, rtol=1e-4, atol=1e-4)
    inner = np.abs(x).max(-1) < 3
    again = squashed.log_density(
        *(jnp.asarray(v, jnp.float32) for v in (mean, deviation, np.tanh(x)))
    )
    np.testing.assert_allclose(np.asarray(again)[inner], expected[inner], rtol=1e-2, atol=1e-2)
