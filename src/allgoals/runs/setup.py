"""From an experiment to the objects that carry it out."""

import hashlib
import json

from allgoals.experiment import Experiment, to_dict
from allgoals.goals.samplers import SAMPLERS
from allgoals.runs.checkpoint import Checkpoints
from allgoals.runs.directory import RunDirectory
from allgoals.training import Trainer
from allgoals.types import Task


def build_trainer(experiment: Experiment, task: Task, runs: int | None = None) -> Trainer:
    return Trainer(
        task, experiment.algorithm, SAMPLERS[experiment.goals.sampler],
        experiment.num_envs, experiment.num_steps, experiment.total_updates,
        experiment.goals.success_decay, getattr(experiment.goals, "frozen", False),
        runs,
    )  # fmt: skip


def build_checkpoints(directory: RunDirectory, experiment: Experiment, task: Task) -> Checkpoints:
    return Checkpoints(directory.path / "checkpoints", owner(experiment, task))


def owner(experiment: Experiment, task: Task) -> str:
    """Which run a checkpoint belongs to: a hash of the experiment and of its goals."""
    text = json.dumps([to_dict(experiment), task.goals.names], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
