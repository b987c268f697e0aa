"""Every algorithm for discrete actions by name, at a size for tests."""

from dataclasses import replace

from allgoals.algorithms import ALGORITHMS, DISCRETE
from allgoals.algorithms.base import Algorithm, Dual
from allgoals.envs.gridworld import Gridworld
from allgoals.tasks import make_task
from allgoals.types import Task

NAMES = list(DISCRETE)


def small(name: str, **changes) -> Algorithm:
    """The named algorithm with narrow networks and minibatches that divide 4 x 8 transitions."""
    algorithm = ALGORITHMS[name]
    if isinstance(algorithm, Dual):
        second = "pqn" if "pqn" in name else "ppo"
        return replace(algorithm, leo=small("leo"), **{second: small(second)}, **changes)
    if name == "ppo":
        sizes = dict(width=16, actor_layers=1, critic_layers=1, num_minibatches=4)
    else:
        sizes = dict(width=16, layers=1, minibatch_size=8)
    return replace(algorithm, **sizes, **changes)


def small_task() -> Task:
    return make_task("gridworld", Gridworld(size=4, wall_probability=0.2, max_steps=10))
