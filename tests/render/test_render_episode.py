import jax
import numpy as np
import pytest

from allgoals.envs.gridworld import MOVES, Gridworld
from allgoals.errors import UsageError
from allgoals.render import play_episode
from allgoals.runs.agent import Agent
from allgoals.tasks import make_task


def walk(agent, goal, max_steps):
    """The same episode without the environment's code: cells, and when the goal was reached."""
    env = agent.task.env
    target = env.free_cells[agent.goal_index(goal)]
    cells = [np.array(env.start)]
    for t in range(max_steps):
        ahead = np.clip(cells[-1] + MOVES[agent.policy(cells[-1], goal)], 0, env.size - 1)
        cells.append(cells[-1] if env.walls[tuple(ahead)] else ahead)
        if (cells[-1] == target).all():
            return cells, t + 1
    return cells, None


def test_success_is_that_of_an_independent_walk(agent, episodes):
    for episode in episodes:
        cells, success_step = walk(agent, episode.goal, max_steps=12)
        assert episode.success_step == success_step
        np.testing.assert_array_equal([s.position for s in episode.states], cells)
        np.testing.assert_array_equal(episode.observations, cells)
        assert len(episode.actions) == len(cells) - 1
    assert any(e.success_step for e in episodes) and any(not e.success_step for e in episodes)


def test_everything_kept_is_numpy(success):
    leaves = jax.tree.leaves((success.states, success.observations))
    assert all(isinstance(leaf, np.ndarray | np.generic) for leaf in leaves)
    assert all(type(action) is int for action in success.actions)


def test_the_end_of_the_episode_ends_it(agent, failure):
    task = make_task("gridworld", Gridworld(size=5, max_steps=3))
    hasty = Agent(task, *agent.mind)
    episode = play_episode(hasty, failure.goal, 12, jax.random.key(0))
    assert len(episode.actions) == 3 and episode.success_step is None


def test_one_compilation_serves_all_goals(agent):
    goals = agent.task.goals
    traces = []

    def outcome(obs):
        traces.append(obs)
        return goals.outcome(obs)

    watched = Agent(agent.task._replace(goals=goals._replace(outcome=outcome)), *agent.mind)
    for goal in goals.names[:3]:
        play_episode(watched, goal, 4, jax.random.key(1))
    assert len(traces) == 1


def test_an_unknown_goal_is_refused(agent):
    with pytest.raises(UsageError, match="position/9-9"):
        play_episode(agent, "position/9-9", 4, jax.random.key(0))
