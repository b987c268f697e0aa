"""Goals of mazes: where they lie, when they are reached, which of the grid stands for them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals.envs.maze import LAYOUTS, Maze
from allgoals.errors import UsageError
from allgoals.goals.base import subset
from allgoals.goals.maze import (
    REACH,
    MazeGoals,
    goals_at,
    grid_points,
    maze_goals,
    snap_warning,
)

MAZES = [Maze(name) for name in LAYOUTS]


def wall_distance(maze: Maze, point: np.ndarray) -> float:
    """From a point to the nearest wall, a box of side 4."""
    boxes = 4.0 * np.argwhere(maze.walls)
    outside = np.maximum(np.abs(point - boxes) - 2.0, 0.0)
    return float(np.linalg.norm(outside, axis=1).min())


@pytest.mark.parametrize(("name", "spacing", "size"), [
    ("u", 1.0, 112), ("big", 1.0, 416), ("u", 0.5, 448), ("big", 0.5, 1664), ("u", 4.0, 7),
])  # fmt: skip
def test_a_grid_covers_free_space(name, spacing, size):
    maze = Maze(name)
    grid = grid_points(maze, spacing)
    assert len(grid) == size == len(np.unique(grid, axis=0))
    assert maze.is_free(grid).all() and (grid % spacing == 0).all()


def test_a_clearance_leaves_out_what_lies_on_walls():
    maze = Maze("u")
    every, clear = grid_points(maze, 1.0), grid_points(maze, 1.0, 0.01)
    apart = np.array([wall_distance(maze, point) for point in every])
    np.testing.assert_array_equal(clear, every[apart > 0.005])
    assert len(clear) == 81


@pytest.mark.parametrize("maze", MAZES, ids=lambda maze: maze.name)
@pytest.mark.parametrize("commanded", ["cells", "anywhere"])
@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_outcomes_equal_a_plain_loop(maze, commanded, reward):
    goals = maze_goals(maze, MazeGoals(commanded=commanded, reward=reward))
    random = np.random.default_rng(0)
    place = goals.space.points[random.integers(len(goals.names), size=50)]
    obs = np.concatenate([place + random.normal(0, 0.4, (50, 2)), np.ones((50, 2))], axis=1)
    outcome = jax.device_get(goals.outcome(jnp.asarray(obs, jnp.float32)))
    reached = 0
    for b in range(50):
        for g, point in enumerate(goals.space.points):
            distance = np.hypot(*(obs[b, :2] - point))
            if abs(distance - REACH) < 1e-4:
                continue
            assert bool(outcome.done[b, g]) == (distance < REACH)
            expected = float(distance < REACH) if reward == "sparse" else -distance
            np.testing.assert_allclose(outcome.reward[b, g], expected, atol=1e-4)
            reached += distance < REACH
    assert reached > 10


@pytest.mark.parametrize("maze", MAZES, ids=lambda maze: maze.name)
def test_goals_anywhere_leave_a_body_room_and_have_names_of_their_own(maze):
    goals = maze_goals(maze, MazeGoals(commanded="anywhere"))
    assert len(goals.names) == len(set(goals.names)) == 16 * len(maze.goals)
    assert min(wall_distance(maze, point) for point in goals.space.points) >= REACH - 1e-4


@pytest.mark.parametrize("spacing", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("commanded", ["cells", "anywhere"])
def test_the_nearest_goal_of_the_grid_stands_for_a_commanded_one(spacing, commanded):
    space = maze_goals(Maze("u"), MazeGoals(spacing=spacing, commanded=commanded)).space
    for point, head in zip(space.points, space.nearest, strict=True):
        distance = [np.hypot(*(point - other)) for other in space.grid]
        assert np.isclose(distance[head], min(distance))
        assert (np.abs(point - space.grid[head]) <= np.array(space.spread) + 1e-6).all()


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        (MazeGoals(), False),  # centres of cells are multiples of 4
        (MazeGoals(spacing=2.0), False),
        (MazeGoals(spacing=1.5), True),
        (MazeGoals(commanded="anywhere"), True),
        (MazeGoals(commanded="anywhere", spacing=0.5), True),  # up to 0.35 away
        (MazeGoals(commanded="anywhere", spacing=0.5, grid_reach=0.14), False),
    ],
)
def test_a_warning_where_the_grid_can_miss_a_goal(options, warned):
    """Whoever is within reach of the grid's goal must be within reach of the true one."""
    space = maze_goals(Maze("u"), options).space
    found = np.linalg.norm(space.points - space.grid[space.nearest], axis=1).max()
    assert space.snap_error >= found - 1e-6
    if options.commanded == "anywhere":  # the middle of four goals of the grid is the worst place
        assert space.snap_error == pytest.approx(options.spacing / 2**0.5)
    assert (space.snap_error + options.grid_reach > REACH + 1e-6) == warned
    assert bool(snap_warning(space, "--offset")) == warned


@pytest.mark.parametrize("clearance", [0.0, 0.5])
@pytest.mark.parametrize("maze", MAZES, ids=lambda maze: maze.name)
def test_offsets_that_are_learnt_cover_all_of_free_space(maze, clearance):
    """Whatever place an agent that is told offsets is sent to."""
    space = maze_goals(maze, MazeGoals(spacing=2.0), clearance).space
    draws = np.random.default_rng(0).uniform(0, 4.0 * np.array(maze.walls.shape), (4000, 2))
    around = REACH * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    places = draws[maze.is_free(draws[:, None] + around).all(axis=1)]
    away = np.array([p - space.grid[np.hypot(*(p - space.grid).T).argmin()] for p in places])
    assert len(places) > 500
    assert (np.abs(away).max(axis=0) <= np.array(space.spread) + 0.125).all()


def test_goals_off_the_grid_say_how_far_they_lie():
    maze = Maze("u")
    goals = maze_goals(maze, MazeGoals(spacing=2.0), clearance=0.5)
    assert goals.space.snap_error == 0
    sent = goals_at(goals, maze, ["point/4.9-6.3"]).space
    [head] = sent.nearest
    assert sent.snap_error == pytest.approx(np.hypot(*(sent.points[0] - sent.grid[head])))
    assert "0.95" in snap_warning(sent, "--offset") and not snap_warning(goals.space, "--offset")


@pytest.mark.parametrize("wrong", [dict(spacing=0.1), dict(spacing=5.0), dict(grid_reach=0.0)])
def test_what_no_grid_can_be(wrong):
    with pytest.raises(ValueError, match="goals.maze"):
        MazeGoals(**wrong)


def test_a_choice_of_goals_keeps_its_points_and_the_whole_grid():
    goals = maze_goals(Maze("big"), MazeGoals(spacing=2.0))
    some = subset(goals, np.array([3, 7]))
    obs = jnp.concatenate([jnp.asarray(goals.space.points), jnp.zeros((25, 2))], axis=1)
    assert some.names == (goals.names[3], goals.names[7])
    np.testing.assert_array_equal(some.space.points, goals.space.points[[3, 7]])
    np.testing.assert_array_equal(some.outcome(obs).done, goals.outcome(obs).done[:, [3, 7]])
    np.testing.assert_array_equal(some.space.grid, goals.space.grid)
    np.testing.assert_array_equal(some.space.grid[some.space.nearest], some.space.points)


def test_goals_may_lie_anywhere_in_free_space():
    maze = Maze("u")
    goals = maze_goals(maze, MazeGoals(spacing=2.0))
    chosen = goals_at(goals, maze, ["cell/1-2", "point/4.9-6.3"])
    points = np.array([[4.0, 8.0], [4.9, 6.3]])
    np.testing.assert_allclose(chosen.space.points, points)
    np.testing.assert_allclose(chosen.features, points)
    for point, head in zip(points, chosen.space.nearest, strict=True):
        assert head == np.hypot(*(goals.space.grid - point).T).argmin()
    for distance in (0.49, 0.51):
        obs = jnp.array([4.9 + distance, 6.3, 0.0, 0.0])
        np.testing.assert_array_equal(chosen.outcome(obs).done, [False, distance < REACH])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("point/8-4", "not in the maze's free space"),
        ("point/99-99", "not in the maze's free space"),
        ("cell/1-4", "did you mean"),
        ("point/4", "point/X-Y"),
    ],
)
def test_what_no_goal_of_a_maze_can_be(name, told):
    goals = maze_goals(Maze("u"), MazeGoals())
    with pytest.raises(UsageError, match=told):
        goals_at(goals, Maze("u"), ["cell/1-2", name])
