"""allgoals bench: measure speed on this machine."""

import json
import sys
from dataclasses import asdict, dataclass
from typing import Annotated

import tyro

from allgoals.bench.sizes import GoalsSizes, ThroughputSizes
from allgoals.cli.parse import MaybePath, check_file, parse
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Count
from allgoals.validation import check_fields, largest_divisor

BENCHMARKS = {
    "goals": "time of an update of LEO, PQN and naive relabelling as the goals grow",
    "throughput": "steps per second of acting, learning and both, beside the bare game",
}


@dataclass(frozen=True)
class GoalsWords:
    measured: Annotated[GoalsSizes, tyro.conf.arg(name="")] = GoalsSizes()
    sizes: tuple[Count, ...] = (64, 512, 4096)  # numbers of goals
    repeats: Count = 5  # timed repetitions; of naive relabelling, which takes longest, 3 at most
    json: bool = False  # print JSON
    out: MaybePath = None  # also draw the figure, as .png or .svg


@dataclass(frozen=True)
class ThroughputWords:
    experiments: tyro.conf.Positional[tuple[str, ...]] = ("craftax-classic",)
    """TASK/ALGORITHM, or a TASK for all that can be compared on it"""
    measured: Annotated[ThroughputSizes, tyro.conf.arg(name="")] = ThroughputSizes()
    repeats: Count = 5  # rounds of measurements
    json: bool = False  # print JSON
    out: MaybePath = None  # also draw the figure, as .png or .svg


def run(argv: list[str]) -> None:
    usage = "\n".join(f"  {name:12}{text}" for name, text in BENCHMARKS.items())
    usage = f"usage: allgoals bench NAME [options]\n\n{usage}"
    if not argv:
        raise UsageError(f"which benchmark?\n\n{usage}")
    name, *rest = argv
    if name in ("-h", "--help"):
        print(usage)
    elif name == "goals":
        _goals(parse(GoalsWords, rest, "allgoals bench goals"))
    elif name == "throughput":
        _throughput(parse(ThroughputWords, rest, "allgoals bench throughput"))
    else:
        raise unknown("benchmark", name, BENCHMARKS)


def _goals(words: GoalsWords) -> None:
    _check(words)
    task = words.measured.task
    if words.measured.rows > 2**24:
        raise UsageError("--num-envs times --num-steps must be 2^24 or less")
    from allgoals.bench.goals import draw, measure, table
    from allgoals.runs.cache import enable_compile_cache
    from allgoals.tasks import MAZES, TASKS, make_task

    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if task in MAZES:
        raise UsageError(
            "bench goals compares PQN and LEO, for tasks with discrete actions; for others:\n"
            f"  allgoals bench throughput {task} --grid 25 112 416"
        )
    most = 256 * 256 if task == "gridworld" else make_task(task).num_goals
    if not words.sizes or not all(1 <= size <= most for size in words.sizes):
        raise UsageError(f"--sizes: a {task} has 1 to {most} goals")
    enable_compile_cache()
    timings = []
    for timing in measure(words.sizes, words.measured, words.repeats):
        timings.append(timing)
        _progress(f"{timing.algorithm}, {timing.goals} goals: {timing.seconds:.4f} s per update")
    if {t.goals for t in timings if t.algorithm == "naive_all_goals"} != set(words.sizes):
        _progress(
            "naive relabelling is left out where an update would take over a minute: a line is"
            " drawn\nthrough the two largest --sizes that take less, if the larger takes longer"
        )
    print(json.dumps([asdict(t) for t in timings], indent=2) if words.json else table(timings))
    if words.out:
        draw(timings, words.out)


def _throughput(words: ThroughputWords) -> None:
    _check(words)
    sizes = words.measured
    from allgoals.bench.throughput import draw, measure, peak_bytes, table
    from allgoals.runs.cache import enable_compile_cache

    plan = _plan(words.experiments, sizes)
    enable_compile_cache()
    results = []
    for task, names in plan.items():
        results += measure(task, names, sizes, words.repeats, _progress)
    if words.json:
        rows = [r.as_dict() for r in results]
        facts = {"sizes": asdict(sizes), "repeats": words.repeats, "peak_bytes": peak_bytes()}
        print(json.dumps(facts | {"results": rows}))
    else:
        print(table(results, words.repeats))
    if words.out:
        draw(results, words.out)


def _plan(experiments: tuple[str, ...], sizes: ThroughputSizes) -> dict[str, list[str]]:
    """Which algorithms to measure on which task."""
    from allgoals.bench.subjects import most_goals, names
    from allgoals.tasks import MAZES, TASKS

    plan: dict[str, list[str]] = {}
    for experiment in experiments:
        task, _, algorithm = experiment.partition("/")
        if task not in TASKS:
            raise unknown("task", task, TASKS)
        if task not in MAZES and sizes.rows % sizes.minibatch_size:
            raise UsageError(
                f"--minibatch-size {sizes.minibatch_size} does not divide the {sizes.rows} rows of"
                f" --num-envs {sizes.num_envs} times --num-steps {sizes.num_steps};"
                f" {largest_divisor(sizes.rows, sizes.minibatch_size)} does"
            )
        if task in MAZES and not all(1 <= n <= most_goals(task) for n in sizes.grid):
            raise UsageError(f"--grid: a grid of {task} has 1 to {most_goals(task)} goals")
        every = names(task, sizes)
        valid = [*every, *(["naive_all_goals"] if task not in MAZES else [])]
        chosen = [name for name in valid if algorithm in (name, name.partition("-")[0])]
        if algorithm and not chosen:
            raise unknown("algorithm", algorithm, valid)
        plan.setdefault(task, []).extend(chosen or every)
    return {task: list(dict.fromkeys(chosen)) for task, chosen in plan.items()}


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _check(words: GoalsWords | ThroughputWords) -> None:
    """What can be said before anything is measured."""
    check_fields(words.measured)
    check_fields(words)
    if words.out and words.out.suffix not in (".png", ".svg"):
        raise UsageError(f"--out {words.out}: a figure is a .png or .svg file")
    if words.out:
        check_file(words.out)
