"""Every goal, every method: small multiples and the goal listing."""

from allgoals.experiments.main import cases
from allgoals.report.pictures import Curves
from allgoals.studies.budgets import CRAFTAX
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Declared
from allgoals.tasks import make_task


def pictures(budget: Budget) -> list[Curves]:
    if budget == "smoke":
        names = make_task("gridworld", cases(budget)[0].experiment.env).goals.names
        return [Curves("gridworld", "Every goal", names)]
    return [
        Curves(task, f"Every goal of {task}", make_task(task).goals.names, task=task)
        for task in CRAFTAX[budget]
    ]


ALL_GOALS = RunStudy(
    name="all-goals",
    paper="the appendices of per-goal results and of goal listings",
    about="The runs of main, every goal in a panel of its own; the table of every goal below"
    " is coloured by success, beside the paper's numbers.",
    declared=Declared(cases, pictures),
)
