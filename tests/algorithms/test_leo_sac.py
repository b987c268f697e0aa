"""LEO for SAC: batches through all goals, its targets and its modes, against plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.algorithms.all_goals import through_all, through_commanded
from allgoals.algorithms.off_policy import draw
from allgoals.goals.maze import REACH
from allgoals.learning.advantage import expectile_loss, weights
from allgoals.runs.agent import Agent
from allgoals.types import GoalSpace
from tests.algorithms.control import small, small_task
from tests.algorithms.test_off_policy import remembered, walked

ROWS = 200


@pytest.fixture(scope="module")
def memory():
    return remembered(walked(np.random.default_rng(0), 30, 3), 30, seam=7)


def rows_of(memory):
    return jax.device_get(memory.replay.take(*memory.replay.sample(jax.random.key(5), ROWS)))


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_every_goal_of_the_grid_judges_every_row(memory, ends, told, reward):
    task = small_task(ends=ends, reward=reward)
    steps = rows_of(memory)
    batch = jax.device_get(through_all(task, steps, jax.random.key(0), some=0, told=told))
    grid = task.goals.space.grid
    assert batch.reward.shape == (ROWS, len(grid)) and (batch.heads == np.arange(len(grid))).all()
    offset = np.asarray(batch.seen[1]) if told else np.zeros((ROWS, 2))
    assert (np.abs(offset) <= np.array(task.goals.space.spread)).all()
    assert not told or offset.std() > 0.5
    np.testing.assert_array_equal(batch.action, steps.action)
    for found, expected in ((batch.seen, steps.obs), (batch.next_seen, steps.next_obs)):
        np.testing.assert_array_equal(found[0] if told else found, expected)
        assert not told or (found[1] == offset).all()  # the same for both
    reached_any = 0
    for b in range(ROWS):
        for g in range(len(grid)):
            distance = np.hypot(*(steps.next_obs[b, :2] - grid[g] - offset[b]))
            if abs(distance - REACH) < 1e-4:
                continue
            reached = distance < REACH
            reached_any += reached
            expected = reached if reward == "sparse" else pytest.approx(-distance, abs=1e-4)
            assert float(batch.reward[b, g]) == expected
            assert bool(batch.no_future[b, g]) == (bool(steps.terminated[b]) or (ends and reached))
    assert reached_any > 0


def test_some_goals_are_the_same_columns(memory):
    task, steps = small_task(), rows_of(memory)
    every = through_all(task, steps, jax.random.key(0), some=0, told=False)
    few = through_all(task, steps, jax.random.key(0), some=3, told=False)
    assert len(few.heads) == 3 == len(set(few.heads.tolist()))
    np.testing.assert_array_equal(few.reward, every.reward[:, few.heads])
    drawn = {
        int(g)
        for i in range(20)
        for g in through_all(task, steps, jax.random.key(i), some=3, told=False).heads
    }
    assert drawn == set(range(len(task.goals.space.grid)))


def test_a_commanded_goal_is_its_nearest_of_the_grid_and_the_way_from_there():
    task = small_task(commanded="anywhere")
    goal = jnp.arange(task.num_goals)
    obs = jnp.zeros((task.num_goals, 4))
    (_, offset), head = through_commanded(task, obs, goal, told=True)
    space: GoalSpace = task.goals.space
    np.testing.assert_allclose(space.grid[np.asarray(head)] + offset, space.points, atol=1e-5)


@pytest.mark.parametrize("name", ["sac", "leo_sac", "leo_sac, offset"])
def test_a_trained_agent_can_be_sent_anywhere(name):
    """A point off the grid is told as it is, or by its nearest of the grid and the way there."""
    task, algorithm = small_task(), small(name)
    learner = algorithm.init(task, jax.random.key(0))
    agent = Agent(task, algorithm, learner, 1.0).towards("point/4.9-6.3")
    obs, point = jnp.array([[4.0, 4.0, 0.1, 0.2]]), jnp.array([[4.9, 6.3]])
    policy = learner.agent.policy
    grid = task.goals.space.grid
    head = np.hypot(*(grid - np.asarray(point)).T).argmin(keepdims=True)
    if name == "sac":
        mean, _ = policy(obs, point)
    else:
        seen = obs if name == "leo_sac" else (obs, point - grid[head])
        mean, _ = policy(seen, head, method="commanded")
    np.testing.assert_allclose(agent.policy(obs[0], "point/4.9-6.3"), jnp.tanh(mean)[0], atol=1e-6)


def test_the_dual_policy_seeks_a_mix_of_both_critics(memory):
    task = small_task()
    agent = small("dual_leo_sac", weight=0.25).agent
    learner = agent.init(task, jax.random.key(0))
    batch = draw(task, memory, jax.random.key(1), batch_size=32, relabel="none", share=0.0)
    action = jax.random.uniform(jax.random.key(2), (32, 2), minval=-1.0)
    found = agent.worth(task, learner, batch, action)
    q_uvfa = learner.uvfa.critics(batch.obs, action, batch.goal).min(axis=0)
    q_leo = learner.leo.critics(batch.obs, action).min(axis=0)
    for b in range(32):
        head = int(np.linalg.norm(task.goals.space.grid - batch.goal[b], axis=1).argmin())
        np.testing.assert_allclose(found[b], 0.25 * q_leo[b, head] + 0.75 * q_uvfa[b], atol=1e-5)


def test_an_expectile_is_where_its_weights_balance():
    values = jnp.asarray(np.random.default_rng(0).normal(size=2000))
    v = jnp.float32(0.0)
    slope = jax.jit(jax.grad(lambda v: expectile_loss(values - v, 0.8)[0]))
    for _ in range(400):
        v = v - 0.5 * slope(v)
    above, below = values[values > v] - v, v - values[values <= v]
    np.testing.assert_allclose(0.8 * above.sum(), 0.2 * below.sum(), rtol=1e-3)


def test_weights_do_not_depend_on_a_goal_s_scale():
    advantage = jax.random.normal(jax.random.key(0), (64, 3))
    scaled = weights(advantage * jnp.array([1e-3, 1.0, 1e3]), 0.5)
    centred = advantage - advantage.mean(axis=0)
    plain = np.minimum(np.exp(centred / (0.5 * advantage.std(axis=0))), 100.0)
    np.testing.assert_allclose(scaled[:, 1:], plain[:, 1:], rtol=1e-3)
    np.testing.assert_allclose(scaled[:, 0], plain[:, 0], rtol=2e-2)
