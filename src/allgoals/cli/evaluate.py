"""allgoals evaluate: success of every goal of a trained agent."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from allgoals.cli.output import rate
from allgoals.cli.parse import MaybePath, check_file, parse
from allgoals.errors import unknown
from allgoals.experiment import MaybeCount
from allgoals.runs.directory import write_text
from allgoals.validation import check_fields


@dataclass(frozen=True)
class Words:
    run: tyro.conf.Positional[Path]  # a run directory, or with --random a task's name
    random: bool = False  # evaluate random actions on a task instead of a run
    episodes: MaybeCount = None  # episodes per goal; by default as in training
    max_steps: MaybeCount = None  # steps per episode at most
    num_envs: MaybeCount = None  # episodes run side by side
    out: MaybePath = None  # also write the results as JSON


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals evaluate")
    check_fields(words)
    changes = {
        name: value
        for name in ("episodes", "max_steps", "num_envs")
        if (value := getattr(words, name)) is not None
    }
    if words.out:
        check_file(words.out)
    evaluate = _evaluate_random if words.random else _evaluate_run
    with _progress_bar() as on_batch:
        results, names = evaluate(words.run, changes, on_batch)
    print(table(results, names))
    if words.out:
        write_text(words.out, json.dumps({"goals": names, **results}, indent=2) + "\n")


def _evaluate_run(path: Path, changes: dict[str, int], on_batch) -> tuple[dict, tuple[str, ...]]:
    from allgoals.api import Run
    from allgoals.runs.agent import build_evaluator

    trained = Run(path)
    options = replace(trained.experiment.evaluation, **changes)
    agent = trained.agent
    evaluator = build_evaluator(agent.task, options)
    results = agent.evaluate(evaluator, options.episodes, on_batch=on_batch)
    return results, agent.task.goals.names


def _evaluate_random(name: Path, changes: dict[str, int], on_batch) -> tuple[dict, tuple[str, ...]]:
    from allgoals.presets import algorithms_for, preset
    from allgoals.runs.agent import evaluate_random
    from allgoals.runs.cache import enable_compile_cache
    from allgoals.tasks import TASKS, make_task

    if str(name) not in TASKS:
        raise unknown("task", str(name), TASKS)
    enable_compile_cache()
    task = make_task(str(name))
    options = preset(f"{name}/{next(iter(algorithms_for(task.name)))}").evaluation
    return evaluate_random(task, replace(options, **changes), on_batch), task.goals.names


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("evaluating", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def table(results: dict, names: tuple[str, ...]) -> str:
    """The success of every goal, one line each, and the means."""
    components = list(results["success"])
    rows = [(name, [results["success"][c][i] for c in components]) for i, name in enumerate(names)]
    for key, label in (("mean", "all goals"), ("mean_reachable", "reachable goals")):
        rows.append((f"mean over {label}", [results[key][c] for c in components]))
    width = max(len(label) for label, _ in rows)
    lines = [f"{'goal':{width}}" + "".join(f"{c:>8}" for c in components)]
    lines += [f"{label:{width}}" + "".join(f"{rate(r):>8}" for r in rates) for label, rates in rows]
    return "\n".join(lines)
