"""Targets against a float64 loop on random terminations and truncations."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allgoals.learning.targets import generalised_advantages, lambda_returns, one_step


def rows(seed, steps, shape=(3,)):
    """Rewards and flags as an episode has them; terminated implies cut."""
    random = np.random.default_rng(seed)
    reward = random.normal(size=(steps, *shape))
    terminated = random.random((steps, *shape)) < 0.2
    truncated = random.random((steps, *shape)) < 0.2
    value = random.normal(size=(steps + 1, *shape))
    cut = terminated | truncated
    final = random.normal(size=(steps, *shape))  # values of states before a reset
    next_value = np.where(cut, final, value[1:])
    return reward, terminated, cut, value[:-1], next_value


def plain_lambda_returns(reward, terminated, cut, next_value, gamma, lambda_):
    steps = len(reward)
    returns = np.zeros_like(reward)
    for index in np.ndindex(reward.shape[1:]):
        for t in reversed(range(steps)):
            here = (t, *index)
            future = next_value[here]
            if t < steps - 1 and not cut[here]:
                future = (1 - lambda_) * future + lambda_ * returns[(t + 1, *index)]
            returns[here] = reward[here] + (0.0 if terminated[here] else gamma * future)
    return returns


def plain_gae(reward, terminated, cut, value, next_value, gamma, lambda_):
    """As Schulman et al. write it: a discounted sum of TD errors."""
    advantage = np.zeros_like(reward)
    for index in np.ndindex(reward.shape[1:]):
        last = 0.0
        for t in reversed(range(len(reward))):
            here = (t, *index)
            future = 0.0 if terminated[here] else gamma * next_value[here]
            delta = reward[here] + future - value[here]
            last = delta + (0.0 if cut[here] else gamma * lambda_ * last)
            advantage[here] = last
    return advantage


cases = given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 9]),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 0.5, 1.0]),
)


@cases
@settings(max_examples=80, deadline=None)
def test_lambda_returns(seed, steps, gamma, lambda_):
    reward, terminated, cut, _, next_value = rows(seed, steps)
    ours = lambda_returns(*map(jnp.array, (reward, terminated, cut, next_value)), gamma, lambda_)
    plain = plain_lambda_returns(reward, terminated, cut, next_value, gamma, lambda_)
    np.testing.assert_allclose(ours, plain, rtol=1e-5, atol=1e-5)


@cases
@settings(max_examples=80, deadline=None)
def test_generalised_advantages(seed, steps, gamma, lambda_):
    reward, terminated, cut, value, next_value = rows(seed, steps)
    arrays = map(jnp.array, (reward, terminated, cut, next_value, value))
    ours = generalised_advantages(*arrays, gamma, lambda_)
    plain = plain_gae(reward, terminated, cut, value, next_value, gamma, lambda_)
    np.testing.assert_allclose(ours, plain, rtol=1e-5, atol=1e-5)


def test_one_step_is_lambda_zero():
    reward, terminated, cut, _, next_value = map(jnp.array, rows(0, 10))
    zero = lambda_returns(reward, terminated, cut, next_value, 0.9, 0.0)
    np.testing.assert_allclose(
        one_step(reward, terminated, next_value, 0.9), zero, rtol=1e-5, atol=1e-6
    )


def test_a_time_limit_bootstraps_and_a_death_does_not():
    flags = jnp.array([[True], [False]]).T  # two environments: one died, one ran out of time
    target = one_step(jnp.zeros((1, 2)), flags, jnp.full((1, 2), 8.0), 0.5)
    assert target.tolist() == [[0.0, 4.0]]


@pytest.mark.parametrize("lambda_", [0.3, 1.0])
def test_every_goal_at_once(lambda_):
    """The same recursion over [T, N, G] as over its columns."""
    reward, terminated, cut, _, next_value = rows(3, 8, (4, 6))
    whole = lambda_returns(*map(jnp.array, (reward, terminated, cut, next_value)), 0.9, lambda_)
    for g in range(6):
        column = (a[..., g] for a in (reward, terminated, cut, next_value))
        plain = plain_lambda_returns(*column, 0.9, lambda_)
        np.testing.assert_allclose(whole[..., g], plain, rtol=1e-5, atol=1e-5)
