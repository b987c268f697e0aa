"""Runs that differ in their seeds alone, trained as one program along an axis of runs.

While it lasts, a group is a directory of its own: one checkpoint of all its runs, and a run
directory for each. When all have come to their end they are moved to where they belong; when
one of them diverges too, or the group no longer fits, each with what was last saved, so that
little is lost.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import jax

from allgoals.errors import MemoryShortage, NumericalError
from allgoals.experiment import Experiment, from_dict, to_dict
from allgoals.runs.cache import enable_compile_cache
from allgoals.runs.checkpoint import Checkpoints
from allgoals.runs.directory import RunDirectory
from allgoals.runs.setup import build_checkpoints, build_trainer, owner
from allgoals.runs.signals import Signals
from allgoals.runs.train import Driver, Observer
from allgoals.training import TrainState
from allgoals.types import PyTree


class GroupDriver(Driver):
    """Carries a group of runs on, from wherever it stands."""

    def __init__(
        self, group: RunDirectory, experiments: Sequence[Experiment], observer: Observer,
        signals: Signals,
    ):  # fmt: skip
        super().__init__(group, experiments[0], observer, signals)
        self.experiments = experiments
        self.trainer = build_trainer(experiments[0], self.task, len(experiments))
        owners = "".join(owner(one, self.task) for one in experiments)
        whose = hashlib.sha256(owners.encode()).hexdigest()[:16]
        self.checkpoints = Checkpoints(group.path / "checkpoints", whose)
        self.directories = [member(group, one.seed) for one in experiments]

    how_to_continue = "the same command continues"

    def parts(self, tree: PyTree) -> Iterator[PyTree]:
        for i in range(len(self.experiments)):  # one at a time: a copy of a state is large
            yield jax.tree.map(itemgetter(i), tree)

    def _finished(self) -> dict[str, Any] | None:
        """The last summary, if all runs have one."""
        found = [directory.read("summary.json") for directory in self.directories]
        return found[-1] if all(found) else None

    def _initial(self) -> tuple[int, TrainState]:
        keys = jax.numpy.stack([jax.random.key(one.seed) for one in self.experiments])
        return 0, jax.jit(self.trainer.init)(keys)

    def part(self) -> None:
        """Leaves every run where the group was last saved."""
        update, state = self.checkpoints.restore(self.trainer.shapes) or self._initial()
        for directory, own in zip(self.directories, self.parts(state), strict=True):
            self._leave(directory, update, own)

    def _conclude(self, directory: RunDirectory, update: int, state: TrainState) -> dict[str, Any]:
        self._leave(directory, update, state)
        return super()._conclude(directory, update, state)

    def _leave(self, directory: RunDirectory, update: int, state: TrainState) -> None:
        """A checkpoint of the run's own, as if it had been trained alone."""
        own = build_checkpoints(directory, from_dict(directory.config), self.task)
        own.save(update, state)
        own.wait()
        own.close()


PREFIX = "together-"


def member(group: RunDirectory, seed: int) -> RunDirectory:
    return RunDirectory(group.path / f"seed-{seed}")


def train_together(
    experiment: Experiment, seeds: Sequence[int], root: Path, observer: Observer, signals: Signals
) -> None:
    """Train, or continue, the runs root/seed-K: they appear when all ended, or went apart."""
    group = RunDirectory(root / (PREFIX + "-".join(map(str, seeds))))
    group.path.mkdir(parents=True, exist_ok=True)
    group.lock()
    try:
        if not all(_finished(root / f"seed-{seed}") for seed in seeds):  # by whoever was first
            _train(group, [replace(experiment, seed=seed) for seed in seeds], observer, signals)
        _scatter(group, seeds)
    except (NumericalError, MemoryShortage):
        _scatter(group, seeds)
        raise
    finally:
        group.unlock()


def begun_together(root: Path) -> list[list[int]]:
    """The seeds of every group that was begun and not finished."""
    names = sorted(path.name for path in root.glob(PREFIX + "*"))
    return [[int(seed) for seed in name.removeprefix(PREFIX).split("-")] for name in names]


def _train(
    group: RunDirectory, experiments: Sequence[Experiment], observer: Observer, signals: Signals
) -> None:
    moved = [not member(group, one.seed).path.exists() for one in experiments]
    if any(moved) and (group.path / "checkpoints").exists():
        return  # it was finished, and stopped while moving
    for one in experiments:
        directory = member(group, one.seed)
        if not (directory.path / "config.json").exists():
            RunDirectory.create(directory.path, to_dict(one)).unlock()
    enable_compile_cache()
    try:
        GroupDriver(group, experiments, observer, signals).train()
    except (NumericalError, MemoryShortage) as error:
        rest = GroupDriver(group, experiments, observer, signals)
        if isinstance(error, NumericalError) or rest.checkpoints.steps():
            rest.part()
        else:  # of no use to anyone
            for directory in rest.directories:
                directory.discard()
        raise


def _finished(run: Path) -> bool:
    return (run / "summary.json").exists()


def _scatter(group: RunDirectory, seeds: Sequence[int]) -> None:
    for seed in seeds:
        _move(member(group, seed).path, group.path.parent / f"seed-{seed}")
    _discard(group.path)


def _move(run: Path, place: Path) -> None:
    if not run.exists() or _finished(place):
        return
    if place.exists():  # begun alone
        begun = RunDirectory(place)
        begun.lock()  # and left: whoever is still at it is not disturbed
        try:
            if _finished(place):  # meanwhile
                return
            _discard(place)
        finally:
            begun.unlock()
    os.rename(run, place)


def _discard(directory: Path) -> None:
    """Under another name first: half of one must not look like a whole."""
    gone = directory.with_name("." + directory.name)
    shutil.rmtree(gone, ignore_errors=True)
    os.rename(directory, gone)
    shutil.rmtree(gone, ignore_errors=True)
