"""Hindsight goals against plain loops."""

import jax
import numpy as np
import pytest

from allgoals.goals.relabel import last_of_trajectory, positive_goals, random_goals, relabel
from tests.rollouts import random_rollout

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_row_of_each_trajectory(seed):
    rollout = random_rollout(seed)
    last = np.asarray(last_of_trajectory(rollout))
    ended = np.asarray(rollout.ended)
    steps, envs = ended.shape
    for n in range(envs):
        for t in range(steps):
            after = [i for i in range(t, steps) if ended[i, n]]
            assert last[t, n] == (after[0] if after else steps - 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_positive_goals_hold_of_the_next_observation(seed):
    rollout = random_rollout(seed)
    goals = np.asarray(positive_goals(jax.random.key(seed), rollout, 3))
    achieved = np.asarray(rollout.outcome.done)
    for t, n in np.ndindex(goals.shape[:2]):
        if achieved[t, n].any():
            assert achieved[t, n, goals[t, n]].all()


def test_positive_goals_are_uniform_over_the_achieved():
    rollout = random_rollout(0, goals=4, achieved=0.6)
    goals = np.asarray(positive_goals(jax.random.key(0), rollout, 4000))
    t, n = np.argwhere(np.asarray(rollout.outcome.done).sum(-1) == 2)[0]
    shares = np.bincount(goals[t, n], minlength=4) / 4000
    assert np.allclose(shares[np.asarray(rollout.outcome.done[t, n])], 0.5, atol=0.04)  # 5 sigma


@pytest.mark.parametrize("seed", SEEDS)
def test_trajectories_share_the_goals_of_their_last_row(seed):
    rollout = random_rollout(seed)
    key = jax.random.key(seed)
    each = np.asarray(relabel(key, rollout, 1, 2, "transition"))
    shared = np.asarray(relabel(key, rollout, 1, 2, "trajectory"))
    last = np.asarray(last_of_trajectory(rollout))
    for t, n in np.ndindex(last.shape):
        assert (shared[t, n] == each[last[t, n], n]).all()


@pytest.mark.parametrize(("num_random", "num_positive"), [(0, 2), (3, 0), (1, 1)])
def test_counts(num_random, num_positive):
    rollout = random_rollout(0)
    goals = relabel(jax.random.key(0), rollout, num_random, num_positive, "trajectory")
    assert goals.shape == (*rollout.action.shape, num_random + num_positive)


def test_random_goals_cover_all():
    rollout = random_rollout(0)
    assert len(np.unique(random_goals(jax.random.key(0), rollout, 20))) == 7
