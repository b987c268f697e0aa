import math

import numpy as np
import pytest

from allgoals.errors import UsageError
from allgoals.report.load import load_run
from allgoals.report.results import (
    curve,
    final,
    goal_rows,
    labels,
    metric,
    n_text,
    sections,
    without_seed,
)
from allgoals.report.statistics import bootstrap_interval
from tests.report.synthetic import agent, config, write_run


def load(*paths):
    return sections(load_run(path) for path in paths)


@pytest.fixture
def three_seeds(tmp_path):
    """Two finished runs and one that stopped half way."""
    paths = [
        write_run(tmp_path / "a", config(0), {100: agent(0, 1, 0), 200: agent(1, 1, 0)}),
        write_run(tmp_path / "b", config(1), {100: agent(0, 0, 0), 200: agent(0, 1, 0)}),
        write_run(tmp_path / "c", config(2), {100: agent(1, 1, 0)}, finished=False),
    ]
    ((group,),) = [section.groups for section in load(*paths)]
    return group


def test_curve_is_the_mean_of_whichever_seeds_were_evaluated(three_seeds):
    one = curve(three_seeds.runs)
    np.testing.assert_array_equal(one.steps, [100, 200])
    np.testing.assert_array_equal(one.n, [3, 2])
    np.testing.assert_allclose(one.mean, [0.5, 0.75])  # unreachable goals do not count
    assert (one.low[0], one.high[0]) == bootstrap_interval([0.5, 0.0, 1.0])
    assert (one.low[1], one.high[1]) == (0.5, 1.0)
    assert n_text(one) == "n = 3; 2 from step 200"


def test_one_seed_has_no_interval(tmp_path):
    (section,) = load(write_run(tmp_path / "a", config(), {100: agent(1, 0, 0)}))
    one = curve(section.groups[0].runs)
    assert np.isnan(one.low).all() and np.isnan(one.high).all()
    assert n_text(one) == "n = 1"


def test_final_is_at_the_last_step_and_counts_its_seeds(three_seeds):
    one = final(three_seeds)
    assert (one.step, one.n, one.mean) == (200, 2, 0.75)
    assert one.error == pytest.approx(0.25)
    assert (one.low, one.high) == (0.5, 1.0)
    assert one.middle == 1.0  # of 0, 1, 1, 1 without the extremes


def test_goals_by_name_with_unreachable_ones_kept(three_seeds):
    rows = [(row.name, row.reachable, row.success) for row in goal_rows([three_seeds], {})]
    assert rows == [
        ("position/0-1", True, (0.5,)),
        ("position/1-0", True, (1.0,)),
        ("position/2-2", False, (0.0,)),
    ]


def test_groups_with_different_goals_share_a_table(tmp_path):
    (section,) = load(
        write_run(tmp_path / "a", config(), {100: agent(1, 0, 0)}),
        write_run(
            tmp_path / "b", config(goals={"subset": 1}), {100: agent(0.5)},
            names=("position/1-0",), reachable=(True,), layout=None,
        ),
    )  # fmt: skip
    rows = {row.name: row.success for row in goal_rows(section.groups, {})}
    assert rows["position/1-0"] == (0.0, 0.5)
    assert rows["position/0-1"][0] == 1.0 and math.isnan(rows["position/0-1"][1])


def test_components_have_curves_of_their_own(tmp_path):
    parts = {"agent": [0, 1, 0], "uvfa": [0, 0, 0], "leo": [1, 1, 0]}
    (section,) = load(write_run(tmp_path / "a", config(), {100: parts}))
    (group,) = section.groups
    assert group.components == ["agent", "leo", "uvfa"]
    means = [curve(group.runs, name).mean.tolist() for name in group.components]
    assert means == [[0.5], [1.0], [0.0]]


def test_runs_compare_within_a_task_only(tmp_path):
    found = load(
        write_run(tmp_path / "a", config(1), {}),
        write_run(tmp_path / "b", config(0), {}),
        write_run(tmp_path / "c", config(0, "Pqn"), {}),
        write_run(tmp_path / "d", config(0, task="maze"), {}),
    )
    groups = [[(g.label, [r.name for r in g.runs]) for g in s.groups] for s in found]
    assert groups == [[("Leo", ["b", "a"]), ("Pqn", ["c"])], [("Leo", ["d"])]]


def test_labels_name_what_tells_groups_apart():
    configs = [without_seed(config(gamma=gamma)) for gamma in (0.9, 0.95)]
    assert labels(configs) == ["Leo, gamma=0.9", "Leo, gamma=0.95"]
    assert labels([configs[0], without_seed(config(algorithm="Pqn"))]) == ["Leo", "Pqn"]


def test_a_repeated_seed_is_noticed(tmp_path):
    paths = [write_run(tmp_path / name, config(0), {100: agent(1, 1, 0)}) for name in "ab"]
    ((group,),) = [section.groups for section in load(*paths)]
    assert group.repeated_seeds == [0]


def test_seeds_with_different_goals_are_refused(tmp_path):
    one = write_run(tmp_path / "a", config(0), {})
    other = write_run(tmp_path / "b", config(1), {}, names=("x",), reachable=(True,), layout=None)
    with pytest.raises(UsageError, match="differ in their goals"):
        load(one, other)


def test_a_run_that_only_began_still_counts(tmp_path):
    paths = [
        write_run(tmp_path / "a", config(0), {100: agent(1, 1, 0)}),
        write_run(tmp_path / "b", config(1), {}, finished=False),
    ]
    (paths[1] / "goals.json").unlink()
    ((group,),) = [section.groups for section in load(*paths)]
    assert (final(group).n, len(group.runs)) == (1, 2)


def test_long_metrics_are_averaged_over_blocks(tmp_path):
    evaluations = {steps: agent(1, 1, 0) for steps in (10, 20, 30, 40)}
    run = load_run(write_run(tmp_path / "a", config(), evaluations))
    steps, loss = metric(run, "leo/loss", 2)
    np.testing.assert_allclose(steps, [15, 35])
    np.testing.assert_allclose(loss, [(1 / 10 + 1 / 20) / 2, (1 / 30 + 1 / 40) / 2])
    assert [len(x) for x in metric(run, "absent/loss", 2)] == [0, 0]


def test_seeds_that_chose_their_own_goals_are_one_group(tmp_path):
    """The same configuration, as the choice follows the seed; goals are told apart by name."""

    def run(seed, subset_seed, names, *rates):
        goals = {"subset": 2, "subset_seed": subset_seed}
        path = tmp_path / f"{seed}-{subset_seed}"
        some = {200: agent(*rates)}
        return write_run(path, config(seed, goals=goals), some, names, (True, True), layout=None)

    paths = [run(0, 0, ("a", "b"), 1.0, 0.0), run(1, 1, ("c", "b"), 0.5, 0.5)]
    ((group,),) = [section.groups for section in load(*paths)]
    assert final(group).mean == 0.5 and final(group).middle == 0.5
    rows = {row.name: row.success for row in goal_rows([group], {})}
    assert rows == {"a": (1.0,), "b": (0.25,), "c": (0.5,)}
    ((one, other),) = [section.groups for section in load(*paths, run(1, 7, ("d", "b"), 1.0, 1.0))]
    assert (len(one.runs), len(other.runs)) == (2, 1)  # another choice, on purpose
