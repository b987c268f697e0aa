"""allgoals reproduce: one figure or table of the paper, from runs to report."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import tyro

from allgoals.cli.output import say
from allgoals.cli.parse import MaybeText, parse
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Count, MaybeCount
from allgoals.runs.signals import EXIT_CODES, Signals
from allgoals.validation import check_fields


@dataclass(frozen=True)
class Words:
    name: Annotated[str, tyro.conf.Positional]  # which; --list shows all
    budget: Literal["smoke", "laptop", "paper"] = "laptop"
    """smoke proves the machinery in minutes, laptop is for two cores, paper for GPUs"""
    seeds: MaybeCount = None  # of every configuration: 2, 3 or 5 by default, as the budget says
    workers: Count = 1  # processes that share the work
    together: bool | None = None  # seeds as one program, if memory allows; by default on a GPU
    goal: MaybeText = None  # which goal, for components
    out: Path = Path("studies")  # where runs and reports are kept
    storage: MaybeText = None  # a database that machines share, for sweeps: postgresql://...
    report: bool = True  # write the report when the work is done

    @property
    def flags(self) -> list[str]:
        """What was asked for, but for how many do it."""
        given = {"seeds": self.seeds, "together": self.together, "goal": self.goal,
                 "storage": self.storage}  # fmt: skip
        words = [self.name, "--budget", self.budget]
        for name, value in given.items():
            words += [] if value is None else [f"--{name}", str(value)]
        return words + ([] if self.out == Path("studies") else ["--out", str(self.out)])


def run(argv: list[str]) -> None:
    if argv == ["--list"]:
        return _list()
    if argv[:1] not in (["-h"], ["--help"]) and (not argv or argv[0].startswith("-")):
        raise UsageError("which study? allgoals reproduce NAME; --list shows all")
    words = parse(Words, argv, "allgoals reproduce")
    check_fields(words)
    if words.workers < 1 or (words.seeds is not None and words.seeds < 1):
        raise UsageError("--workers and --seeds must be 1 or more")
    if words.out.exists() and not words.out.is_dir():
        raise UsageError(f"--out {words.out} is a file")
    if words.workers > 1:
        _study(words)  # complains before anyone begins
        _side_by_side(words)
    _work(words, Signals().listen())


def _list() -> None:
    from allgoals.experiments import STUDIES

    width, aside = max(shutil.get_terminal_size().columns, 60), " " * 20
    for name, study in STUDIES.items():
        print(textwrap.fill(f"{name:20}{study.paper}", width, subsequent_indent=aside))
        print(textwrap.fill(study.about, width, initial_indent=aside, subsequent_indent=aside))


def _study(words: Words):
    """The study that is meant."""
    from allgoals.experiments import STUDIES
    from allgoals.studies.runs import RunStudy
    from allgoals.studies.speed import SpeedStudy
    from allgoals.studies.sweep import Sweep

    if words.name not in STUDIES:
        raise unknown("study", words.name, STUDIES)
    study = STUDIES[words.name]
    if words.storage and not isinstance(study, Sweep):
        raise UsageError(f"--storage is for sweeps, and {words.name} is none")
    if words.workers > 1 and isinstance(study, SpeedStudy):
        raise UsageError(f"--workers: {words.name} is measured by one process alone")
    if words.seeds and not isinstance(study, RunStudy):
        raise UsageError(f"--seeds: {words.name} has none")
    if words.together is not None and not isinstance(study, RunStudy):
        raise UsageError(f"--together: {words.name} has no seeds to train together")
    if words.goal is None:
        return study
    if not isinstance(study, RunStudy) or study.of_goal is None:
        raise UsageError(f"--goal: {words.name} is not about one goal")
    name = f"{study.name}-{words.goal.replace('/', '-')}"
    study = replace(study, name=name, declared=study.of_goal(words.goal))
    known = study.goals(words.budget)
    if words.goal not in known:
        raise unknown("goal", words.goal, known)
    return study


def _work(words: Words, signals: Signals) -> None:
    study = _study(words)
    from allgoals.cli.display import Display
    from allgoals.runs.environment import without_password
    from allgoals.studies.jobs import alone
    from allgoals.studies.types import SEEDS, Desk

    with Display() as display:
        desk = Desk(
            words.out, words.budget, words.seeds or SEEDS[words.budget],
            without_password(shlex.join(["allgoals", "reproduce", *words.flags])), say, display,
            signals,
            words.together, words.storage,
        )  # fmt: skip
        study.check(desk)
        study.work(desk)
        if words.report:
            with alone(desk.folder(study.name), say):  # workers on other machines write it, too
                say(f"wrote {study.write(desk)}")


def _side_by_side(words: Words) -> None:
    """As many processes, each of which takes what no other has; what one leaves is done after."""
    command = [sys.executable, "-m", "allgoals", "reproduce", *words.flags, "--no-report"]
    others: list[subprocess.Popen] = []
    heard: list[int] = []

    def pass_on(number: int, _) -> None:
        heard.append(number)
        for one in others:
            one.send_signal(number)

    minded = [number for number in EXIT_CODES if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in minded}  # nohup ignores one
    for i in range(words.workers):
        if not heard:
            one = subprocess.Popen(command, env=_environment(i), start_new_session=True)
            others.append(one)
    for number, one in product(heard[:1], others):  # heard while one was being started
        one.send_signal(number)
    codes = [one.wait() for one in others]
    for number, handler in before.items():
        signal.signal(number, handler)
    if heard:
        sys.exit(EXIT_CODES[heard[0]])
    if any(codes):
        say(f"workers ended with {', '.join(map(str, codes))}; going on with what is left")


def _environment(worker: int) -> dict[str, str]:
    """Each worker takes memory as it needs it and, of several GPUs that are named, one."""
    chosen = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} | os.environ
    devices = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    return chosen | ({"CUDA_VISIBLE_DEVICES": devices[worker % len(devices)]} if devices else {})
