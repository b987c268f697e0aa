"""Dual LEO (PQN) acting by LEO, by the network told its goal, and by the mix of both."""

from dataclasses import replace

from allgoals.report.claims import Above, Side
from allgoals.report.pictures import Bars, Curves
from allgoals.studies.budgets import LABELS, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

NAME = "dual_leo_pqn"
GOALS: dict[Budget, tuple[str, ...]] = {
    "smoke": ("position/4-4",),
    "laptop": ("inventory/coal_1", "inventory/wood_2", "inventory/sapling_2"),
    "paper": ("inventory/coal_1",),
}
TASK: dict[Budget, str] = {"smoke": "gridworld", "laptop": "craftax-classic", "paper": "craftax"}
PARTS = ("leo", "uvfa", "agent")
AT = 50_000_000  # where the paper looks at all goals of Craftax-Classic


def cases(budget: Budget) -> list[Case]:
    over_time = Case(LABELS[NAME], craftax(budget, TASK[budget], NAME))
    if budget != "paper":
        return [over_time]
    early = replace(craftax(budget, "craftax-classic", NAME), steps=AT)
    return [over_time, Case(LABELS[NAME], early, variation="50M")]


def pictures(budget: Budget) -> tuple:
    goals = GOALS[budget]
    return (
        Curves("goal", f"By component: {', '.join(goals)}", goals, PARTS),
        Curves("mean", "By component: mean over all goals", components=PARTS),
        Bars("every-goal", "By component: every goal", PARTS[:2]),
    )


def claims(budget: Budget) -> list[Above]:
    dual, task, goal = LABELS[NAME], TASK[budget], GOALS[budget][0]
    leo, uvfa = Side(dual, component="leo"), Side(dual, component="uvfa")
    early = [replace(side, through=0.25) for side in (leo, uvfa)]
    return [
        Above(f"LEO learns {goal} first", *early, task, goal),
        Above(f"in the end the network told its goal is better at {goal}", uvfa, leo, task, goal),
        Above("over all goals LEO is ahead at first", *early, task),
        Above("over all goals the network told its goal is ahead in the end", uvfa, leo, task),
    ]


COMPONENTS = RunStudy(
    name="components",
    paper="the figure of Dual LEO's components, and their appendix",
    about="Dual LEO (PQN) acting by LEO, by the network told its goal (uvfa),"
    " and by the mix (agent).",
    declared=Declared(cases, pictures, claims),
)
