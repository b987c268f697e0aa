"""Tasks by name: an environment, the goals over it, and how networks see both."""

from collections.abc import Callable
from functools import partial

from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.envs.gridworld import Gridworld
from allgoals.goals.base import random_subset
from allgoals.goals.craftax import CELLS, craftax_goals
from allgoals.goals.gridworld import position_goals
from allgoals.networks.encoders import GridEncoder, OneHotCoordinates
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


TASKS: dict[str, tuple[type, Callable[..., Task]]] = {
    "gridworld": (Gridworld, gridworld),
    "craftax-classic": (CraftaxClassic, craftax_classic),
    "craftax": (Craftax, craftax),
}


def make_task(
    name: str,
    env: Environment | None = None,
    subset: int | None = None,
    include: tuple[str, ...] = (),
    subset_seed: int = 0,
) -> Task:
    """The named task, on `env` or its default, with all goals or a random subset."""
    default_env, build = TASKS[name]
    task = build(env or default_env())
    if subset is None:
        return task
    return task._replace(goals=random_subset(task.goals, subset, include, subset_seed))
