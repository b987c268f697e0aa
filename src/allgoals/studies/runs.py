"""A study of runs: cases trained with every seed, then drawn, compared and judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import jax

from allgoals.experiment import Experiment
from allgoals.report.scores import Trained
from allgoals.report.study import Judged, Shown, write_study
from allgoals.runs.agent import evaluate_random
from allgoals.runs.cache import enable_compile_cache
from allgoals.runs.directory import RunDirectory
from allgoals.studies.jobs import Group, Job, alone, carry_out, groups, jobs, load_made
from allgoals.studies.types import Budget, Case, Declared, Desk
from allgoals.validation import build_task

RANDOM_EPISODES = 8  # of every goal

BY_SEEDS = (
    "Supported or contradicted: the 95 % interval over seeds of a difference (Welch's or, of two"
    " parts of the same runs, the paired one) lies on one side of zero, or of what its evidence"
    " calls near enough; where two sides are claimed to be about as good, supported means within"
    " what is near enough, and contradicted outside of it. Nothing is said where neither side is"
    " above a random policy, or where runs are missing. Each claim is judged by itself, so that of"
    " forty without any truth one is supported by chance, and one contradicted; but that something"
    " is the best of several is contradicted only by an interval that allows for their number. All"
    " this holds for the budget of this page and the world that a claim names, which may stand for"
    " another; the paper's claims are about runs of a billion steps, or of 50 million in the ant"
    " mazes."
)


@dataclass(frozen=True)
class RunStudy:
    name: str
    paper: str
    about: str
    declared: Declared
    of_goal: Callable[[str], Declared] | None = None  # where a goal can be chosen
    cautions: Mapping[Budget, str] = field(default_factory=dict)  # what else a reader should know

    def check(self, desk: Desk) -> None:
        for job in jobs(self.cases(desk.budget), desk):
            job.check()

    def work(self, desk: Desk) -> None:
        carry_out(self._jobs(desk), desk)

    def write(self, desk: Desk) -> Path:
        cases = [trained(case, desk) for case in self.cases(desk.budget)]
        return write_study(
            desk.folder(self.name),
            Shown(self.name, self.paper, self.about, desk.budget, desk.command,
                  self.cautions.get(desk.budget, "")),
            cases,
            self.declared.pictures(desk.budget),
            [Judged(one.text, one.judge(cases)) for one in self.declared.claims(desk.budget)],
            BY_SEEDS,
        )  # fmt: skip

    def goals(self, budget: Budget) -> list[str]:
        """Names of the goals that its runs have."""
        found = [build_task(case.experiment).goals.names for case in self.cases(budget)]
        return list(dict.fromkeys(name for names in found for name in names))

    def cases(self, budget: Budget) -> list[Case]:
        return list(self.declared.cases(budget))

    def _jobs(self, desk: Desk) -> list[Job] | list[Job | Group]:
        cases = self.cases(desk.budget)
        return groups(cases, desk) if _together(desk) else jobs(cases, desk)


def _together(desk: Desk) -> bool:
    """As asked or, by default, where there is a GPU to fill."""
    return jax.default_backend() != "cpu" if desk.together is None else desk.together


def trained(case: Case, desk: Desk) -> Trained:
    """The case with the runs that were made of it so far."""
    paths = {seed: desk.runs / case.folder / f"seed-{seed}" for seed in range(desk.seeds)}
    runs = tuple(load_made(path, case.with_seed(seed)) for seed, path in paths.items()
                 if (path / "config.json").exists())  # fmt: skip
    return Trained(case.label, case.panel, case.x, runs, by_chance(case.experiment, desk))


def by_chance(experiment: Experiment, desk: Desk) -> dict[str, float]:
    """A random policy's success at every goal of the task, measured once for all studies."""
    folder, name = RunDirectory(desk.runs), f"random-{experiment.task}.json"
    known = folder.read(name)
    if known is not None:
        return known
    with alone(folder.path, desk.say):
        known = folder.read(name)  # it may have been measured meanwhile
        if known is None:
            desk.say(f"{experiment.task}: acting at random")
            known = _acting_at_random(experiment)
            folder.write(name, known)
    return known


def _acting_at_random(experiment: Experiment) -> dict[str, float]:
    enable_compile_cache()
    every = replace(experiment, goals=replace(experiment.goals, subset=None, include=()))
    options = replace(experiment.evaluation, episodes=RANDOM_EPISODES)
    task = build_task(every)
    rates = evaluate_random(task, options)["success"]["random"]
    return dict(zip(task.goals.names, rates, strict=True))
