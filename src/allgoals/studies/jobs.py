"""Pieces of work, carried out by any number of workers: each takes what no other holds.

A run directory is locked by whoever trains in it, and the lock goes with its holder. So a worker
that dies leaves a run that the next one continues, and the same command on another machine with the
same disk is another worker.
"""

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import allgoals.api as api
from allgoals.errors import MemoryShortage, NumericalError, RunInUse, UsageError
from allgoals.experiment import Experiment, to_dict
from allgoals.presets import command
from allgoals.report.load import Run, load_run
from allgoals.runs.directory import RunDirectory
from allgoals.runs.together import PREFIX, begun_together, train_together
from allgoals.studies.types import Case, Desk

PATIENCE = 1.0  # seconds between looks at runs that others hold
FAILED = "failed.json"  # in a run that diverged


@dataclass(frozen=True)
class Job:
    """One run of a study."""

    label: str
    path: Path
    experiment: Experiment

    @property
    def begun(self) -> bool:
        return (self.path / "config.json").exists()

    @property
    def finished(self) -> bool:
        return (self.path / "summary.json").exists()

    @property
    def over(self) -> bool:
        """Finished, or given up."""
        return self.finished or (self.path / FAILED).exists()

    @property
    def company(self) -> list[int]:
        """The seeds it was begun together with, if it was."""
        found = begun_together(self.path.parent)
        return next((seeds for seeds in found if self.experiment.seed in seeds), [])

    def check(self) -> None:
        """A run of other settings is in the way."""
        places = [self.path, *self.path.parent.glob(f"{PREFIX}*/{self.path.name}")]
        for place in places:
            if not (place / "config.json").exists():
                continue
            if RunDirectory.open(place).config != to_dict(self.experiment):
                raise UsageError(
                    f"{place} was trained with other settings; choose another --out, or move it"
                )

    def work(self, desk: Desk) -> None:
        """Begin the run, or continue it, in the company in which it was begun."""
        desk.heed()
        told = dict(observer=desk.observer, signals=desk.signals)
        try:
            if self.company:
                return train_together(self.experiment, self.company, self.path.parent, **told)
        except (MemoryShortage, NumericalError) as error:  # which leave runs, but no group, behind
            desk.say(f"{self.label}: {error}; alone")
        try:
            self._work(told)
        except NumericalError as error:  # a result, too: the others go on
            desk.say(f"{self.label}: {error}")
            RunDirectory(self.path).write(FAILED, {"error": str(error)})

    def _work(self, told: dict) -> None:
        if not self.begun:
            try:
                api.train(self.experiment, out=self.path, **told)
                return
            except UsageError:
                if not self.begun:
                    raise  # and if it has begun meanwhile, another worker was first
        api.resume(self.path, **told)


@dataclass(frozen=True)
class Group:
    """All seeds of a case, as one program where memory allows."""

    label: str
    jobs: tuple[Job, ...]

    @property
    def over(self) -> bool:
        return all(job.over for job in self.jobs)

    def check(self) -> None:
        for job in self.jobs:
            job.check()

    def work(self, desk: Desk) -> None:
        """What was begun comes first, as it was begun."""
        for job in self.jobs:
            if (job.begun or job.company) and not job.over:
                job.work(desk)
        self._together([job for job in self.jobs if not job.over], desk)

    def _together(self, some: list[Job], desk: Desk) -> None:
        """Where they do not fit, in halves; when they went apart, each goes on alone."""
        if len(some) < 2:
            for job in some:
                job.work(desk)
            return
        desk.heed()
        root, seeds = some[0].path.parent, [job.experiment.seed for job in some]
        try:
            train_together(some[0].experiment, seeds, root, desk.observer, desk.signals)
        except (NumericalError, MemoryShortage) as error:
            apart = isinstance(error, NumericalError) or any(job.begun for job in some)
            desk.say(f"{self.label}: {error}; {'each goes on alone' if apart else 'in halves'}")
            if apart:
                for job in some:
                    job.work(desk)
                return
            half = len(some) // 2
            self._together(some[:half], desk)
            self._together(some[half:], desk)


@contextmanager
def alone(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold a folder that workers share, once nobody else does."""
    folder.mkdir(parents=True, exist_ok=True)
    shared = RunDirectory(folder)
    told = False
    while True:
        try:
            shared.lock()
            break
        except RunInUse as error:
            if not told:
                say(f"waiting: {error}")
                told = True
            time.sleep(PATIENCE)
    try:
        yield
    finally:
        shared.unlock()


def load_made(path: Path, experiment: Experiment) -> Run:
    """A run with the command that makes it alone, where its study's makes many."""
    return replace(load_run(path), command=shlex.join(command(experiment)))


def jobs(cases: Sequence[Case], desk: Desk) -> list[Job]:
    """All runs of a study, the first seed of every case before the second of any."""
    return [_job(case, seed, desk) for seed in range(desk.seeds) for case in cases]


def groups(cases: Sequence[Case], desk: Desk) -> list[Job | Group]:
    """The seeds of each case together, unless each has goals of its own."""
    found: list[Job | Group] = []
    for case in cases:
        seeds = tuple(_job(case, seed, desk) for seed in range(desk.seeds))
        alone = case.experiment.goals.subset is not None
        found += seeds if alone else [Group(f"{case.folder}, {len(seeds)} seeds", seeds)]
    return found


def _job(case: Case, seed: int, desk: Desk) -> Job:
    path = desk.runs / case.folder / f"seed-{seed}"
    return Job(f"{case.folder}, seed {seed}", path, case.with_seed(seed))


def carry_out(work: Sequence[Job | Group], desk: Desk) -> None:
    """Until all is over: take what nobody holds."""
    told: set[str] = set()

    def say(text: str) -> None:
        if text not in told:
            told.add(text)
            desk.say(text)

    while pending := [job for job in work if not job.over]:
        taken = [_take(job, f"{len(work) - len(pending) + i + 1} of {len(work)}", say, desk)
                 for i, job in enumerate(pending)]  # fmt: skip
        if not any(taken):
            say("waiting for the runs that others hold")
            time.sleep(PATIENCE)


def _take(job: Job | Group, place: str, say: Callable[[str], None], desk: Desk) -> bool:
    """Work on a run, unless it is held or is over meanwhile."""
    if job.over:
        return True
    try:
        say(f"{place}: {job.label}")
        job.work(desk)
    except RunInUse:
        return False
    return True
