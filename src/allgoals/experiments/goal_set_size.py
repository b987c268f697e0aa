"""PPO and LEO on random subsets of the goals, of growing size."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

from allgoals.report.claims import Above, Claim, Side
from allgoals.report.pictures import OverParameter
from allgoals.report.scores import AllBut
from allgoals.studies.budgets import CHAIN, CHOSEN_AFTER, FULL_CRAFTAX, LABELS, craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

SIZES: dict[Budget, tuple[int, ...]] = {
    "smoke": (4, 16),
    "laptop": (8, 24, 72, 136),
    "paper": (32, 64, 100, 150, 256, 384, 512),
}
ALL: dict[Budget, int] = {"smoke": 20, "laptop": 136, "paper": 512}
ALWAYS: dict[Budget, tuple[str, ...]] = {  # and what is reached where nobody makes a pickaxe yet
    "smoke": ("position/0-1",),
    "laptop": ("tools/stone_pickaxe", CHAIN),
    "paper": ("tools/stone_pickaxe",),
}
WITH_ALL = {"craftax-classic": ("PPO", "LEO"), "craftax": ("LEO", "PPO")}  # goals: best first


def cases(budget: Budget) -> list[Case]:
    return [_case(budget, name, size) for name in ("ppo", "leo") for size in SIZES[budget]]


def _case(budget: Budget, name: str, size: int) -> Case:
    experiment = craftax(budget, FULL_CRAFTAX[budget], name)
    if size == ALL[budget]:
        return Case(LABELS[name], experiment, x=size)  # as in main
    goals = replace(experiment.goals, subset=size, include=ALWAYS[budget])
    experiment = replace(experiment, goals=goals)
    return Case(LABELS[name], experiment, variation=f"{size}-goals", x=size)


def pictures(budget: Budget) -> tuple:
    size = "goals in the subset"
    drawn = "Mean over the goals of the subset that were drawn at random"
    return (
        OverParameter("all", "Mean over all goals of the subset", size),
        OverParameter("mean", drawn, size, goal=AllBut(ALWAYS[budget])),
        *(OverParameter(f"goal-{i + 1}", f"{goal}, in every subset", size, goal=goal)
          for i, goal in enumerate(ALWAYS[budget])),
    )  # fmt: skip


def claims(budget: Budget) -> list[Claim]:
    """The paper's are about the full game, where LEO no longer falls beyond 150 goals."""
    few, many = SIZES[budget][0], SIZES[budget][-1]
    ppo, leo = partial(Side, "PPO"), partial(Side, "LEO")
    task, drawn = FULL_CRAFTAX[budget], AllBut(ALWAYS[budget])
    return [
        *(Above(f"{task}: PPO falls from {a} goals to {b}", ppo(a), ppo(b), task, drawn)
          for a, b in dict.fromkeys([*pairwise(SIZES[budget]), (few, many)])),
        *(Above(f"{task}: {name} learns {goal} better among more goals", side(many), side(few),
                task, goal)
          for goal in ALWAYS[budget] for name, side in (("LEO", leo), ("PPO", ppo))),
        Above("craftax: LEO does not fall from 150 goals to 512", leo(512), leo(150), "craftax",
              drawn, margin=0.03),
        *(Above(f"{task}: {one} is above {other} with all goals", Side(one, many),
                Side(other, many), task, drawn)
          for world, (one, other) in WITH_ALL.items() if world == task),
    ]  # fmt: skip


GOAL_SET_SIZE = RunStudy(
    name="goal-set-size",
    paper="the appendix of subsampled goal sets",
    about="PPO and LEO on random subsets of the goals, another for every seed, one goal"
    " or two being in all. Claims are about means over the others. The paper speaks of the full"
    " game; at smaller budgets another world stands for it.",
    cautions=CHOSEN_AFTER,
    declared=Declared(cases, pictures, claims),
)
