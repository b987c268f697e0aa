"""Next values: reused where acting computed them, computed where it did not."""

import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.learning.bootstrap import next_values
from tests.rollouts import random_rollout


def true_value(obs):
    """Any function of the observation will do."""
    return jnp.sin(obs[..., 0] * 3.0 + obs[..., 1])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("many", [(), (4,)])
def test_equals_evaluating_every_next_observation(seed, many):
    rollout = random_rollout(seed, steps=11, envs=3)
    scale = jnp.arange(1.0, 1 + np.prod(many, dtype=int)).reshape(many)  # a value per goal

    def value(obs):
        return true_value(obs).reshape(*obs.shape[:-1], *[1] * len(many)) * scale

    calls = []

    def evaluate(t, n):
        calls.append(t.shape)
        return value(rollout.next_obs[t, n])

    ours = next_values(value(rollout.obs), rollout.ended, rollout.truncated, evaluate)
    wanted = np.asarray(value(rollout.next_obs))
    matters = ~np.asarray(rollout.terminated)
    np.testing.assert_allclose(np.asarray(ours)[matters], wanted[matters], rtol=1e-6)
    assert set(calls) == {(3,)}  # N rows at a time


def test_every_row_may_need_its_own_pass():
    rollout = random_rollout(0, steps=6, envs=3)
    always = jnp.ones_like(rollout.terminated)
    value = true_value(rollout.obs) * 0 + 99.0
    ours = next_values(value, always, always, lambda t, n: true_value(rollout.next_obs[t, n]))
    np.testing.assert_allclose(ours, true_value(rollout.next_obs), rtol=1e-6)
