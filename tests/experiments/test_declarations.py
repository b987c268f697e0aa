"""Every figure and table of the paper is declared, and every run of it could be begun."""

from itertools import product

import pytest

from allgoals.experiments import STUDIES
from allgoals.report.claims import Side
from allgoals.report.published import published
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


def test_the_sweeps_have_the_sizes_of_the_papers():
    def size(name):
        return [len(values) for values in STUDIES[name].space.values()]

    assert sorted(size("sweep-ppo")) == sorted([3, 3, 3, 3, 4, 7, 3, 2, 2, 3, 3, 3, 3])
    assert sorted(size("sweep-pqn")) == sorted([3, 3, 4, 7, 4, 3, 3, 3, 2, 2, 3, 6])
    assert sorted(size("sweep-leo")) == sorted([3, 4, 4, 7, 4, 3, 3, 3, 2, 2, 3, 6])
    assert size("sweep-dual-leo-pqn") == [3, 9, 2]
    assert size("sweep-dual-leo-ppo") == [8, 8, 2]


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
    assert all(0 <= rate <= 1 for rate in numbers.values())


@pytest.mark.parametrize("budget", ["laptop", "paper"])
def test_the_goal_that_is_asked_for_is_the_one_shown(budget):
    """Also where the study would choose another by itself."""
    study = STUDIES["components"].of_goal("inventory/coal_1")
    assert study.pictures(budget)[0].goals == ("inventory/coal_1",)
    assert "inventory/coal_1" in study.claims(budget)[0].text


def test_goals_that_pictures_and_claims_name_exist():
    for study, budget in product(RUNS, BUDGETS):
        tasks = {case.experiment.task: case.experiment for case in study.cases(budget)}
        known = {name for one in tasks.values() for name in build_task(one).goals.names}
        for picture in study.declared.pictures(budget):
            goals = getattr(picture, "goals", ()) or (getattr(picture, "goal", ""),)
            assert not set(goals) - known - {""}, (study.name, budget)
        labels = {case.label for case in study.cases(budget)}
        panels = {case.panel for case in study.cases(budget)}
        for claim in study.declared.claims(budget):
            named = [s for s in vars(claim).values() if isinstance(s, Side)]
            sides = [*named, *getattr(claim, "sides", ())]
            assert {side.label for side in sides} <= labels, claim
            about = {getattr(claim, "panel", ""), *(side.panel for side in sides)} - {""}
            if about <= panels:  # else it cannot be judged at this budget
                assert getattr(claim, "goal", "") in known | {""}, claim
            else:
                assert budget != "paper", claim
