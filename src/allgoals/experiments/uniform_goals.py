"""Main, with goals sampled uniformly instead of among those seen before."""

from dataclasses import replace

from allgoals.experiments import main
from allgoals.report.claims import Above, Side
from allgoals.report.pictures import Curves
from allgoals.studies.budgets import FULL_CRAFTAX
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared


def cases(budget: Budget) -> list[Case]:
    return [_uniform(case) for case in main.cases(budget)]


def _uniform(case: Case) -> Case:
    goals = replace(case.experiment.goals, sampler="uniform")
    return replace(case, experiment=replace(case.experiment, goals=goals), variation="uniform")


def pictures(budget: Budget) -> tuple:
    del budget
    return (Curves("success", "Mean success, goals sampled uniformly"),)


def claims(budget: Budget) -> list[Above]:
    task = FULL_CRAFTAX[budget]
    said = {
        "LEO stays above PPO": ("LEO", "PPO"),
        "LEO stays above PQN with hindsight": ("LEO", "PQN + HER"),
        "Dual LEO (PQN) stays above PQN with hindsight": ("Dual LEO (PQN)", "PQN + HER"),
        "Dual LEO (PPO) stays above PPO": ("Dual LEO (PPO)", "PPO"),
    }
    return [
        Above(f"{task}: {text}", Side(upper), Side(lower), panel=task)
        for text, (upper, lower) in said.items()
    ]


UNIFORM_GOALS = RunStudy(
    name="uniform-goals",
    paper="the appendix of uniform goal sampling",
    about="The six methods of main with commanded goals drawn from all goals, seen before or not.",
    declared=Declared(cases, pictures, claims),
)
