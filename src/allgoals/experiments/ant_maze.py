"""SAC, TD3 and contrastive RL with and without hindsight, SAC with LEO: two mazes."""

from dataclasses import replace

from allgoals.experiment import Experiment
from allgoals.report.claims import Above, Side
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
SOME = 16  # goals per gradient step, for LEO on the large point maze


def cases(budget: Budget) -> list[Case]:
    return [
        Case(LABELS[name], _experiment(budget, task, name))
        for task in MAZES[budget]
        for name in SEVEN
    ]


def _experiment(budget: Budget, task: str, name: str) -> Experiment:
    experiment = maze(budget, task, name)
    if task != "point-big-maze" or "leo" not in name:
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


def claims(budget: Budget) -> list[Above]:
    small, *large = MAZES[budget]
    best = [_above(small, "SAC + LEO", LABELS[name]) for name in SEVEN[:5]]
    alike = [
        _no_worse(task, "SAC + LEO", other) for task in large for other in ("SAC + HER", "CRL")
    ]
    dual = [_no_worse(task, "SAC + LEO", "SAC + Dual LEO") for task in MAZES[budget]]
    return best + alike + dual


def _above(task: str, upper: str, lower: str) -> Above:
    return Above(f"{task}: {upper} is above {lower}", Side(upper), Side(lower), task)


def _no_worse(task: str, upper: str, lower: str) -> Above:
    text = f"{task}: {upper} is about as good as {lower}, or better"
    return Above(text, Side(upper), Side(lower), task, margin=0.1)


ANT_MAZE = RunStudy(
    name="ant-maze",
    paper="the figure of JaxGCRL",
    about="SAC, TD3 and contrastive RL, with and without hindsight, SAC with LEO and with Dual LEO,"
    " on a small and a large maze; point mazes stand for the ants' but at the paper's size.",
    declared=Declared(cases, pictures, claims),
)
