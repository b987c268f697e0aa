"""allgoals bench: measure speed on this machine."""

import json
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import tyro

from allgoals.cli.parse import check_file, parse
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Count
from allgoals.validation import check_fields

BENCHMARKS = {
    "goals": "time of an update of LEO, PQN and naive relabelling as the goals grow",
    "throughput": "steps per second of acting, learning and both, beside the bare game",
}


@dataclass(frozen=True)
class GoalsWords:
    task: str = "gridworld"  # open ground of that many cells, or a random choice of a task's goals
    sizes: tuple[Count, ...] = (64, 512, 4096)  # numbers of goals
    num_envs: Count = 64  # environments run side by side
    num_steps: Count = 32  # steps of each environment per update
    width: Count = 256  # units of each dense layer
    layers: Count = 2  # dense layers
    repeats: Count = 5  # timed repetitions
    json: bool = False  # print JSON
    out: Path | None = None  # also draw the figure, as .png or .svg


@dataclass(frozen=True)
class ThroughputWords:
    experiments: tyro.conf.Positional[tuple[str, ...]] = ("craftax-classic",)
    """TASK/ALGORITHM, or a TASK for the paper's six algorithms"""
    num_envs: Count = 256  # environments run side by side
    num_steps: Count = 32  # steps of each environment per update
    minibatch_size: Count = 512  # rows per gradient step
    epochs: Count = 2  # passes over each rollout
    width: Count = 256  # units of each dense layer
    layers: Count = 4  # dense layers of the value networks
    conv_features: Count = 32  # features of the convolution
    repeats: Count = 5  # rounds of measurements
    json: bool = False  # print JSON
    out: Path | None = None  # also draw the figure, as .png or .svg


def run(argv: list[str]) -> None:
    name, *rest = argv or [""]
    if name in ("-h", "--help"):
        print("usage: allgoals bench NAME [options]\n")
        for key, text in BENCHMARKS.items():
            print(f"  {key:10}{text}")
    elif name == "goals":
        _goals(parse(GoalsWords, rest, "allgoals bench goals"))
    elif name == "throughput":
        _throughput(parse(ThroughputWords, rest, "allgoals bench throughput"))
    else:
        raise unknown("benchmark", name, BENCHMARKS)


def _goals(words: GoalsWords) -> None:
    check_fields(words)
    _check_figure(words.out)
    if words.num_envs * words.num_steps > 2**24:
        raise UsageError("--num-envs times --num-steps must be 2^24 or less")
    from allgoals.bench.goals import Sizes, draw, measure, table
    from allgoals.runs.cache import enable_compile_cache
    from allgoals.tasks import TASKS, make_task

    if words.task not in TASKS:
        raise unknown("task", words.task, TASKS)
    most = 256 * 256 if words.task == "gridworld" else make_task(words.task).num_goals
    if not words.sizes or not all(1 <= size <= most for size in words.sizes):
        raise UsageError(f"--sizes: a {words.task} has 1 to {most} goals")
    enable_compile_cache()
    timings = []
    for timing in measure(words.sizes, _sizes(Sizes, words), words.repeats):
        timings.append(timing)
        _progress(f"{timing.algorithm}, {timing.goals} goals: {timing.seconds:.4f} s per update")
    print(json.dumps([asdict(t) for t in timings], indent=2) if words.json else table(timings))
    if words.out:
        draw(timings, words.out)


def _sizes(kind: type, words: Any) -> Any:
    """The fields that a benchmark's own record of sizes shares with the words."""
    return kind(**{field.name: getattr(words, field.name) for field in fields(kind)})


def _throughput(words: ThroughputWords) -> None:
    check_fields(words)
    _check_figure(words.out)
    if words.num_envs * words.num_steps % words.minibatch_size:
        raise UsageError("--minibatch-size must divide --num-envs times --num-steps")
    from allgoals.bench.throughput import Sizes, algorithms, draw, measure, table
    from allgoals.runs.cache import enable_compile_cache

    sizes = _sizes(Sizes, words)
    plan = _plan(words.experiments, list(algorithms(sizes)))
    enable_compile_cache()
    results = []
    for task, names in plan.items():
        results += measure(task, names, sizes, words.repeats, _progress)
    if words.json:
        print(json.dumps({"sizes": asdict(sizes), "results": [r.as_dict() for r in results]}))
    else:
        print(table(results))
    if words.out:
        draw(results, words.out)


def _plan(experiments: tuple[str, ...], algorithms: list[str]) -> dict[str, list[str]]:
    """Which algorithms to measure on which task."""
    from allgoals.tasks import TASKS

    plan: dict[str, list[str]] = {}
    for experiment in experiments:
        task, _, algorithm = experiment.partition("/")
        if task not in TASKS:
            raise unknown("task", task, TASKS)
        if algorithm and algorithm not in algorithms:
            raise unknown("algorithm", algorithm, algorithms)
        plan.setdefault(task, []).extend([algorithm] if algorithm else algorithms)
    return {task: list(dict.fromkeys(names)) for task, names in plan.items()}


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _check_figure(path: Path | None) -> None:
    if path and path.suffix not in (".png", ".svg"):
        raise UsageError(f"--out {path}: a figure is a .png or .svg file")
    if path:
        check_file(path)
