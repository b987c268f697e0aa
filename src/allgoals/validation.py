"""Checks an experiment before anything is compiled or written, and names all that is wrong."""

import dataclasses
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from allgoals.errors import UsageError, unknown
from allgoals.experiment import Experiment
from allgoals.types import Task

POSITIVE = {
    "steps", "num_envs", "num_steps", "log_every", "checkpoint_every", "width", "layers",
    "embedding_layers", "epochs", "minibatch_size", "num_minibatches", "episodes", "max_steps",
    "random_goals", "positive_goals", "subset",
}  # fmt: skip
NOT_NEGATIVE = {
    "seed", "subset_seed", "times", "actor_layers", "critic_layers", "entropy_coefficient",
    "value_coefficient", "policy_cloning", "value_cloning",
}  # fmt: skip
ABOVE_ZERO = {"learning_rate", "max_grad_norm", "temperature", "clip"}
SHARES = {
    "gamma", "gae_lambda", "q_lambda", "epsilon_start", "epsilon_end", "alpha", "success_decay",
}  # fmt: skip
SHARES_ABOVE_ZERO = {"epsilon_decay", "goal_fraction"}

RULES = [
    (POSITIVE, lambda v: v >= 1, "must be 1 or more"),
    (NOT_NEGATIVE, lambda v: 0 <= v < float("inf"), "must be 0 or more"),
    (ABOVE_ZERO, lambda v: 0 < v < float("inf"), "must be above 0"),
    (SHARES, lambda v: 0 <= v <= 1, "must lie in 0..1"),
    (SHARES_ABOVE_ZERO, lambda v: 0 < v <= 1, "must be above 0 and at most 1"),
]


def check(experiment: Experiment) -> None:
    """Everything that can be said without building the task."""
    problems = list(_fields(experiment, ""))
    if not problems:
        problems = list(_sizes(experiment))
    if problems:
        raise UsageError("\n".join(problems))


def check_goals(experiment: Experiment, names: tuple[str, ...]) -> None:
    """What only the full list of goals can tell."""
    options = experiment.goals
    for name in options.include:
        if name not in names:
            raise unknown(f"goal in --goals.include for task {experiment.task}:", name, names)
    if len(set(options.include)) < len(options.include):
        raise UsageError("--goals.include names a goal twice")
    if options.include and options.subset is None:
        raise UsageError("--goals.include needs --goals.subset: without it every goal is in")
    if options.subset is not None and options.subset > len(names):
        raise UsageError(f"--goals.subset {options.subset}: {experiment.task} has {len(names)} goals")
    if options.subset is not None and options.subset < len(options.include):
        raise UsageError(
            f"--goals.subset {options.subset} cannot hold the {len(options.include)} goals included"
        )


def check_divisions(experiment: Experiment, task: Task) -> None:
    """Minibatches must cut a rollout into equal parts."""
    problems = []
    divisions = experiment.algorithm.divisions(experiment.steps_per_update, task.num_goals)
    for field, (rows, divisor) in divisions.items():
        if rows % divisor:
            near = [d for d in range(divisor, 0, -1) if rows % d == 0][:1]
            problems.append(
                f"--algorithm.{_flag(field)} {divisor} does not divide the {rows} rows of a rollout"
                f" ({experiment.num_envs} environments x {experiment.num_steps} steps);"
                f" {near[0]} does"
            )
    if problems:
        raise UsageError("\n".join(problems))


def _fields(config: Any, prefix: str) -> Iterator[str]:
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        flag = prefix + field.name
        if dataclasses.is_dataclass(value):
            yield from _fields(value, flag + ".")
            continue
        if get_origin(field.type) is Literal and value not in get_args(field.type):
            yield f"--{_flag(flag)} {value!r}: valid are {', '.join(get_args(field.type))}"
        for names, holds, rule in RULES:
            if field.name in names and value is not None and not holds(value):
                yield f"--{_flag(flag)} {rule}, not {value}"


def _sizes(experiment: Experiment) -> Iterator[str]:
    if experiment.evaluation.num_envs < 1:
        yield f"--evaluation.num-envs must be 1 or more, not {experiment.evaluation.num_envs}"
    if experiment.steps_per_update >= 2**31:
        yield "--num-envs times --num-steps must stay below 2^31"
    if experiment.total_updates >= 2**31:
        yield f"--steps {experiment.steps} needs {experiment.total_updates} updates; at most 2^31"
    if experiment.seed >= 2**32:
        yield f"--seed must stay below 2^32, not {experiment.seed}"


def _flag(name: str) -> str:
    return name.replace("_", "-")
