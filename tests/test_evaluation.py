"""Evaluation judged by policies whose success is known beforehand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.gridworld import Gridworld
from allgoals.evaluation import Evaluator
from allgoals.tasks import make_task
from tests.oracles import distances, optimal_q
from tests.probes import chain_task

ENV = Gridworld(size=5, wall_probability=0.3, map_seed=2, max_steps=30)


@pytest.mark.parametrize("limit", [2, 5, 100])
def test_the_optimal_policy_reaches_what_can_be_reached_in_the_shortest_time(limit):
    task = make_task("gridworld", ENV)
    best = jnp.asarray(optimal_q(ENV, 0.9).argmax(axis=1))  # [S, G]
    codes = jnp.asarray(ENV.free_cells[:, 0] * 5 + ENV.free_cells[:, 1])

    def act(table, obs, goal, key):
        cell = (obs[:, :1].astype(int) * 5 + obs[:, 1:] == codes).argmax(axis=1)
        return table[cell, goal]

    result = Evaluator(task, act, num_envs=7, max_steps=limit)(best, 2, jax.random.key(0))
    start = np.flatnonzero((ENV.free_cells == ENV.start).all(axis=1))[0]
    shortest = distances(ENV)[start]
    possible = shortest <= min(limit, ENV.max_steps)
    assert result.success.shape == (task.num_goals, 2)
    assert (result.rate == possible).all() and not possible.all()
    assert (result.steps[possible, 0] == shortest[possible]).all()
    assert (result.steps[~possible] == min(limit, ENV.max_steps)).all()


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


def test_one_trace_serves_every_agent_of_a_kind():
    task = chain_task()
    traces = []

    def act(agent, obs, goal, key):
        traces.append(1)
        return jnp.where(obs[:, 0] < agent, 1, 0)

    evaluator = Evaluator(task, act, num_envs=4, max_steps=5)
    for agent in (1, 2, 3):
        evaluator(jnp.uint32(agent), 2, jax.random.key(agent))
    assert sum(traces) == 1
