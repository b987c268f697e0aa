"""The point mazes: layouts as the benchmark has them, and a body that walls stop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.maze import CELL, LAYOUTS, Maze
from allgoals.envs.point_maze import CLEARANCE, RADIUS, PointBigMaze, PointUMaze


@pytest.mark.parametrize(
    "name, shape, walls, goals",
    [("u", (5, 5), 18, 6), ("big", (8, 8), 38, 25), ("hardest", (9, 12), 62, 45)],
)
def test_layouts_have_the_benchmarks_counts(name, shape, walls, goals):
    maze = Maze(name)
    assert maze.walls.shape == shape
    assert maze.walls.sum() == walls and len(maze.goals) == goals
    assert maze.start.tolist() == [4.0, 4.0]


ROWS = {  # walls as bits
    "u": "1F 11 1D 11 1F",
    "big": "FF 99 91 C7 91 A5 89 FF",
    "hardest": "FFF 841 B55 811 BDD 941 D57 911 FFF",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_are_the_benchmarks(name):
    rows = [int("".join("01"[wall] for wall in row), 2) for row in Maze(name).walls.astype(int)]
    assert " ".join(f"{row:X}" for row in rows) == ROWS[name]


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_goal_can_be_walked_to(name):
    maze = Maze(name)
    seen, frontier = set(), [tuple((maze.start / CELL).astype(int))]
    while frontier:
        cell = frontier.pop()
        if cell in seen or maze.walls[cell]:
            continue
        seen.add(cell)
        frontier += [(cell[0] + di, cell[1] + dj) for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    assert seen >= {tuple(cell) for cell in maze.goal_cells.tolist()}


def inside_wall(maze: Maze, position: np.ndarray) -> bool:
    corners = position + RADIUS * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return not maze.is_free(corners).all()


@pytest.mark.parametrize("env", [PointUMaze(), PointBigMaze()])
def test_the_body_never_enters_a_wall_and_moves_as_pushed_away_from_one(env):
    """Against a plain loop: velocity, then each axis, up to the wall."""
    step = jax.jit(jax.vmap(env.step, (0, 0, None)))
    n, key = 64, jax.random.key(0)
    state = jax.vmap(env.reset)(jax.random.split(key, n)).state
    random = np.random.default_rng(0)
    heading = random.uniform(-1, 1, (n, 2))
    for t in range(200):
        if t % 10 == 0:
            heading = random.choice([-1.0, -0.3, 0.4, 1.0], (n, 2))
        after = step(state, jnp.asarray(heading, jnp.float32), key)
        for i in range(0, n, 8):
            position, velocity = plain_step(
                env.maze, *(np.asarray(x[i], np.float64) for x in state[:2]), heading[i]
            )
            np.testing.assert_allclose(after.state.position[i], position, atol=1e-5)
            np.testing.assert_allclose(after.state.velocity[i], velocity, atol=1e-5)
            assert not inside_wall(env.maze, np.asarray(after.state.position[i]))
        state = after.state


def plain_step(maze, position, velocity, action):
    velocity = 0.8 * velocity + 0.2 * action
    position = position.copy()
    for axis in range(2):
        ahead = position.copy()
        ahead[axis] += velocity[axis]
        if not inside_wall(maze, ahead):
            position = ahead
            continue
        reach = ahead[axis] + np.sign(velocity[axis]) * RADIUS
        cell = np.floor(reach / CELL + 0.5)
        face = CELL * (cell - 0.5 * np.sign(velocity[axis]))
        position[axis] = face - np.sign(velocity[axis]) * (RADIUS + CLEARANCE)
        velocity[axis] = 0.0
    return position, velocity


def test_time_truncates_and_nothing_terminates():
    env = PointUMaze(max_steps=3)
    state = env.reset(jax.random.key(0)).state
    for t in range(3):
        after = env.step(state, jnp.ones(2), jax.random.key(t))
        state = after.state
        assert bool(after.truncated) == (t == 2) and not after.terminated


def test_the_u_maze_can_be_walked_by_hand():
    env = PointUMaze()
    step = jax.jit(env.step)
    state = env.reset(jax.random.key(0)).state
    for action, steps in (((0, 1), 14), ((1, 0), 14), ((0, -1), 14)):
        for _ in range(steps):
            state = step(state, jnp.array(action, jnp.float32), jax.random.key(0)).state
    assert np.linalg.norm(np.asarray(state.position) - [12, 4]) < 2
