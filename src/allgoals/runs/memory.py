"""How much memory a program will take, known before it runs."""

from dataclasses import fields
from pathlib import Path

import jax
import psutil
from jax.stages import Compiled

from allgoals.algorithms import OffPolicy
from allgoals.errors import MemoryShortage
from allgoals.experiment import Experiment

CGROUP = Path("/sys/fs/cgroup")


def program_bytes(program: Compiled) -> int:
    """Arguments, results and scratch space, as the compiler has planned them."""
    plan = program.memory_analysis()
    shared = plan.alias_size_in_bytes  # results that take the place of arguments
    held = plan.argument_size_in_bytes + plan.output_size_in_bytes - shared
    return held + plan.temp_size_in_bytes + plan.generated_code_size_in_bytes


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


def check_memory(experiment: Experiment, num_goals: int, program: Compiled) -> int:
    """The bytes that training will take; refuses when there are not as many."""
    need, free = program_bytes(program), free_bytes()
    if need > free:
        raise MemoryShortage(
            f"training needs {gib(need)} of memory, {gib(free)} are free\n"
            + advice(experiment, num_goals)
        )
    return need


def advice(experiment: Experiment, num_goals: int) -> str:
    """What to change, and from what."""
    fewer = fewer_environments(experiment, num_goals)
    rollouts = f"--num-envs {fewer} (now {experiment.num_envs})" if fewer else "a smaller minibatch"
    if isinstance(experiment.algorithm, OffPolicy):
        size = experiment.algorithm.replay_size
        return f"smaller: {rollouts},\nabove all a smaller --algorithm.replay-size (now {size})"
    parts = [field.name for field in fields(experiment.algorithm)]
    held = [part for part in parts if hasattr(getattr(experiment.algorithm, part), "width")]
    widths = [f"--algorithm.{part}.width" for part in held] or ["--algorithm.width"]
    return f"smaller: {rollouts},\n{', '.join(widths)}, or --goals.subset for fewer goals"


def fewer_environments(experiment: Experiment, num_goals: int) -> int | None:
    """A quarter as many or, if that is what minibatches divide, a half."""
    for some in (experiment.num_envs // 4, experiment.num_envs // 2):
        rows = some * experiment.num_steps
        divisions = experiment.algorithm.divisions(rows, num_goals).values()
        if rows and all(total % part == 0 for total, part in divisions):
            return some
    return None


def gib(count: float) -> str:
    return f"{count / 2**30:.2f} GiB"
