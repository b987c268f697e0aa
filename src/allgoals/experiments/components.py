"""Dual LEO (PQN) acting by LEO, by the network told its goal, and by the mix of both."""

from dataclasses import replace

from allgoals.report.claims import Above, Among, Claim, Side
from allgoals.report.pictures import Bars, Curves
from allgoals.studies.budgets import CHAIN, CRAFTAX, LABELS, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

NAME = "dual_leo_pqn"
DUAL = LABELS[NAME]
PARTS = ("leo", "uvfa", "agent")
GOALS: dict[Budget, str] = {  # the paper's, and what stands for it where nobody finds coal
    "smoke": "position/4-4", "laptop": CHAIN, "paper": "inventory/coal_1",
}  # fmt: skip
EARLY = 50_000_000  # steps, where the paper looks at all goals of Craftax-Classic


def cases(budget: Budget) -> list[Case]:
    """Those of main."""
    return [Case(DUAL, craftax(budget, task, NAME)) for task in CRAFTAX[budget]]


def declared(goal: str | None = None) -> Declared:
    """The study of a goal, or of each budget's own."""

    def pictures(budget: Budget) -> tuple:
        name = goal or GOALS[budget]
        classic = CRAFTAX[budget][0]
        at = EARLY if budget == "paper" else None
        return (
            Curves("goal", f"By component: {name}", (name,), PARTS),
            Curves("mean", "By component: mean over all goals", components=PARTS),
            Bars("every-goal", f"By component: every goal of {classic}", PARTS[:2], classic, at),
        )

    def claims(budget: Budget) -> list[Claim]:
        name, task = goal or GOALS[budget], CRAFTAX[budget][-1]
        leo, uvfa = Side(DUAL, component="leo"), Side(DUAL, component="uvfa")
        early = [replace(side, through=0.25) for side in (leo, uvfa)]
        classic = CRAFTAX[budget][0]
        when = EARLY / 1e9 if budget == "paper" else 1.0
        return [
            Above(f"{task}: LEO learns {name} first", *early, task, name),
            Above(f"{task}: in the end the network told its goal is better at {name}", uvfa, leo,
                  task, name),
            Among(f"{classic}: where success is high, the network told its goal is ahead", DUAL,
                  "uvfa", "leo", classic, True, when),
            Among(f"{classic}: where success is low but not zero, LEO is ahead", DUAL, "leo",
                  "uvfa", classic, False, when),
        ]  # fmt: skip

    return Declared(cases, pictures, claims)


COMPONENTS = RunStudy(
    name="components",
    paper="the figure of Dual LEO's components, and their appendix",
    about="Dual LEO (PQN) acting by LEO, by the network told its goal (uvfa), and by the mix"
    " (agent): over time for one goal (--goal), and for every goal.",
    declared=declared(),
    of_goal=declared,
)
