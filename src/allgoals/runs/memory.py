"""How much memory a program will take, known before it runs."""

from dataclasses import fields
from pathlib import Path

import jax
import psutil
from jax.stages import Compiled

from allgoals.algorithms import OffPolicy
from allgoals.errors import MemoryShortage
from allgoals.evaluation import Evaluator
from allgoals.experiment import Experiment
from allgoals.training import Trainer
from allgoals.types import PyTree

COPIES = 4  # of its environments that an evaluation holds; 2.7 to 3.9 were planned for Craftax's
CGROUP = Path("/sys/fs/cgroup")


def program_bytes(program: Compiled) -> int:
    """Arguments, results and scratch space, as the compiler has planned them."""
    plan = program.memory_analysis()
    shared = plan.alias_size_in_bytes  # results that take the place of arguments
    held = plan.argument_size_in_bytes + plan.output_size_in_bytes - shared
    return held + plan.temp_size_in_bytes + plan.generated_code_size_in_bytes


def evaluation_bytes(trainer: Trainer, evaluator: Evaluator) -> int:
    """The run's state and what an evaluation adds: an estimate, since that is compiled later."""
    envs = jax.eval_shape(evaluator.envs.init, jax.random.key(0))
    return _size(trainer.shapes) + COPIES * _size(envs)


def _size(tree: PyTree) -> int:
    return sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(tree))


def free_bytes() -> int:
    """What the device has left; of a processor, the machine, or the share of it we may use."""
    stats = jax.local_devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    return min(psutil.virtual_memory().available, _cgroup_bytes())


def _cgroup_bytes() -> float:
    """What the group may still take; files that were read are in its count, but make way."""
    try:
        limit, used = (int((CGROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        lines = (CGROUP / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):  # no such group, or no limit
        return float("inf")
    stat = dict(line.split() for line in lines)
    files = sum(int(stat.get(f"{kind}_file", 0)) for kind in ("inactive", "active"))
    return limit - (used - files)


def check_memory(experiment: Experiment, trainer: Trainer, evaluator: Evaluator) -> int:
    """The bytes that the run will take; refuses when there are not as many."""
    update, evaluation = program_bytes(trainer.program), evaluation_bytes(trainer, evaluator)
    free = free_bytes()
    if update > free:
        raise MemoryShortage(
            f"training needs {gib(update)} of memory, {gib(free)} are free\n"
            + advice(experiment, trainer.task.num_goals)
        )
    if evaluation > free:
        raise MemoryShortage(
            f"evaluation needs {gib(evaluation)} of memory, {gib(free)} are free\n"
            f"smaller: --evaluation.num-envs (now {evaluator.num_envs})"
        )
    return max(update, evaluation)


def advice(experiment: Experiment, num_goals: int) -> str:
    """What to change, and from what."""
    rollouts = fewer_rows(experiment, num_goals)
    if isinstance(experiment.algorithm, OffPolicy):
        size = experiment.algorithm.replay_size
        return f"smaller: {rollouts},\nabove all a smaller --algorithm.replay-size (now {size})"
    parts = [field.name for field in fields(experiment.algorithm)]
    held = [part for part in parts if hasattr(getattr(experiment.algorithm, part), "width")]
    widths = [f"--algorithm.{part}.width" for part in held] or ["--algorithm.width"]
    return f"smaller: {rollouts},\n{', '.join(widths)}, or --goals.subset for fewer goals"


def fewer_rows(experiment: Experiment, num_goals: int) -> str:
    """A quarter as many environments, a half, or a quarter with minibatches that divide them."""
    now = experiment.num_envs
    for some in (now // 4, now // 2):
        rows = some * experiment.num_steps
        divisions = experiment.algorithm.divisions(rows, num_goals).items()
        if rows and all(total % part == 0 for _, (total, part) in divisions):
            return f"--num-envs {some} (now {now})"
    quarter = lambda number: max(1, number // 4)
    smaller = {f"algorithm.{field}": quarter(part) for field, (_, part) in divisions}
    flags = {"num_envs": quarter(now), **smaller}
    return " ".join(f"--{field.replace('_', '-')} {value}" for field, value in flags.items())


def gib(count: float) -> str:
    return f"{count / 2**30:.2f} GiB"
