"""PPO and LEO on random subsets of the goals, of growing size."""

from dataclasses import replace

from allgoals.report.claims import Above, Claim, Side
from allgoals.report.pictures import OverParameter
from allgoals.studies.budgets import CHAIN, FULL_CRAFTAX, LABELS, craftax
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
    return (
        OverParameter("mean", "Mean over the goals of the subset", size),
        *(OverParameter(f"goal-{i + 1}", f"{goal}, in every subset", size, goal=goal)
          for i, goal in enumerate(ALWAYS[budget])),
    )  # fmt: skip


def claims(budget: Budget) -> list[Claim]:
    """The paper's are about the full game, where LEO no longer falls beyond 150 goals."""
    few, many = SIZES[budget][0], SIZES[budget][-1]
    middle = 150 if budget == "paper" else few
    ppo, leo = (lambda size: Side("PPO", size)), (lambda size: Side("LEO", size))
    task = FULL_CRAFTAX[budget]
    at_full_size = [
        Above(f"{task}: LEO does not fall beyond {middle} goals", leo(many), leo(middle), task,
              margin=0.03),
        Above(f"{task}: LEO is above PPO with all goals", leo(many), ppo(many), task),
    ]  # fmt: skip
    return [
        Above(f"{task}: PPO falls as goals are added", ppo(few), ppo(many), task),
        *(Above(f"{task}: {name} learns {goal} better among more goals", side(many), side(few),
                task, goal)
          for goal in ALWAYS[budget] for name, side in (("LEO", leo), ("PPO", ppo))),
        *(at_full_size if budget == "paper" else ()),
    ]  # fmt: skip


GOAL_SET_SIZE = RunStudy(
    name="goal-set-size",
    paper="the appendix of subsampled goal sets",
    about="PPO and LEO on random subsets of the goals, another for every seed, one goal"
    " or two being in all.",
    declared=Declared(cases, pictures, claims),
)
