"""allgoals reproduce: one figure or table of the paper, from runs to report."""

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from allgoals.cli.output import say
from allgoals.cli.parse import parse
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Count, MaybeCount
from allgoals.runs.signals import Signals
from allgoals.validation import check_fields


@dataclass(frozen=True)
class Words:
    name: Annotated[str, tyro.conf.Positional]  # which; --list shows all
    budget: Literal["smoke", "laptop", "paper"] = "laptop"
    """smoke proves the machinery in minutes, laptop is for two cores, paper for GPUs"""
    seeds: MaybeCount = None  # of every configuration: 2, 3 or 5 by default, as the budget says
    workers: Count = 1  # processes that share the work
    together: bool | None = None  # seeds as one program, if memory allows; by default on a GPU
    out: Path = Path("studies")  # where runs and reports are kept
    storage: str | None = None  # a database that machines share, for sweeps: mysql://...
    report: bool = True  # write the report when the work is done


def run(argv: list[str]) -> None:
    if argv == ["--list"]:
        return _list()
    if argv[:1] not in (["-h"], ["--help"]) and (not argv or argv[0].startswith("-")):
        raise UsageError("which study? allgoals reproduce NAME; --list shows all")
    words = parse(Words, argv, "allgoals reproduce")
    check_fields(words)
    if words.workers < 1 or words.seeds == 0:
        raise UsageError("--workers and --seeds must be 1 or more")
    if words.out.exists() and not words.out.is_dir():
        raise UsageError(f"--out {words.out} is a file")
    signals = Signals()
    if words.workers == 1:
        signals.listen()
    from allgoals.experiments import STUDIES

    if words.name not in STUDIES:
        raise unknown("study", words.name, STUDIES)
    study = STUDIES[words.name]
    from allgoals.cli.display import Display

    with Display() as display:
        desk = _desk(words, display, signals)
        study.check(desk)
        if words.workers > 1:
            _side_by_side(words)
        study.work(desk)
        if words.report:
            say(f"wrote {study.write(desk)}")


def _list() -> None:
    from allgoals.experiments import STUDIES

    for name, study in STUDIES.items():
        print(f"{name:20}{study.paper}\n{'':20}{study.about}")


def _desk(words: Words, display, signals: Signals):
    from allgoals.studies.types import SEEDS, Desk

    return Desk(
        words.out, words.budget, words.seeds or SEEDS[words.budget], _command(words), say,
        display, signals, _together_here(words.together), words.storage,
    )  # fmt: skip


def _together_here(asked: bool | None) -> bool:
    import jax

    return jax.default_backend() != "cpu" if asked is None else asked


def _command(words: Words) -> str:
    parts = ["allgoals", "reproduce", words.name, "--budget", words.budget]
    parts += ["--seeds", str(words.seeds)] if words.seeds else []
    return shlex.join(parts)


def _side_by_side(words: Words) -> None:
    """As many processes, each of which takes what no other has; what one leaves is done after."""
    own = [sys.executable, "-m", "allgoals", "reproduce", words.name, "--budget", words.budget]
    own += ["--out", str(words.out), "--no-report"]
    own += ["--seeds", str(words.seeds)] if words.seeds else []
    own += [] if words.together is None else ["--together", str(words.together)]
    own += ["--storage", words.storage] if words.storage else []
    others = [subprocess.Popen(own) for _ in range(words.workers)]
    try:
        codes = [one.wait() for one in others]
    except KeyboardInterrupt:  # which they heard, too
        codes = [one.wait() for one in others]
        sys.exit(130)
    if any(codes):
        say(f"workers ended with {', '.join(map(str, codes))}; going on with what is left")
