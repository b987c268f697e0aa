"""How much memory a program will take, known before it runs."""

import re
from dataclasses import fields, replace
from pathlib import Path

import jax
import psutil
from jax.stages import Compiled

from allgoals.algorithms import OffPolicy
from allgoals.errors import MemoryShortage
from allgoals.evaluation import Evaluator
from allgoals.experiment import Experiment
from allgoals.training import Trainer
from allgoals.types import Obs, PyTree
from allgoals.validation import largest_divisor

COPIES = 4  # of its environments that an evaluation holds; 2.7 to 3.9 were planned for Craftax's
CGROUP, OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
CGROUP_VERSIONS = (  # which line names the process's group, where groups are, limit and use
    (r"^0::/(.*)$", "", "memory.max", "memory.current"),
    (r"^\d+:memory:/(.*)$", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def program_bytes(program: Compiled) -> int:
    """Arguments, results and scratch space, as the compiler has planned them."""
    plan = program.memory_analysis()
    shared = plan.alias_size_in_bytes  # results that take the place of arguments
    held = plan.argument_size_in_bytes + plan.output_size_in_bytes - shared
    return held + plan.temp_size_in_bytes + plan.generated_code_size_in_bytes


def evaluation_bytes(trainer: Trainer, evaluator: Evaluator) -> int:
    """The run's state and what an evaluation adds: an estimate, since that is compiled later."""
    envs = jax.eval_shape(evaluator.envs.init, jax.random.key(0))
    judged = jax.eval_shape(trainer.task.goals.outcome, envs.obs)
    worlds = COPIES * _size(envs) + _size(judged)
    return _size(trainer.shapes) + worlds + _acting_bytes(trainer, evaluator, envs.obs)


def _acting_bytes(trainer: Trainer, evaluator: Evaluator, obs: Obs) -> int:
    """Scratch space of choosing an action in each environment."""
    learner = replace(trainer, runs=None).shapes.learner
    goal = jax.ShapeDtypeStruct((evaluator.num_envs,), "int32")
    act = jax.jit(evaluator.act)
    acting = act.lower((trainer.algorithm, learner, 0.0), obs, goal, jax.random.key(0)).compile()
    return acting.memory_analysis().temp_size_in_bytes


def _size(tree: PyTree) -> int:
    return sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(tree))


def free_bytes() -> int:
    """What the device has left; of a processor, the machine, or the share of it we may use."""
    stats = jax.local_devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    return min(psutil.virtual_memory().available, _cgroup_bytes())


def _cgroup_bytes() -> float:
    """What the tightest of the groups that this process is in may still take."""
    try:
        own = OWN_CGROUP.read_text()
    except OSError:
        own = ""
    left = []
    for line, folder, *files in CGROUP_VERSIONS:
        found = re.search(line, own, re.M)
        place = CGROUP / folder / (found[1] if found else "")
        left += [_left_to(group, *files) for group in (place, *place.parents)]
    return min(left)


def _left_to(group: Path, limit_file: str, use_file: str) -> float:
    """Files that were read are in a group's count, but make way."""
    try:
        limit, used = (int((group / name).read_text()) for name in (limit_file, use_file))
        lines = (group / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):  # no such group, or no limit
        return float("inf")
    stat = dict(line.split() for line in lines)
    kinds = ("inactive_file", "active_file")
    files = sum(int(stat.get(f"total_{kind}", stat.get(kind, 0))) for kind in kinds)
    return limit - (used - files)


def check_memory(experiment: Experiment, trainer: Trainer, evaluator: Evaluator) -> int:
    """The bytes that the run will take; refuses when there are not as many."""
    copy = _size(trainer.shapes)  # of the state, while it is being saved
    update, evaluation = copy + program_bytes(trainer.program), 0
    if experiment.evaluation.times:
        evaluation = copy + evaluation_bytes(trainer, evaluator)
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
        return f"smaller: {rollouts}above all a smaller --algorithm.replay-size (now {size})"
    parts = [field.name for field in fields(experiment.algorithm)]
    held = [part for part in parts if hasattr(getattr(experiment.algorithm, part), "width")]
    widths = [f"--algorithm.{part}.width" for part in held] or ["--algorithm.width"]
    return f"smaller: {rollouts}{', '.join(widths)}, or --goals.subset for fewer goals"


def fewer_rows(experiment: Experiment, num_goals: int) -> str:
    """A line of flags: a quarter as many environments, or a half, if minibatches divide that.

    If they divide neither, a quarter and smaller minibatches; of a single environment, fewer steps.
    """
    field = "num_envs" if experiment.num_envs > 1 else "num_steps"
    now = getattr(experiment, field)
    fewer = [replace(experiment, **{field: n}) for n in (now // 4, now // 2) if n]
    if not fewer:
        return ""
    smaller = min(fewer, key=lambda one: len(_undivided(one, num_goals)))
    some = getattr(smaller, field)
    minibatches = {
        f"algorithm.{name}": largest_divisor(rows, max(1, part * some // now))
        for name, (rows, part) in _undivided(smaller, num_goals).items()
    }
    changed = {field: some, **minibatches}.items()
    flags = " ".join(f"--{name.replace('_', '-')} {number}" for name, number in changed)
    return f"{flags},\n" if minibatches else f"{flags} (now {now}),\n"


def _undivided(experiment: Experiment, num_goals: int) -> dict[str, tuple[int, int]]:
    """Fields that do not divide the rows of a rollout."""
    divisions = experiment.algorithm.divisions(experiment.steps_per_update, num_goals)
    return {name: (rows, part) for name, (rows, part) in divisions.items() if rows % part}


def gib(count: float) -> str:
    return f"{count / 2**30:.2f} GiB"
