"""Every goal, every method: small multiples and the goal listing."""

from allgoals.experiments.main import cases
from allgoals.report.pictures import Curves
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Declared
from allgoals.validation import build_task

PANELS = 72


def pictures(budget: Budget) -> list[Curves]:
    first = {case.experiment.task: case.experiment for case in cases(budget)}
    return [
        Curves(f"{task}-{i + 1}", f"Every goal of {task}, part {i + 1}", part, task=task)
        for task, experiment in first.items()
        for i, part in enumerate(_parts(build_task(experiment).goals.names))
    ]


def _parts(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """So many panels at a time."""
    return [names[i : i + PANELS] for i in range(0, len(names), PANELS)]


ALL_GOALS = RunStudy(
    name="all-goals",
    paper="the appendices of per-goal results and of goal listings",
    about="The runs of main, every goal in a panel of its own; the table of every goal below"
    " is coloured by success, beside the paper's numbers.",
    declared=Declared(cases, pictures),
)
