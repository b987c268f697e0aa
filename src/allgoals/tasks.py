"""Tasks by name: an environment, the goals over it, and how networks see both."""

import importlib.util
from collections.abc import Callable
from functools import partial

from allgoals.envs.ant_maze import AntBigMaze, AntHardestMaze, AntMaze, AntUMaze
from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.point_maze import TOP_SPEED, PointBigMaze, PointMaze, PointUMaze
from allgoals.errors import UsageError
from allgoals.goals.base import random_subset
from allgoals.goals.craftax import CELLS, craftax_goals
from allgoals.goals.gridworld import position_goals
from allgoals.goals.maze import MazeGoals, maze_goals
from allgoals.networks.encoders import GridEncoder, OneHotCoordinates, VectorEncoder
from allgoals.types import Environment, Task


def gridworld(env: Gridworld) -> Task:
    def encoder(features: int, normalise: bool) -> OneHotCoordinates:
        del features  # a position has no map
        return OneHotCoordinates(env.size, normalise)

    return Task("gridworld", env, position_goals(env), encoder)


def craftax_classic(env: CraftaxClassic) -> Task:
    return _craftax("craftax-classic", env)


def craftax(env: Craftax) -> Task:
    return _craftax("craftax", env)


def _craftax(name: str, env: CraftaxClassic | Craftax) -> Task:
    return Task(name, env, craftax_goals(env), partial(GridEncoder, env.layout, CELLS))


POINT_SPEED = (TOP_SPEED,) * 2
ANT_POSE, ANT_SPEED = (1.0,) * 13, (10.0,) * 14  # what is around 0, and how far it goes


def point_maze(env: PointMaze, goals: MazeGoals) -> Task:
    return _maze(f"point-{env.layout}-maze", env, goals, POINT_SPEED)


def ant_maze(env: AntMaze, goals: MazeGoals) -> Task:
    name = f"ant-{env.layout}-maze"
    if importlib.util.find_spec("brax") is None:
        raise UsageError(f"{name} needs brax: pip install 'allgoals[control]'")
    return _maze(name, env, goals, ANT_POSE + ANT_SPEED)


def _maze(name: str, env: PointMaze | AntMaze, goals: MazeGoals, spread: tuple) -> Task:
    """Observations are a position in the maze, then numbers that spread around 0."""
    centre, scale = (*env.maze.middle, *(0.0,) * len(spread)), (*env.maze.extent, *spread)

    def encoder(features: int, normalise: bool) -> VectorEncoder:
        del features  # nothing here is a map
        return VectorEncoder(centre, scale, normalise)

    return Task(name, env, maze_goals(env.maze, goals, env.clearance), encoder)


MAZES: dict[str, tuple[type, Callable[..., Task]]] = {
    "point-u-maze": (PointUMaze, point_maze),
    "point-big-maze": (PointBigMaze, point_maze),
    "ant-u-maze": (AntUMaze, ant_maze),
    "ant-big-maze": (AntBigMaze, ant_maze),
    "ant-hardest-maze": (AntHardestMaze, ant_maze),
}
TASKS: dict[str, tuple[type, Callable[..., Task]]] = {
    "gridworld": (Gridworld, gridworld),
    "craftax-classic": (CraftaxClassic, craftax_classic),
    "craftax": (Craftax, craftax),
    **MAZES,
}


def make_task(
    name: str,
    env: Environment | None = None,
    subset: int | None = None,
    include: tuple[str, ...] = (),
    subset_seed: int = 0,
    maze: MazeGoals | None = None,
) -> Task:
    """The named task, on `env` or its default, with all goals or a random subset."""
    default_env, build = TASKS[name]
    env = env or default_env()
    task = build(env, maze or MazeGoals()) if name in MAZES else build(env)
    if subset is None:
        return task
    return task._replace(goals=random_subset(task.goals, subset, include, subset_seed))
