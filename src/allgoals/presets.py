"""Experiments by name: "gridworld/leo" is a task and an algorithm with sizes that suit both."""

from dataclasses import replace

from allgoals.algorithms import ALGORITHMS
from allgoals.algorithms.base import Algorithm
from allgoals.errors import unknown
from allgoals.experiment import Experiment
from allgoals.tasks import TASKS

# Sized for two cores and minutes; the algorithms' own defaults are the paper's, for Craftax.
SMALL_Q = dict(
    width=128, layers=2, learning_rate=3e-3, gamma=0.95, minibatch_size=512, epochs=2,
    epsilon_start=1.0, epsilon_end=0.05, epsilon_decay=0.5,
)  # fmt: skip
SMALL_PPO = dict(
    width=128, actor_layers=1, critic_layers=1, learning_rate=1e-3, gamma=0.95,
    epochs=4, num_minibatches=8, entropy_coefficient=0.01,
)  # fmt: skip


def _gridworld_algorithm(name: str) -> Algorithm:
    algorithm = ALGORITHMS[name]
    if name == "ppo":
        return replace(algorithm, **SMALL_PPO)
    if name == "dual_leo_pqn":
        parts = dict(leo=replace(algorithm.leo, **SMALL_Q), pqn=replace(algorithm.pqn, **SMALL_Q))
        return replace(algorithm, alpha=0.5, **parts)
    if name == "dual_leo_ppo":
        parts = dict(leo=replace(algorithm.leo, **SMALL_Q), ppo=replace(algorithm.ppo, **SMALL_PPO))
        return replace(algorithm, **parts)
    return replace(algorithm, **SMALL_Q)


def preset(name: str) -> Experiment:
    """The experiment called TASK/ALGORITHM."""
    task, _, algorithm = name.partition("/")
    if not algorithm:
        raise unknown("experiment", name, names())
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    return Experiment(
        task=task,
        name=algorithm,
        env=TASKS[task][0](),
        algorithm=_gridworld_algorithm(algorithm),
        steps=1_000_000,
    )


def names() -> list[str]:
    return [f"{task}/{algorithm}" for task in TASKS for algorithm in ALGORITHMS]
