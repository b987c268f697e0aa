"""Which goals are commanded, and how successes are counted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allgoals.goals.base import random_subset, subset
from allgoals.goals.samplers import GoalTracker, seen_only, uniform, uniform_from_mask
from tests.probes import chain_task


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 2**31 - 1))
@settings(max_examples=60, deadline=None)
def test_only_marked_indices_are_drawn(mask, seed):
    drawn = np.asarray(uniform_from_mask(jax.random.key(seed), jnp.array(mask), (20,)))
    assert np.array(mask)[drawn].all() if any(mask) else (drawn == 0).all()


def test_marked_indices_are_equally_likely():
    mask = jnp.array([0, 1, 0, 1, 1, 0, 1], bool)
    drawn = np.asarray(uniform_from_mask(jax.random.key(0), mask, (40_000,)))
    counts = np.bincount(drawn, minlength=7)
    # 4 standard deviations of a binomial count around 10,000
    assert (np.abs(counts[np.asarray(mask)] - 10_000) < 4 * np.sqrt(40_000 * 0.25 * 0.75)).all()
    assert counts[~np.asarray(mask)].sum() == 0


def test_one_row_of_marks_each():
    mask = jnp.eye(5, dtype=bool)
    assert uniform_from_mask(jax.random.key(0), mask, (5,)).tolist() == [0, 1, 2, 3, 4]


def test_seen_only_and_uniform():
    tracker = GoalTracker.create(6)
    assert len(set(seen_only(jax.random.key(0), tracker, 200).tolist())) == 6  # nothing seen yet
    tracker = tracker.observe(jnp.array([[0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]], bool))
    assert set(seen_only(jax.random.key(0), tracker, 200).tolist()) == {1, 3}
    assert set(uniform(jax.random.key(0), tracker, 200).tolist()) == set(range(6))


def test_success_rates_decay_with_the_tries_of_their_own_goal():
    tracker = GoalTracker.create(3)
    won, lost = np.zeros(3), np.zeros(3)
    random = np.random.default_rng(0)
    for _ in range(50):
        goal = random.integers(0, 3, 4)
        success = random.random(4) < 0.3
        failure = ~success & (random.random(4) < 0.5)
        tracker = tracker.score(jnp.array(goal), jnp.array(success), jnp.array(failure), 0.8)
        for g in range(3):
            tries = (success | failure)[goal == g].sum()
            won[g] = won[g] * 0.8**tries + success[goal == g].sum()
            lost[g] = lost[g] * 0.8**tries + failure[goal == g].sum()
    np.testing.assert_allclose(tracker.success_rate, won / (won + lost), rtol=1e-5)


def test_a_subset_keeps_names_features_and_outcomes_together():
    goals = chain_task().goals
    part = subset(goals, np.array([3, 1]))
    assert part.names == ("cell/3", "cell/1")
    obs = jnp.array([[1, 9], [3, 9], [2, 9]], jnp.uint32)
    assert part.outcome(obs).done.tolist() == [[False, True], [True, False], [False, False]]
    assert part.features[0].tolist() == goals.features[3].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_random_subsets_hold_what_they_must(seed):
    goals = chain_task().goals
    part = random_subset(goals, 3, ("cell/4",), seed)
    assert len(part.names) == len(set(part.names)) == 3 and "cell/4" in part.names
    assert part.names == random_subset(goals, 3, ("cell/4",), seed).names
