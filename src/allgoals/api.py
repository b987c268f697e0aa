"""The library's front door: train, evaluate and use agents from Python."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from allgoals.errors import MemoryShortage
from allgoals.experiment import EvaluationOptions, Experiment, from_dict, to_dict
from allgoals.presets import preset
from allgoals.runs.agent import Agent, build_evaluator
from allgoals.runs.cache import enable_compile_cache
from allgoals.runs.directory import RunDirectory, check_new, new_path
from allgoals.runs.signals import Signals
from allgoals.runs.train import Driver, Observer
from allgoals.types import Obs
from allgoals.validation import build_task, check_fields


class Run:
    """A run directory and the agent in it."""

    def __init__(self, path: str | Path):
        self.directory = RunDirectory.open(path)

    @property
    def path(self) -> Path:
        return self.directory.path

    @property
    def experiment(self) -> Experiment:
        return from_dict(self.directory.config)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        return self.directory.rows("metrics.jsonl")

    @property
    def evaluations(self) -> list[dict[str, Any]]:
        return self.directory.rows("evaluations.jsonl")

    @property
    def summary(self) -> dict[str, Any] | None:
        return self.directory.read("summary.json")

    @cached_property
    def agent(self) -> Agent:
        enable_compile_cache()
        return Agent.load(self.directory)

    def policy(self, obs: Obs, goal: str | int) -> np.ndarray:
        """The action towards a goal, given by name or index; of PPO, a sample of its policy."""
        return self.agent.policy(obs, goal)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"


def train(
    experiment: str | Experiment,
    *,
    out: str | Path | None = None,
    observer: Observer | None = None,
    signals: Signals | None = None,
    **changes: Any,
) -> Run:
    """Train "task/algorithm", or an Experiment, with fields changed: steps=2_000_000, seed=1."""
    if isinstance(experiment, str):
        experiment = preset(experiment)
    experiment = replace(experiment, **changes)
    build_task(experiment)  # complains before anything is written
    if out is None:
        name = f"{experiment.task}-{experiment.name}-seed{experiment.seed}"
        path = new_path(Path("runs"), name)
    else:
        path = Path(out)
        check_new(path)
    directory = RunDirectory.create(path, to_dict(experiment))
    try:
        return _run(directory, experiment, observer, signals)
    except MemoryShortage:  # nothing was learnt: leave no trace
        directory.discard()
        raise


def resume(
    path: str | Path, *, observer: Observer | None = None, signals: Signals | None = None
) -> Run:
    """Continue a run to the same end it would have had without the interruption."""
    directory = RunDirectory.open(path)
    experiment = from_dict(directory.config)
    directory.lock()
    return _run(directory, experiment, observer, signals)


def _run(
    directory: RunDirectory,
    experiment: Experiment,
    observer: Observer | None,
    signals: Signals | None,
) -> Run:
    enable_compile_cache()
    try:
        Driver(directory, experiment, observer or Observer(), signals or Signals()).train()
    finally:
        directory.unlock()
    return Run(directory.path)


def evaluate(run: Run | str | Path, **changes: Any) -> dict[str, Any]:
    """Success of every goal: evaluate(run, episodes=16)."""
    run = run if isinstance(run, Run) else Run(run)
    options: EvaluationOptions = replace(run.experiment.evaluation, **changes)
    check_fields(options)
    evaluator = build_evaluator(run.agent.task, options)
    return run.agent.evaluate(evaluator, options.episodes)
