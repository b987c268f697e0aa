"""SAC, TD3 and contrastive RL with and without hindsight, SAC with LEO: two mazes."""

from dataclasses import replace
from functools import partial

from allgoals.experiment import Experiment
from allgoals.report.claims import Above, Alike, Claim, Side
from allgoals.report.pictures import Curves, Improvements
from allgoals.studies.budgets import LABELS, maze
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

SEVEN = ("sac", "sac_her", "td3", "td3_her", "crl", "leo_sac", "dual_leo_sac")
MAZES: dict[Budget, tuple[str, ...]] = {
    "smoke": ("point-u-maze",),
    "laptop": ("point-u-maze", "point-big-maze"),
    "paper": ("ant-u-maze", "ant-big-maze"),
}
PARTLY, SOME = "point-big-maze", 16  # where LEO draws so many goals for each gradient step


def cases(budget: Budget) -> list[Case]:
    return [
        Case(LABELS[name], _experiment(budget, task, name))
        for task in MAZES[budget]
        for name in SEVEN
    ]


def _experiment(budget: Budget, task: str, name: str) -> Experiment:
    experiment = maze(budget, task, name)
    if task != PARTLY or "leo" not in name:
        return experiment
    agent = experiment.algorithm.agent
    if name == "leo_sac":
        agent = replace(agent, goals_per_update=SOME)
    else:
        agent = replace(agent, leo=replace(agent.leo, goals_per_update=SOME))
    return replace(experiment, algorithm=replace(experiment.algorithm, agent=agent))


def pictures(budget: Budget) -> tuple:
    del budget
    return (
        Curves("success", "Mean success over all goals"),
        Improvements("improvement", "Probability of improvement"),
    )


def claims(budget: Budget) -> list[Claim]:
    """The paper's are about ants; points stand for them at smaller budgets."""
    return [claim for throughout in (False, True) for claim in _claims(budget, throughout)]


def _claims(budget: Budget, throughout: bool) -> list[Claim]:
    """At the end, or over all of training: at the end several may be at all goals."""
    small, *_, large = MAZES[budget] * 2
    side = partial(Side, throughout=throughout)
    leo, dual = side("SAC + LEO"), side("SAC + Dual LEO")
    rivals, when = ("SAC + HER", "CRL"), ", over all of training" * throughout
    return [
        *(Above(f"{small}: SAC + LEO is above {LABELS[n]}{when}", leo, side(LABELS[n]), small)
          for n in SEVEN[:5]),
        *(Alike(f"{_where(large)}: SAC + LEO is about as good as {r}{when}", leo, side(r), large)
          for r in rivals),
        *(Alike(f"{_where(task)}: Dual LEO makes no notable difference{when}", dual, leo, task)
          for task in dict.fromkeys((small, large))),
    ]  # fmt: skip


def _where(task: str) -> str:
    """The maze, and what LEO there is not."""
    return task + f" ({SOME} of LEO's goals a gradient step)" * (task == PARTLY)


ANT_MAZE = RunStudy(
    name="ant-maze",
    paper="the figure of JaxGCRL",
    about="SAC, TD3 and contrastive RL, with and without hindsight, SAC with LEO and with Dual LEO,"
    " on a small and a large maze. Below the paper's size points stand for ants, and LEO draws 16"
    " goals for each gradient step on the large maze.",
    declared=Declared(cases, pictures, claims),
)
