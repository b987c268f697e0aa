"""What a measurement of speed says of the paper's two ratios."""

from dataclasses import replace

import pytest

from allgoals.experiments import STUDIES
from allgoals.studies.speed import NAIVE

STUDY = replace(STUDIES["speed"], slowdown=0.3, factor=100)
SPEED = {"steps_per_second": 0.0, "low": 0.0, "high": 0.0}
OF_PQN = {"of_pqn": 1.0, "of_pqn_low": 1.0, "of_pqn_high": 1.0}


def judged(leo: dict[str, float], naive: dict[str, float]):
    rows = [
        {"label": "PQN", **SPEED, **OF_PQN},
        {"label": "LEO", **SPEED, **OF_PQN, **leo},
        {"label": NAIVE, **SPEED, **OF_PQN, **naive},
    ]
    return [(one.text, one.judgement) for one in STUDY.judged(rows, 4096)]


@pytest.mark.parametrize(("low", "middle", "high", "verdict"), [
    (0.75, 0.80, 0.90, "supported"),  # the slowest round is fast enough
    (0.50, 0.60, 0.65, "contradicted"),  # the fastest is too slow
    (0.65, 0.75, 0.80, "cannot say"),
    (0.60, 0.65, 0.75, "cannot say"),
    (1.00, 1.10, 1.20, "supported"),
])  # fmt: skip
def test_leo_is_slower_than_pqn_by_so_much_at_most(low, middle, high, verdict):
    leo = {"of_pqn": middle, "of_pqn_low": low, "of_pqn_high": high}
    (text, found), _ = judged(leo | dict.fromkeys(SPEED, 1.0), dict.fromkeys(SPEED, 1.0))
    assert text == "LEO is at most 30% slower than learning about one goal"
    assert found.verdict == verdict
    told = f"{1 - middle:.0%} slower than PQN ({1 - high:.0%} to {1 - low:.0%})"
    assert found.evidence == told


@pytest.mark.parametrize(("leo", "naive", "verdict", "told"), [
    ((3600, 4000, 4800), (18, 20, 24), "supported", "200 times (150 to 267)"),
    ((900, 1000, 1100), (18, 20, 22), "contradicted", "50 times (41 to 61)"),
    ((1800, 2400, 2600), (18, 20, 24), "cannot say", "120 times (75 to 144)"),
    ((1500, 1800, 2400), (18, 20, 24), "cannot say", "90 times (62 to 133)"),
])  # fmt: skip
def test_leo_is_so_many_times_as_fast_as_naive_relabelling(leo, naive, verdict, told):
    """At worst its slowest round beside the other's fastest."""
    keys = ("low", "steps_per_second", "high")
    _, (text, found) = judged(*(dict(zip(keys, one, strict=True)) for one in (leo, naive)))
    assert text.startswith("LEO is at least 100 times as fast as naive relabelling")
    assert text.endswith("in updates of 4,096 transitions")
    assert (found.verdict, found.evidence) == (verdict, f"{told}, extrapolated")
