"""Every strategy of hindsight: which goals, how many, and who shares them."""

from dataclasses import replace

from allgoals.report.claims import Best, Claim
from allgoals.report.pictures import Ranking
from allgoals.studies.budgets import craftax
from allgoals.studies.runs import RunStudy
from allgoals.studies.types import Budget, Case, Declared

LEVELS = ("transition", "trajectory")
COUNTS = (1, 2, 4)  # of random or of achieved goals
# Random and achieved goals together: 2, 4 or 8, of which a quarter, a half or three quarters are
# random. Of 2 only the half can be had.
MIXES = ((1, 1), (1, 3), (2, 2), (3, 1), (2, 6), (4, 4), (6, 2))
PAPER_STEPS = 500_000_000


def strategies(budget: Budget) -> list[dict]:
    """Fields of PQN: random, positive and mixed goals, each for a transition or a trajectory."""
    counts, mixes = ((1,), ((1, 1),)) if budget == "smoke" else (COUNTS, MIXES)
    one_kind = [
        *(dict(relabel="random", random_goals=n) for n in counts),
        *(dict(relabel="positive", positive_goals=n) for n in counts),
        *(dict(relabel="mixed", random_goals=r, positive_goals=p) for r, p in mixes),
    ]
    relabelled = [{**one, "relabel_level": level} for one in one_kind for level in LEVELS]
    return [dict(relabel="none"), *relabelled]


def label(fields: dict) -> str:
    if fields["relabel"] == "none":
        return "none"
    counts = [str(fields[k]) for k in ("random_goals", "positive_goals") if k in fields]
    return f"{fields['relabel']} {'+'.join(counts)}, {fields['relabel_level']}"


def cases(budget: Budget) -> list[Case]:
    task = "gridworld" if budget == "smoke" else "craftax-classic"
    return [_case(budget, task, fields) for fields in strategies(budget)]


def _case(budget: Budget, task: str, fields: dict) -> Case:
    rows = 1 + sum(v for k, v in fields.items() if k.endswith("_goals"))
    experiment = craftax(budget, task, "pqn")
    fields = {**fields, "minibatch_size": experiment.algorithm.minibatch_size * rows}
    steps = PAPER_STEPS if budget == "paper" else experiment.steps
    experiment = replace(experiment, algorithm=replace(experiment.algorithm, **fields), steps=steps)
    name = label(fields)
    return Case(name, experiment, variation=name.replace(", ", "-").replace(" ", "-"))


def pictures(budget: Budget) -> tuple:
    del budget
    return (Ranking("ranking", "Strategies by success"),)


def claims(budget: Budget) -> list[Claim]:
    task = "gridworld" if budget == "smoke" else "craftax-classic"
    best = "mixed 1+1, trajectory"
    return [Best(f"{task}: 1 random and 1 achieved goal per trajectory is the best", best, task)]


SWEEP_HER = RunStudy(
    name="sweep-her",
    paper="the appendix of hindsight",
    about="PQN with every strategy of hindsight: random goals, achieved goals and mixes of both,"
    " drawn for each transition or shared by a trajectory.",
    declared=Declared(cases, pictures, claims),
)
