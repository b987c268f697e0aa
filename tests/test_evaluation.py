"""Evaluation judged by policies whose success is known beforehand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.gridworld import Gridworld
from allgoals.evaluation import Evaluator
from allgoals.tasks import make_task
from tests.oracles import distances, optimal_q
from tests.probes import DeadlyChain, chain_task

ENV = Gridworld(size=5, wall_probability=0.3, map_seed=2, max_steps=30)


def test_the_optimal_policy_reaches_what_can_be_reached_in_the_shortest_time():
    task = make_task("gridworld", ENV)
    best = jnp.asarray(optimal_q(ENV, 0.9).argmax(axis=1))  # [S, G]
    codes = jnp.asarray(ENV.free_cells[:, 0] * 5 + ENV.free_cells[:, 1])

    def act(table, obs, goal, key):
        cell = (obs[:, :1].astype(int) * 5 + obs[:, 1:] == codes).argmax(axis=1)
        return table[cell, goal]

    result = Evaluator(task, act, num_envs=7, max_steps=100)(best, 2, jax.random.key(0))
    assert result.success.shape == (task.num_goals, 2)
    assert (result.rate == task.goals.reachable).all() and not task.goals.reachable.all()
    start = np.flatnonzero((ENV.free_cells == ENV.start).all(axis=1))[0]
    shortest = distances(ENV)[start]
    assert (result.steps[task.goals.reachable, 0] == shortest[task.goals.reachable]).all()
    assert (result.steps[~task.goals.reachable] == 30).all()  # until the time limit


@pytest.mark.parametrize(("limit", "reached"), [(2, False), (3, True)])
def test_the_step_limit_holds(limit, reached):
    task = chain_task()

    def act(agent, obs, goal, key):
        return jnp.ones_like(goal)  # to the right, from cell 0 to 3 on

    result = Evaluator(task, act, num_envs=64, max_steps=limit)(None, 16, jax.random.key(0))
    begins_at_zero_or_right = result.rate[3]
    assert (begins_at_zero_or_right > 0) and (result.rate[3] < 1)  # worlds that begin on 3 go past it
    begins = jax.vmap(DeadlyChain().reset)(jax.random.split(jax.random.key(5), 4000)).obs[:, 0]
    share = float(((begins < 3) & (begins >= 3 - limit)).mean())
    assert result.rate[3] == pytest.approx(share, abs=0.45)
    assert (result.rate[3] > 0.5) == reached or limit == 2


def test_only_the_first_episode_counts():
    """Goal 0 is passed by no first episode that walks right, though later episodes begin on it."""
    task = chain_task()

    def act(agent, obs, goal, key):
        return jnp.ones_like(goal)

    result = Evaluator(task, act, num_envs=20, max_steps=60)(None, 20, jax.random.key(0))
    assert not result.success[0].any()
    assert result.success[4].all()  # the last, deadly cell counts: it is the episode's own


@pytest.mark.parametrize("num_envs", [1, 3, 64])
def test_any_number_of_environments_gives_every_goal_its_episodes(num_envs):
    task = chain_task()

    def act(agent, obs, goal, key):
        return jnp.where(obs[:, 0] < goal, 1, 0)

    counted = []
    evaluator = Evaluator(task, act, num_envs=num_envs, max_steps=20)
    result = evaluator(None, 3, jax.random.key(0), counted.append)
    assert sum(counted) == 15 and result.success.shape == (5, 3)
    assert result.success.all()
