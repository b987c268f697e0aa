"""The gridworld against a walk written down in plain Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.gridworld import MOVES, Gridworld
from allgoals.goals.gridworld import position_goals


@pytest.mark.parametrize("env", [Gridworld(), Gridworld(size=5, wall_probability=0.5, map_seed=3)])
def test_steps_equal_a_plain_walk(env):
    actions = np.random.default_rng(0).integers(0, 4, 300)
    state, _ = env.reset(jax.random.key(0))

    def step(state, action):
        after = env.step(state, action, jax.random.key(0))
        return after.state, (after.obs, after.terminated, after.truncated)

    _, (positions, terminated, truncated) = jax.lax.scan(step, state, jnp.asarray(actions))
    x, y = env.start
    for t, action in enumerate(actions):
        dx, dy = MOVES[action]
        nx, ny = x + dx, y + dy
        inside = 0 <= nx < env.size and 0 <= ny < env.size
        if inside and not env.walls[nx, ny]:
            x, y = nx, ny
        assert tuple(positions[t].tolist()) == (x, y)
        assert bool(truncated[t]) == (t + 1 >= env.max_steps)
    assert not terminated.any()


def test_the_centre_is_free_and_the_start():
    for seed in range(20):
        env = Gridworld(size=9, wall_probability=0.9, map_seed=seed)
        assert not env.walls[env.start]
        assert tuple(env.reset(jax.random.key(0)).obs.tolist()) == env.start == (4, 4)


def test_maps_depend_on_their_seed_alone():
    assert (Gridworld(map_seed=1).walls == Gridworld(map_seed=1).walls).all()
    assert (Gridworld(map_seed=1).walls != Gridworld(map_seed=2).walls).any()


def test_distances_are_shortest_paths():
    """Against repeated relaxation over all edges."""
    env = Gridworld(size=8, map_seed=5)
    far = np.where(env.walls, np.inf, np.inf)
    far[env.start] = 0
    for _ in range(env.size**2):
        for x, y in env.free_cells:
            for dx, dy in MOVES:
                nx, ny = np.clip([x + dx, y + dy], 0, env.size - 1)
                far[x, y] = min(far[x, y], far[nx, ny] + 1)
    expected = np.where(np.isfinite(far), far, -1)
    assert (env.distance[~env.walls] == expected[~env.walls]).all()


def test_a_goal_holds_on_its_own_cell_alone():
    env = Gridworld(size=6)
    goals = position_goals(env)
    achieved = np.asarray(goals.outcome(jnp.asarray(env.free_cells, jnp.uint8)).done)
    assert (achieved == np.eye(len(goals.names), dtype=bool)).all()
    assert goals.names[0] == "position/{}-{}".format(*env.free_cells[0])
    reached = [env.distance[x, y] >= 0 for x, y in env.free_cells]
    assert goals.reachable.tolist() == reached


@pytest.mark.parametrize("wrong", [dict(size=1), dict(wall_probability=2.0), dict(max_steps=0)])
def test_impossible_worlds_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        Gridworld(**wrong)
