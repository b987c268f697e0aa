"""Pieces of work, carried out by any number of workers: each takes what no other holds.

A run directory is locked by whoever trains in it, and the lock goes with its holder. So a worker
that dies leaves a run that the next one continues, and the same command on another machine with the
same disk is another worker.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import allgoals.api as api
from allgoals.errors import MemoryShortage, RunInUse, UsageError
from allgoals.experiment import Experiment, to_dict
from allgoals.runs.directory import RunDirectory
from allgoals.runs.together import begun_together, train_together
from allgoals.studies.types import Case, Desk

PATIENCE = 1.0  # seconds between looks at runs that others hold


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

    def check(self) -> None:
        """A run of other settings is in the way."""
        if self.begun and RunDirectory.open(self.path).config != to_dict(self.experiment):
            raise UsageError(
                f"{self.path} was trained with other settings; choose another --out, or move it"
            )

    def work(self, desk: Desk) -> None:
        """Begin the run, or continue it."""
        told = dict(observer=desk.observer, signals=desk.signals)
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
    def finished(self) -> bool:
        return all(job.finished for job in self.jobs)

    def check(self) -> None:
        for job in self.jobs:
            job.check()

    def work(self, desk: Desk) -> None:
        """What was begun comes first, in the company in which it was begun."""
        for job in self.jobs:
            if job.begun and not job.finished:
                job.work(desk)
        for seeds in begun_together(self.jobs[0].path.parent):
            self._together(seeds, desk)
        self._together([job.experiment.seed for job in self.jobs if not job.finished], desk)

    def _together(self, seeds: list[int], desk: Desk) -> None:
        first = self.jobs[0]
        root, told = first.path.parent, (desk.observer, desk.signals)
        try:
            if len(seeds) > 1:
                return train_together(first.experiment, seeds, root, *told)
        except MemoryShortage:
            for part in (seeds[: len(seeds) // 2], seeds[len(seeds) // 2 :]):
                self._together(part, desk)
            return
        for job in self.jobs:
            if job.experiment.seed in seeds:
                job.work(desk)


def jobs(cases: Sequence[Case], desk: Desk) -> list[Job]:
    """All runs of a study, the first seed of every case before the second of any."""
    return [_job(case, seed, desk) for seed in range(desk.seeds) for case in cases]


def groups(cases: Sequence[Case], desk: Desk) -> list[Group]:
    """The seeds of each case together."""
    seeds = range(desk.seeds)
    return [
        Group(f"{case.folder}, {len(seeds)} seeds", tuple(_job(case, s, desk) for s in seeds))
        for case in cases
    ]


def _job(case: Case, seed: int, desk: Desk) -> Job:
    path = desk.runs / case.folder / f"seed-{seed}"
    return Job(f"{case.folder}, seed {seed}", path, replace(case.experiment, seed=seed))


def carry_out(work: Sequence[Job | Group], desk: Desk) -> None:
    """Until every run is finished: take one that nobody holds."""
    waiting = False
    while pending := [job for job in work if not job.finished]:
        taken = False
        for job in pending:
            done = sum(one.finished for one in work)
            taken |= _take(job, f"{done + 1} of {len(work)}: {job.label}", desk)
        if not taken and not waiting:
            desk.say("waiting for the runs that others hold")
        waiting = not taken
        if waiting:
            time.sleep(PATIENCE)


def _take(job: Job | Group, title: str, desk: Desk) -> bool:
    """Work on a run, unless it is held or has been finished meanwhile."""
    if job.finished:
        return True
    try:
        desk.say(title)
        job.work(desk)
    except RunInUse:
        return False
    return True
