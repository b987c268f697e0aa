"""Dual LEO (PQN) acting by LEO, by the network told its goal, and by the mix of both."""

from dataclasses import replace

from allgoals.report.claims import Above, Claim, Side
from allgoals.report.claims_by_goal import Alone, Among, Parts
from allgoals.report.pictures import Bars, Curves
from allgoals.studies.budgets import CHAIN, CHOSEN_AFTER, CRAFTAX, LABELS, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

NAME = "dual_leo_pqn"
DUAL = LABELS[NAME]
PARTS = ("leo", "uvfa", "agent")
GOALS: dict[Budget, tuple[str, ...]] = {  # the paper's, and one more where nobody finds coal
    "smoke": ("position/4-4",),
    "laptop": ("inventory/coal_1", CHAIN),
    "paper": ("inventory/coal_1",),
}
EARLY = 50_000_000  # steps, where the paper looks at all goals of Craftax-Classic
RAREST = 9  # goals of the lowest success, which only LEO reaches there


def cases(budget: Budget) -> list[Case]:
    """Those of main: the agent, and the network told its goal by itself."""
    return [
        Case(LABELS[name], craftax(budget, task, name))
        for task in CRAFTAX[budget] for name in (NAME, "pqn")
    ]  # fmt: skip


def declared(goal: str | None = None) -> Declared:
    """The study of a goal, or of each budget's own."""

    def chosen(budget: Budget) -> tuple[str, ...]:
        return (goal,) if goal else GOALS[budget]

    def pictures(budget: Budget) -> tuple:
        goals = chosen(budget)
        classic = CRAFTAX[budget][0]
        at = EARLY if budget == "paper" else None
        when = f"after {EARLY / 1e6:g} million steps" if at else "at the end"
        return (
            Curves("goal", f"By component: {', '.join(goals)}", goals, PARTS),
            Curves("mean", "By component: mean over all goals", components=PARTS),
            Bars("every-goal", f"By component: every goal of {classic}, {when}", PARTS, classic,
                 at),
        )  # fmt: skip

    def claims(budget: Budget) -> list[Claim]:
        task = CRAFTAX[budget][-1]
        leo, uvfa = Side(DUAL, component="leo"), Side(DUAL, component="uvfa")
        early = [replace(side, through=0.25) for side in (leo, uvfa)]
        classic = CRAFTAX[budget][0]
        when = EARLY / 1e9 if budget == "paper" else 1.0
        told = Parts(DUAL, "uvfa", "leo", classic, when)
        leos = Parts(DUAL, "leo", "uvfa", classic, when)
        first = "LEO learns {name} first"
        at_last = "in the end the network told its goal is better at {name}"
        compared = ((first, early), (at_last, (uvfa, leo)))
        return [
            *(Above(f"{task}: {text.format(name=name)}", *sides, task, name)
              for name in chosen(budget) for text, sides in compared),
            *(Above(f"{task}: by itself the network told its goal does not learn {name} as well",
                    Side(DUAL), Side(LABELS["pqn"]), task, name) for name in chosen(budget)),
            Among(f"{classic}: of the goals of high success the network told its goal is ahead at"
                  " more than LEO", told, high=True),
            Among(f"{classic}: of the goals of low success LEO is ahead at more than the other",
                  leos, high=False),
            Alone(f"{classic}: only LEO reaches the {RAREST} goals of the lowest success above"
                  " chance", leos, RAREST),
        ]  # fmt: skip

    return Declared(cases, pictures, claims)


COMPONENTS = RunStudy(
    name="components",
    paper="the figure of Dual LEO's components, and their appendix",
    about="Dual LEO (PQN) acting by LEO, by the network told its goal (uvfa), and by the mix"
    " (agent), and PQN, which is the network told its goal by itself: over time for one goal"
    " (--goal), and by component for every goal.",
    declared=declared(),
    of_goal=declared,
    cautions=CHOSEN_AFTER,
)
