"""allgoals train: run an experiment, or continue one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import tyro

from allgoals import __version__
from allgoals.cli.output import rate, say
from allgoals.cli.parse import MaybePath, parse
from allgoals.errors import UsageError
from allgoals.runs.signals import Signals

USAGE = """\
usage: allgoals train TASK/ALGORITHM [options]
       allgoals train --resume RUN

tasks, and below them their algorithms:

{pairs}

allgoals train TASK/ALGORITHM --help lists every option"""

T = TypeVar("T")


@dataclass(frozen=True)
class Words(Generic[T]):
    experiment: Annotated[T, tyro.conf.arg(name="")]
    out: MaybePath = None  # where the run is written; a new directory in runs/ by default


def run(argv: list[str]) -> None:
    if argv[:1] == ["--resume"]:
        if len(argv) != 2:
            raise UsageError("--resume takes a run directory and nothing else")
        return _resume(Path(argv[1]), Signals().listen())
    if not argv or argv[0].startswith("-"):
        return _usage(argv)
    if "--resume" in argv:
        raise UsageError("a run is resumed as it was begun: allgoals train --resume RUN")
    _train(argv[0], argv[1:], Signals().listen())  # heard while jax is loading, too


def _usage(argv: list[str]) -> None:
    from allgoals.presets import algorithms_for
    from allgoals.tasks import TASKS

    tasks: dict[str, list[str]] = {}
    for task in TASKS:
        tasks.setdefault(", ".join(algorithms_for(task)), []).append(task)
    pairs = [f"{', '.join(same)}\n  / {algorithms}" for algorithms, same in tasks.items()]
    text = USAGE.format(pairs="\n".join(pairs))
    if argv and argv[0] in ("-h", "--help"):
        print(text)
    else:
        wrong = f"expected TASK/ALGORITHM first, not {argv[0]}" if argv else "which experiment?"
        raise UsageError(f"{wrong}\n\n{text}")


def _train(name: str, argv: list[str], signals: Signals) -> None:
    from allgoals.validation import build_task

    words = read(name, argv)
    build_task(words.experiment)  # complains before the rest is imported
    _run(lambda **kw: _library().train(words.experiment, out=words.out, **kw), name, signals)


def read(name: str, argv: list[str]) -> Words:
    """The experiment called `name` with what the options change."""
    from allgoals.algorithms import OffPolicy
    from allgoals.experiment import Experiment
    from allgoals.presets import preset

    default = preset(name)
    algorithm = type(default.algorithm)
    if isinstance(default.algorithm, OffPolicy):
        algorithm = OffPolicy[type(default.algorithm.agent)]
    kind = Words[Experiment[type(default.env), algorithm, type(default.goals)]]
    try:
        return parse(kind, argv, f"allgoals train {name}", Words(default))
    except ValueError as error:  # an environment refused its fields
        raise UsageError(str(error)) from None


def _resume(path: Path, signals: Signals) -> None:
    from allgoals.runs.directory import RunDirectory

    RunDirectory.open(path)
    _run(lambda **kw: _library().resume(path, **kw), str(path), signals)


def _library():
    import allgoals.api as api

    return api


def _run(work, name: str, signals: Signals) -> None:
    """Run with signals answered and progress shown."""
    say(f"allgoals {__version__}: {name}")
    from allgoals.cli.display import Display

    with Display() as display:
        run = work(observer=display, signals=signals)
    say(summary(run))


def summary(run) -> str:
    """What a person wants to know when a run has ended."""
    result = run.summary
    lines = [f"{result['steps']:,} steps in {result['seconds']:.0f} s"]
    for name, mean in (result["evaluation"] or {}).items():
        who = "" if name == "agent" else f" ({name} alone)"
        lines.append(f"mean success over reachable goals{who}: {rate(mean)}")
    lines.append(f"parameters {result['parameters_sha256'][:16]}  in {run.path}")
    return "\n".join(lines)
