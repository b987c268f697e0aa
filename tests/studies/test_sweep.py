"""A sweep's trials as runs."""

import signal
from dataclasses import replace

import numpy as np
import pytest

from allgoals.errors import Interrupted, NumericalError, UsageError
from allgoals.experiment import to_dict
from allgoals.experiments import STUDIES
from allgoals.report.statistics import welch_interval
from allgoals.runs.directory import RunDirectory
from allgoals.runs.signals import Signals
from allgoals.studies import jobs
from allgoals.studies.sweep import draw_values
from allgoals.studies.trials import Finished, parameters
from allgoals.studies.types import Desk

SWEEP = STUDIES["sweep-dual-leo-pqn"]


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(tmp_path, "smoke", 1, "", lambda _: None, None, Signals())


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


def test_a_signal_between_two_trials_is_heeded_before_the_next_begins(desk, monkeypatch):
    monkeypatch.setattr(jobs.api, "train", lambda *_, **__: pytest.fail("began"))
    desk.signals.received = signal.SIGTERM
    with pytest.raises(Interrupted, match="same command continues") as stopped:
        SWEEP.evaluate(desk, 2, parameters(SWEEP.space, 2))
    assert stopped.value.exit_code == 75


def test_trials_of_other_settings_are_not_mixed_in(desk):
    SWEEP.check(desk)
    SWEEP.check(desk)
    fewer = {name: values[:1] for name, values in SWEEP.space.items()}
    with pytest.raises(UsageError, match="other settings"):
        replace(SWEEP, space=fewer).check(desk)
    longer = replace(SWEEP.base("smoke"), steps=10**6)
    with pytest.raises(UsageError, match="other settings"):
        replace(SWEEP, base=lambda budget: longer).check(desk)


def test_a_value_counts_where_it_plays_a_part():
    """Alpha mixes two networks; it does nothing where the greater value is taken."""
    acting, alpha, anneal = SWEEP.space
    some = [("max", 0.1, 0.9), ("linear_combination", 0.1, 0.2), ("linear_combination", 0.3, 0.4)]
    done = [Finished(i, {acting: a, alpha: b, anneal: True}, v) for i, (a, b, v) in enumerate(some)]
    rows = {(row["parameter"], row["value"]): row for row in SWEEP.by_value(done)}
    assert (rows[alpha, "0.1"]["n"], rows[alpha, "0.1"]["mean"]) == (1, 0.2)
    assert rows[anneal, "True"]["mean"] == pytest.approx(0.3) and rows[acting, "max"]["n"] == 1
    choices = {row["parameter"]: row for row in SWEEP.choices(SWEEP.by_value(done[:1]), done[0])}
    assert choices[alpha]["best_mean"] == "not tried" and choices[acting]["best_mean"] == "max"


def test_the_papers_value_is_judged_beside_the_best_of_the_others():
    space = {"rate": (1, 2, 3), "gamma": (0.9, 0.99), "none": (0, 1), "one": (0,)}
    sweep = replace(SWEEP, space=space, matters={},
                    best={"rate": 2, "gamma": 0.9, "none": 0, "one": 0})  # fmt: skip
    rates = [(1, 0.1), (1, 0.12), (2, 0.5), (2, 0.52), (3, 0.2), (3, 0.21)]
    done = [
        Finished(i, dict(rate=rate, gamma=(0.9, 0.99)[i % 2], none=0, one=0), success)
        for i, (rate, success) in enumerate(rates)
    ]
    rate, gamma, none = sweep.judged(done, "maze")  # what has one value is not chosen
    assert rate.text == "maze: rate: 2 is the best value"
    assert rate.judgement.verdict == "supported"
    assert "2 0.510, 3 0.205; difference +0.305 (95 %" in rate.judgement.evidence
    assert gamma.judgement.verdict == "cannot say" and "difference -0.0" in gamma.judgement.evidence
    assert none.judgement.evidence == "nothing to compare was tried"
    worse = replace(sweep, best={"rate": 1, "gamma": 0.9, "none": 0, "one": 0}).judged(
        done, "maze"
    )[0]
    assert worse.judgement.verdict == "contradicted" and "2 0.510" in worse.judgement.evidence
    [row] = [r for r in sweep.by_value(done) if (r["parameter"], r["value"]) == ("rate", "1")]
    assert row["error"] == pytest.approx(0.01)


def test_the_best_value_is_that_with_the_best_mean():
    sweep = replace(SWEEP, space={"rate": (1, 2), "gamma": (0.9, 0.99)}, matters={},
                    best={"rate": 2, "gamma": 0.9})  # fmt: skip
    values = [(1, 0.9, 0.5), (1, 0.9, 0.1), (2, 0.9, 0.4)]
    done = [Finished(i, dict(rate=r, gamma=g), v) for i, (r, g, v) in enumerate(values)]
    rows = sweep.by_value(done)
    found = [(row["parameter"], row["value"], row["n"], row["best"]) for row in rows]
    assert found[:3] == [("rate", "1", 2, 0.5), ("rate", "2", 1, 0.4), ("gamma", "0.9", 3, 0.5)]
    assert [row["mean"] for row in rows[:3]] == pytest.approx([0.3, 0.4, 1 / 3])
    assert rows[3]["n"] == 0 and [row["paper"] for row in rows] == [False, True, True, False]
    assert sweep.choices(rows, done[0]) == [
        {"parameter": "rate", "best_mean": "2", "best_trial": "1", "paper": "2"},
        {"parameter": "gamma", "best_mean": "0.9", "best_trial": "0.9", "paper": "0.9"},
    ]


def test_a_value_that_no_trial_has_is_not_drawn(tmp_path):
    """Neither as a bar, which would be of no height, nor as a dot; its name stays."""
    sweep = replace(SWEEP, space={"rate": (1, 2, 3)}, matters={}, best={"rate": 2})
    done = [Finished(i, {"rate": rate}, rate / 10) for i, rate in enumerate((1, 1, 3))]
    figure = draw_values(sweep.by_value(done))
    (axes,) = figure.axes
    np.testing.assert_allclose([bar.get_height() for bar in axes.patches], [0.1, np.nan, 0.3])
    [dots] = [line for line in axes.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(dots.get_ydata(), [0.1, np.nan, 0.3])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]
    figure.savefig(tmp_path / "values.svg")


def test_the_best_of_several_values_is_contradicted_only_beyond_luck():
    """Nine values that are all alike: the luckiest is above the paper's more often than one in
    forty."""
    sweep = replace(SWEEP, space={"lr": tuple(range(9))}, best={"lr": 0}, matters={})
    random, contradicted, naive = np.random.default_rng(0), 0, 0
    for _ in range(200):
        values = random.normal(0.5, 0.1, (9, 10))
        done = [Finished(i, {"lr": i // 10}, v) for i, v in enumerate(values.reshape(-1))]
        [one] = sweep.judged(done, "maze")
        contradicted += one.judgement.verdict == "contradicted"
        naive += any(welch_interval(values[0], other)[1] < 0 for other in values[1:])
    assert naive > 200 * 0.08 and contradicted <= 200 * 0.05
    sure = [Finished(i, {"lr": i % 9}, 0.9 * (i % 9 == 0) + 0.01 * i / 90) for i in range(90)]
    assert sweep.judged(sure, "maze")[0].judgement.verdict == "supported"
    worse = [replace(one, value=-one.value) for one in sure]
    assert sweep.judged(worse, "maze")[0].judgement.verdict == "contradicted"
