"""PPO and LEO on random subsets of the goals, of growing size."""

from dataclasses import replace

from allgoals.report.claims import Above, Side
from allgoals.report.pictures import OverParameter
from allgoals.studies.budgets import FULL_CRAFTAX, LABELS, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

SIZES: dict[Budget, tuple[int, ...]] = {
    "smoke": (4, 16),
    "laptop": (8, 24, 72, 136),
    "paper": (32, 64, 100, 150, 256, 384, 512),
}
ALWAYS: dict[Budget, str] = {
    "smoke": "position/0-1",
    "laptop": "tools/stone_pickaxe",
    "paper": "tools/stone_pickaxe",
}


def cases(budget: Budget) -> list[Case]:
    return [_case(budget, name, size) for name in ("ppo", "leo") for size in SIZES[budget]]


def _case(budget: Budget, name: str, size: int) -> Case:
    experiment = craftax(budget, FULL_CRAFTAX[budget], name)
    goals = replace(experiment.goals, subset=size, include=(ALWAYS[budget],))
    experiment = replace(experiment, goals=goals)
    return Case(LABELS[name], experiment, variation=f"{size}-goals", x=size)


def pictures(budget: Budget) -> tuple:
    goal = ALWAYS[budget]
    return (
        OverParameter("mean", "Mean over the goals of the subset", "goals in the subset"),
        OverParameter("one-goal", f"{goal}, in every subset", "goals in the subset", goal=goal),
    )


def claims(budget: Budget) -> list[Above]:
    few, *_, middle, many = SIZES[budget] if budget != "smoke" else (4, 4, 16)
    goal = ALWAYS[budget]
    return [
        Above("PPO falls as goals are added", Side("PPO", few), Side("PPO", many)),
        Above("LEO does not fall among large sets", Side("LEO", many), Side("LEO", middle),
              margin=0.03),
        Above("LEO is above PPO on the largest set", Side("LEO", many), Side("PPO", many)),
        Above(f"LEO learns {goal} better among more goals", Side("LEO", many), Side("LEO", few),
              goal=goal),
    ]  # fmt: skip


GOAL_SET_SIZE = RunStudy(
    name="goal-set-size",
    paper="the appendix of subsampled goal sets",
    about="PPO and LEO trained on random subsets of the goals, one goal being in all of them.",
    declared=Declared(cases, pictures, claims),
)
