"""A sweep's trials as runs."""

import pytest

from allgoals.errors import NumericalError
from allgoals.experiment import to_dict
from allgoals.experiments import STUDIES
from allgoals.runs.directory import RunDirectory
from allgoals.studies import jobs
from allgoals.studies.trials import parameters
from allgoals.studies.types import Desk

SWEEP = STUDIES["sweep-dual-leo-pqn"]


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(tmp_path, "smoke", 1, "", lambda _: None, None, None)


def test_a_trial_is_worth_its_last_success(desk, monkeypatch):
    def train(experiment, out, **_):
        directory = RunDirectory.create(out, to_dict(experiment))
        directory.write("summary.json", {"evaluation": {"agent": 0.25}})
        directory.unlock()

    monkeypatch.setattr(jobs.api, "train", train)
    assert SWEEP.evaluate(desk, 0, parameters(SWEEP.space, 0)) == 0.25


def test_a_trial_that_diverges_is_worth_nothing_and_stays_so(desk, monkeypatch):
    """Another worker that takes it does not train it again."""
    called = []

    def train(experiment, out, **_):
        called.append(out)
        RunDirectory.create(out, to_dict(experiment)).unlock()
        raise NumericalError("loss: not finite")

    monkeypatch.setattr(jobs.api, "train", train)
    for _ in range(2):
        assert SWEEP.evaluate(desk, 1, parameters(SWEEP.space, 1)) == 0.0
    assert len(called) == 1
