"""An untrained agent in a tiny maze, and all its episodes."""

import jax
import pytest

from allgoals.algorithms import Leo
from allgoals.envs.gridworld import Gridworld
from allgoals.render import play_episode
from allgoals.runs.agent import Agent
from allgoals.tasks import make_task

MAX_STEPS = 12


@pytest.fixture(scope="session")
def agent():
    task = make_task("gridworld", Gridworld(size=5))
    algorithm = Leo(width=16, layers=1)
    return Agent(task, algorithm, algorithm.init(task, jax.random.key(6)), 1.0)


@pytest.fixture(scope="session")
def episodes(agent):
    """One per goal, in the goals' order."""
    key = jax.random.key(0)
    return [play_episode(agent, goal, MAX_STEPS, key) for goal in agent.task.goals.names]


@pytest.fixture(scope="session")
def success(episodes):
    return max((e for e in episodes if e.success_step), key=lambda e: e.success_step)


@pytest.fixture(scope="session")
def failure(episodes):
    return next(e for e in episodes if e.success_step is None and len(set(e.actions)) > 1)
