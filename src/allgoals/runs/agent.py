"""A trained agent: acts towards goals, and can be evaluated."""

import itertools
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import jax
import numpy as np

from allgoals.algorithms import Dual
from allgoals.algorithms.base import Algorithm
from allgoals.errors import UsageError, unknown
from allgoals.evaluation import Evaluator
from allgoals.experiment import EvaluationOptions, from_dict
from allgoals.goals.maze import goals_at
from allgoals.runs.directory import RunDirectory
from allgoals.runs.setup import build_checkpoints, build_trainer
from allgoals.types import Array, Key, Obs, PyTree, Task
from allgoals.validation import build_task, missed_goals


def as_learnt(task: Task) -> Callable:
    """Acting without exploration: values greedily, a policy such as PPO's by what it samples.

    The mind is an algorithm, its learner and the run's progress.
    """

    def act(mind: tuple, obs: Obs, goal: Array, key: Key) -> Array:
        algorithm, learner, progress = mind
        return algorithm.act(task, learner, obs, goal, key, explore=False, progress=progress)[0]

    return act


def build_evaluator(task: Task, options: EvaluationOptions) -> Evaluator:
    return Evaluator(task, as_learnt(task), options.num_envs, options.max_steps)


class Agent:
    """An algorithm with what it has learnt, acting on a task without exploration."""

    def __init__(self, task: Task, algorithm: Algorithm, learner: PyTree, progress: float):
        self.task = task
        self.mind = (algorithm, learner, progress)
        self._draws = itertools.count()  # so that a policy that samples does so anew each time

    @classmethod
    def load(cls, directory: RunDirectory) -> "Agent":
        """The agent of the newest good checkpoint."""
        experiment = from_dict(directory.config)
        task = build_task(experiment)
        shapes = build_trainer(experiment, task).shapes
        restored = build_checkpoints(directory, experiment, task).restore(shapes)
        if restored is None:
            raise UsageError(f"{directory.path} has no checkpoint yet")
        update, state = restored
        return cls(task, experiment.algorithm, state.learner, update / experiment.total_updates)

    def components(self) -> dict[str, tuple]:
        """The agent itself and, of a dual one, each part acting alone."""
        algorithm, learner, progress = self.mind
        parts = algorithm.parts(learner) if isinstance(algorithm, Dual) else {}
        return {"agent": self.mind} | {name: (*part, progress) for name, part in parts.items()}

    @cached_property
    def _act(self) -> Callable:
        return jax.jit(as_learnt(self.task))

    def policy(self, obs: Obs, goal: str | int) -> np.ndarray:
        """The action for one observation, or one each for a batch of them."""
        example = jax.eval_shape(self.task.env.reset, jax.random.key(0)).obs
        obs = jax.tree.map(lambda like, x: np.asarray(x, like.dtype), example, obs)
        single = jax.tree.leaves(obs)[0].ndim == jax.tree.leaves(example)[0].ndim
        batch = jax.tree.map(lambda x: x[None], obs) if single else obs
        goals = np.full(len(jax.tree.leaves(batch)[0]), self.goal_index(goal))
        key = jax.random.key(next(self._draws))
        action = np.asarray(self._act(self.mind, batch, goals, key))
        return action[0] if single else action

    def towards(self, *goals: str) -> "Agent":
        """The same agent with other goals to command: in a maze any, as point/X-Y in metres."""
        if self.task.goals.space is None:
            raise UsageError(f"the goals of {self.task.name} are those it was trained with")
        chosen = goals_at(self.task.goals, self.task.env.maze, goals)
        task = self.task._replace(goals=chosen)
        for text in missed_goals(self.mind[0], task):
            warnings.warn(text, stacklevel=2)
        return Agent(task, *self.mind)

    def goal_index(self, goal: str | int) -> int:
        names = self.task.goals.names
        if isinstance(goal, str):
            if goal not in names:
                raise unknown(f"goal of {self.task.name}", goal, names)
            return names.index(goal)
        if not 0 <= goal < len(names):
            raise UsageError(f"goal {goal}: {self.task.name} has goals 0 to {len(names) - 1}")
        return int(goal)

    def evaluate(
        self,
        evaluator: Evaluator,
        episodes: int,
        key: Key | None = None,  # of the worlds; without it always the same ones
        on_batch: Callable[[int, int], None] = lambda done, total: None,
    ) -> dict[str, Any]:
        """Success of every goal, for the agent and each of its components, as plain data."""
        key = jax.random.key(0) if key is None else key
        return evaluate_minds(self.task, evaluator, self.components(), episodes, key, on_batch)


def evaluate_random(
    task: Task,
    options: EvaluationOptions,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Success of every goal when actions are drawn at random: what learning has to beat."""

    def act(_: None, obs: Obs, goal: Array, key: Key) -> Array:
        return task.env.actions.sample(key, goal.shape)

    evaluator = Evaluator(task, act, options.num_envs, options.max_steps)
    minds, key = {"random": None}, jax.random.key(0)
    return evaluate_minds(task, evaluator, minds, options.episodes, key, on_batch)


def evaluate_minds(
    task: Task,
    evaluator: Evaluator,
    minds: dict[str, Any],  # the main one first
    episodes: int,
    key: Key,
    on_batch: Callable[[int, int], None],
) -> dict[str, Any]:
    total = len(minds) * task.num_goals * episodes
    done = 0

    def count(episodes: int) -> None:
        nonlocal done
        done += episodes
        on_batch(done, total)

    count(0)
    results = {name: evaluator(mind, episodes, key, count) for name, mind in minds.items()}
    reachable = task.goals.reachable
    possible = np.ones(task.num_goals, bool) if reachable is None else reachable
    return {
        "episodes": episodes,
        "mean": {name: float(r.rate.mean()) for name, r in results.items()},
        "mean_reachable": {name: _mean(r.rate[possible]) for name, r in results.items()},
        "success": {name: r.rate.round(4).tolist() for name, r in results.items()},
        "steps_to_goal": _mean_steps(next(iter(results.values()))),
    }


def _mean(rates: np.ndarray) -> float | None:
    """None where there is nothing to take the mean of."""
    return float(rates.mean()) if len(rates) else None


def _mean_steps(result) -> list[float | None]:
    """Mean steps of the successful episodes of each goal, None where there was none."""
    counts = result.success.sum(axis=1)
    sums = (result.steps * result.success).sum(axis=1)
    return [float(s / c) if c else None for s, c in zip(sums, counts, strict=True)]
