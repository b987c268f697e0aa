"""LEO and Dual LEO (PQN) when only a share of the heads learns at each step."""

from dataclasses import replace
from itertools import pairwise

from allgoals.report.claims import Above, Claim, Side
from allgoals.report.pictures import OverParameter
from allgoals.studies.budgets import FULL_CRAFTAX, LABELS, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

SHARES: dict[Budget, tuple[float, ...]] = {
    "smoke": (0.2, 1.0),
    "laptop": (0.05, 0.25, 0.6, 1.0),
    "paper": (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
}
ENOUGH = 0.6  # of the heads


def cases(budget: Budget) -> list[Case]:
    return [_case(budget, name, s) for name in ("leo", "dual_leo_pqn") for s in SHARES[budget]]


def _case(budget: Budget, name: str, share: float) -> Case:
    experiment = craftax(budget, FULL_CRAFTAX[budget], name)
    algorithm = experiment.algorithm
    leo = algorithm if name == "leo" else algorithm.leo
    leo = replace(leo, goal_fraction=share)
    changed = leo if name == "leo" else replace(algorithm, leo=leo)
    experiment = replace(experiment, algorithm=changed)
    variation = "" if share == 1 else f"{share:g}-of-heads"  # all of them: as in main
    return Case(LABELS[name], experiment, variation, x=share)


def pictures(budget: Budget) -> tuple:
    del budget
    return (OverParameter("success", "Mean success", "share of heads that learn at each step"),)


def claims(budget: Budget) -> list[Claim]:
    """The paper has LEO rise all the way, and Dual LEO (PQN) until `ENOUGH` of the heads learn."""
    least = SHARES[budget][0]
    leo, dual = LABELS["leo"], LABELS["dual_leo_pqn"]
    task = FULL_CRAFTAX[budget]
    steps = dict.fromkeys([*pairwise(SHARES[budget]), (least, 1.0)])
    rises = {leo: steps, dual: [(a, b) for a, b in steps if b <= ENOUGH or (a, b) == (least, 1.0)]}
    return [
        *(Above(f"{task}: {name} learns less with {few:g} of the heads than with {many:g}",
                Side(name, many), Side(name, few), task)
          for name, pairs in rises.items() for few, many in pairs),
        Above(f"{task}: {dual} needs no more than {ENOUGH:g} of the heads", Side(dual, ENOUGH),
              Side(dual, 1.0), task, margin=0.02),
    ]  # fmt: skip


MANY_GOALS = RunStudy(
    name="many-goals",
    paper="the appendix on whether all goals must be updated",
    about="LEO and Dual LEO (PQN) when a random share of LEO's heads learns at each gradient step."
    " The paper speaks of the full game; at smaller budgets another world stands for it.",
    declared=Declared(cases, pictures, claims),
)
