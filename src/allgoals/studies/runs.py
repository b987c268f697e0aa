"""A study of runs: cases trained with every seed, then drawn, compared and judged."""

from dataclasses import dataclass
from pathlib import Path

from allgoals.report.load import load_run
from allgoals.report.pictures import Trained
from allgoals.report.study import Judged, Shown, write_study
from allgoals.studies.jobs import Group, Job, carry_out, groups, jobs
from allgoals.studies.types import Budget, Case, Declared, Desk


@dataclass(frozen=True)
class RunStudy:
    name: str
    paper: str
    about: str
    declared: Declared

    def check(self, desk: Desk) -> None:
        for job in self._jobs(desk):
            job.check()

    def work(self, desk: Desk) -> None:
        carry_out(self._jobs(desk), desk)

    def write(self, desk: Desk) -> Path:
        cases = [trained(case, desk) for case in self.cases(desk.budget)]
        return write_study(
            desk.folder(self.name),
            Shown(self.name, self.paper, self.about, desk.budget, desk.command),
            cases,
            self.declared.pictures(desk.budget),
            [Judged(one.text, one.judge(cases)) for one in self.declared.claims(desk.budget)],
        )

    def cases(self, budget: Budget) -> list[Case]:
        return list(self.declared.cases(budget))

    def _jobs(self, desk: Desk) -> list[Job] | list[Group]:
        cases = self.cases(desk.budget)
        return groups(cases, desk) if desk.together else jobs(cases, desk)


def trained(case: Case, desk: Desk) -> Trained:
    """The case with the runs that were made of it so far."""
    paths = [desk.runs / case.folder / f"seed-{seed}" for seed in range(desk.seeds)]
    runs = tuple(load_run(path) for path in paths if (path / "config.json").exists())
    return Trained(case.label, case.panel, case.x, runs)
