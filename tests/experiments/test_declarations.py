"""Every figure and table of the paper is declared, and every run of it could be begun."""

import csv
from itertools import product
from pathlib import Path

import pytest

from allgoals.experiments import STUDIES
from allgoals.report.claims import Side
from allgoals.report.claims_by_goal import Parts
from allgoals.report.published import published
from allgoals.report.scores import AllBut
from allgoals.studies.runs import RunStudy
from allgoals.studies.sweep import Sweep, changed
from allgoals.studies.trials import parameters
from allgoals.studies.types import BUDGETS
from allgoals.tasks import make_task
from allgoals.validation import build_task

NAMES = [
    "speed", "main", "chosen-goals", "components", "ant-maze", "all-goals",
    "sweep-ppo", "sweep-pqn", "sweep-leo", "sweep-dual-leo-pqn", "sweep-dual-leo-ppo", "sweep-her",
    "uniform-goals", "goal-set-size", "many-goals",
]  # fmt: skip
RUNS = [study for study in STUDIES.values() if isinstance(study, RunStudy)]
SWEEPS = [study for study in STUDIES.values() if isinstance(study, Sweep)]


def named(studies):
    return pytest.mark.parametrize("study", studies, ids=lambda study: study.name)


def test_every_figure_and_table_is_there():
    assert list(STUDIES) == NAMES


@named(RUNS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_case_is_an_experiment_that_could_begin(study, budget):
    experiments = [case.experiment for case in study.cases(budget)]
    if budget == "paper" and study.name == "ant-maze":
        pytest.importorskip("brax")
    for experiment in experiments:
        build_task(experiment)


@pytest.mark.parametrize("budget", BUDGETS)
def test_cases_that_share_a_folder_are_the_same_runs(budget):
    found = {}
    for case in (case for study in RUNS for case in study.cases(budget)):
        assert found.setdefault(case.folder, case.experiment) == case.experiment, case.folder
    assert {case.folder for case in STUDIES["chosen-goals"].cases(budget)} == {
        case.folder for case in STUDIES["main"].cases(budget)
    }


@named(SWEEPS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_trial_is_an_experiment_that_could_begin(study, budget):
    task = None
    for index in range(study.trials[budget]):
        experiment = study.base(budget)
        for name, value in parameters(study.space, index).items():
            experiment = changed(experiment, name.split("."), value)
        task = task or build_task(experiment)
        rows = experiment.steps_per_update
        for name, (total, part) in experiment.algorithm.divisions(rows, task.num_goals).items():
            assert total % part == 0, (index, name, total, part)


@named(SWEEPS)
def test_sweeps_hold_what_the_paper_chose(study):
    assert set(study.best) == set(study.space)
    assert all(study.best[name] in values for name, values in study.space.items())
    chosen = study.base("paper")
    for name, value in study.best.items():
        assert changed(chosen, name.split("."), value) == chosen, name


Q_VALUES = {  # of PQN and of LEO, but for the layers
    "width": {256, 512, 1024}, "conv_features": {4, 8, 16, 32},
    "num_steps": {1, 2, 4, 8, 16, 32, 64}, "epsilon_start": {1.0, 0.5, 0.2, 0.1},
    "epsilon_end": {0.005, 0.01, 0.02}, "epsilon_decay": {0.1, 0.2, 0.5}, "epochs": {1, 2, 4},
    "learning_rate": {0.0002, 0.0003}, "learning_rate_decay": {True, False},
    "gamma": {0.99, 0.995, 0.999}, "minibatch_size": {16, 32, 64, 128, 256, 512},
}  # fmt: skip
CLONING = {0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0}
SWEPT = {  # "Appendix: CraftaxGC hyperparameters"
    "sweep-ppo": {
        "width": {256, 512, 1024}, "embedding_layers": {1, 2, 4}, "critic_layers": {1, 2, 4},
        "actor_layers": {1, 2, 4}, "conv_features": {4, 8, 16, 32},
        "num_steps": {1, 2, 4, 8, 16, 32, 64}, "epochs": {1, 2, 4},
        "learning_rate": {0.0002, 0.0003}, "learning_rate_decay": {True, False},
        "gamma": {0.99, 0.995, 0.999}, "num_minibatches": {8, 16, 32},
        "gae_lambda": {0.8, 0.9, 0.95}, "entropy_coefficient": {0.01, 0.005, 0.002},
        "value_coefficient": {0.5},
    },
    "sweep-pqn": Q_VALUES | {"layers": {1, 2, 4}},
    "sweep-leo": Q_VALUES | {"layers": {1, 2, 4, 6}},
    "sweep-dual-leo-pqn": {
        "acting": {"max", "min", "linear_combination"},
        "alpha": {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, "anneal_alpha": {True, False},
    },
    "sweep-dual-leo-ppo": {
        "policy_cloning": CLONING, "value_cloning": CLONING, "anneal_cloning": {True, False},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SWEPT)
def test_the_sweeps_are_over_the_papers_values(name):
    space = {k.removeprefix("algorithm."): set(v) for k, v in STUDIES[name].space.items()}
    assert space == SWEPT[name]
    assert all(len(set(v)) == len(v) for v in STUDIES[name].space.values())
    assert STUDIES[name].trials["paper"] == 100
    assert STUDIES[name].base("paper").steps == 200_000_000


def test_hindsight_has_every_strategy():
    labels = [case.label for case in STUDIES["sweep-her"].cases("paper")]
    mixes = ["1+1", "1+3", "2+2", "3+1", "2+6", "4+4", "6+2"]
    kinds = [f"{kind} {n}" for kind, n in product(("random", "positive"), (1, 2, 4))]
    kinds += [f"mixed {mix}" for mix in mixes]
    levels = ("transition", "trajectory")
    assert labels == ["none", *(f"{kind}, {level}" for kind in kinds for level in levels)]


@pytest.mark.parametrize("task", ["craftax-classic", "craftax"])
def test_the_papers_numbers_are_of_our_goals(task):
    numbers = published(task)
    assert tuple(numbers) == make_task(task).goals.names
    file = Path(__file__).parent.parent / "data" / f"goals_{task.replace('-', '_')}.csv"
    with file.open() as rows:
        assert numbers == {row["name"]: float(row["paper_success"]) for row in csv.DictReader(rows)}


@pytest.mark.parametrize("budget", ["laptop", "paper"])
def test_the_goal_that_is_asked_for_is_the_one_shown(budget):
    """Also where the study would choose another by itself."""
    study = STUDIES["components"].of_goal("inventory/coal_1")
    assert study.pictures(budget)[0].goals == ("inventory/coal_1",)
    assert "inventory/coal_1" in study.claims(budget)[0].text


def named_goals(goals) -> set[str]:
    names = goals.names if isinstance(goals, AllBut) else goals
    return ({names} if isinstance(names, str) else {*names}) - {""}


def test_goals_that_pictures_and_claims_name_exist():
    for study, budget in product(RUNS, BUDGETS):
        tasks = {case.experiment.task: case.experiment for case in study.cases(budget)}
        known = {name for one in tasks.values() for name in build_task(one).goals.names}
        for picture in study.declared.pictures(budget):
            goals = getattr(picture, "goals", ()) or named_goals(getattr(picture, "goal", ""))
            assert not set(goals) - known, (study.name, budget)
        labels = {case.label for case in study.cases(budget)}
        panels = {case.panel for case in study.cases(budget)}
        for claim in study.declared.claims(budget):
            named = [s for s in vars(claim).values() if isinstance(s, Side | Parts)]
            sides = [*named, *getattr(claim, "sides", ())]
            assert {side.label for side in sides} <= labels, claim
            about = {getattr(claim, "panel", ""), *(side.panel for side in sides)} - {""}
            if about <= panels:  # else it cannot be judged at this budget
                assert named_goals(getattr(claim, "goals", "")) <= known
            else:
                assert budget != "paper", claim
