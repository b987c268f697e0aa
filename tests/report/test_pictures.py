"""The numbers behind the pictures of a study, against arithmetic by hand, and in the drawing."""

import math
from dataclasses import replace

import numpy as np
import pytest

from allgoals.report.claims import Above, Alike, Best, Judgement, Side, Wider
from allgoals.report.claims_by_goal import Alone, Among, Parts
from allgoals.report.drawing import RANDOM
from allgoals.report.load import Evaluation, Run, load_run
from allgoals.report.pictures import (
    Bars,
    Curves,
    Improvements,
    OverParameter,
    Profiles,
    Ranking,
)
from allgoals.report.scores import AllBut, Trained
from allgoals.report.statistics import welch_interval
from allgoals.runs.directory import RunDirectory
from tests.report.synthetic import agent, config, write_run

NAMES = ("position/0-1", "position/1-0", "position/2-2")


@pytest.fixture
def cases(tmp_path):
    """Two algorithms of three seeds and one of one; the third goal cannot be reached."""
    data = {
        "LEO": [{100: agent(0.5, 0.1, 9), 200: agent(1.0, 0.4, 9)},
                {100: agent(0.3, 0.1, 9), 200: agent(0.8, 0.2, 9)},
                {100: agent(0.4, 0.1, 9), 200: agent(0.9, 0.3, 9)}],
        "PQN": [{100: agent(0.1, 0.1, 9), 200: agent(0.2, 0.2, 9)},
                {100: agent(0.1, 0.1, 9), 200: agent(0.2, 0.0, 9)},
                {100: agent(0.1, 0.1, 9), 200: agent(0.2, 0.1, 9)}],
        "PPO": [{200: agent(0.6, 0.6, 9)}],
    }  # fmt: skip
    return [
        Trained(label, "gridworld", x, tuple(
            load_run(write_run(tmp_path / f"{label}-{i}", config(i, label), one))
            for i, one in enumerate(seeds)
        ))
        for x, (label, seeds) in enumerate(data.items())
    ]  # fmt: skip


def test_curves_are_means_over_goals_that_can_be_reached_and_their_error_over_seeds(cases):
    rows = Curves("c", "").rows(cases)
    assert [(r["label"], r["steps"], r["n"]) for r in rows] == [
        ("LEO", 100, 3), ("LEO", 200, 3), ("PQN", 100, 3), ("PQN", 200, 3), ("PPO", 200, 1),
    ]  # fmt: skip
    assert [r["mean"] for r in rows] == pytest.approx([0.25, 0.6, 0.1, 0.15, 0.6])
    # seeds of LEO at 200: 0.7, 0.5 and 0.6; deviation 0.1
    assert rows[1]["error"] == pytest.approx(0.1 / math.sqrt(3))
    # the middle of 1.0, 0.9, 0.8, 0.4, 0.3, 0.2 without the ends
    assert rows[1]["iqm"] == pytest.approx(0.6)
    assert rows[1]["iqm_low"] < 0.6 < rows[1]["iqm_high"]
    assert math.isnan(rows[4]["error"]) and math.isnan(rows[4]["iqm_low"])


def test_curves_of_one_goal(cases):
    rows = Curves("c", "", goals=("position/1-0", "nowhere")).rows(cases)
    assert {r["panel"] for r in rows} == {"gridworld: position/1-0"}
    assert [r["mean"] for r in rows] == pytest.approx([0.1, 0.3, 0.1, 0.1, 0.6])


def test_the_last_success_over_a_parameter(cases):
    rows = OverParameter("o", "", "size").rows(cases)
    assert [(r["x"], r["mean"]) for r in rows] == [
        (0, pytest.approx(0.6)), (1, pytest.approx(0.15)), (2, pytest.approx(0.6)),
    ]  # fmt: skip
    without = OverParameter("o", "", "size", goal=AllBut(("position/0-1",))).rows(cases)
    assert without == OverParameter("o", "", "size", goal="position/1-0").rows(cases)
    assert [r["mean"] for r in without] != [r["mean"] for r in rows]


def test_bars_compare_components_goal_by_goal(tmp_path):
    success = {200: {"agent": [0.3, 0.5, 0], "leo": [0.2, 0.9, 0], "uvfa": [0.4, 0.1, 0]}}
    run = load_run(write_run(tmp_path / "a", config(), success))
    rows = Bars("b", "").rows([Trained("Dual LEO", "gridworld", 0, (run,))])
    assert [(r["goal"], r["leo"], r["uvfa"], r["agent"]) for r in rows] == [
        (NAMES[1], 0.9, 0.1, 0.5), (NAMES[0], 0.2, 0.4, 0.3), (NAMES[2], 0.0, 0.0, 0.0),
    ]  # fmt: skip
    bars = Bars("b", "").draw(rows).axes[0].patches
    assert [bar.get_width() for bar in bars] == [0.9, 0.2, 0, 0.1, 0.4, 0, 0.5, 0.3, 0]


def test_names_stand_in_the_middle_of_their_bars(tmp_path):
    one = {"agent": [0.7] * 3, "leo": [0.2] * 3, "uvfa": [0.9] * 3}
    run = load_run(write_run(tmp_path / "dual", config(0, "Dual"), {200: one}))
    bars = Bars("b", "", ("leo", "uvfa", "agent"))
    axes = bars.draw(bars.rows([Trained("Dual", "gridworld", 0, (run,))])).axes[0]
    middles = sorted(bar.get_y() + bar.get_height() / 2 for bar in axes.patches)
    groups = np.reshape(middles, (-1, 3))
    assert list(axes.get_yticks()) == pytest.approx(groups.mean(axis=1))


def test_a_line_of_a_later_panel_has_a_name_too(cases):
    """In the order in which lines come, whichever panel has them."""
    leo, pqn, ppo = cases
    figure = Curves("c", "").draw(
        Curves("c", "").rows([leo, replace(pqn, panel="craftax"), replace(ppo, panel="craftax")])
    )
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["LEO", "PQN", "PPO"]


def test_panels_of_single_goals_can_be_compared(cases):
    tops = {
        picture: picture.draw(picture.rows(cases)).axes[0].get_ylim()[1] == 1.05
        for picture in (
            Curves("c", ""), Curves("c", "", NAMES[:1]), OverParameter("o", "", "x"),
            OverParameter("o", "", "x", NAMES[0]), OverParameter("o", "", "x", AllBut(NAMES[:1])),
        )
    }  # fmt: skip
    assert list(tops.values()) == [False, True, False, True, False]


def test_a_ranking_has_the_best_first(cases):
    rows = Ranking("r", "").rows(cases)
    assert [r["mean"] for r in rows] == pytest.approx([0.6, 0.6, 0.15])
    bars = Ranking("r", "").draw(rows).axes[0].patches
    assert [bar.get_width() for bar in bars] == pytest.approx([0.6, 0.6, 0.15])


def test_profiles_are_shares_of_goals_and_seeds(cases):
    found = {(r["label"], round(r["x"], 2)): r for r in Profiles("p", "").rows(cases)}
    rows = {key: row["mean"] for key, row in found.items()}
    # LEO: 1.0, 0.9, 0.8, 0.4, 0.3, 0.2
    assert rows["LEO", 0.0] == 1 and rows["LEO", 0.5] == 0.5 and rows["LEO", 1.0] == 0
    assert rows["LEO", 0.35] == pytest.approx(4 / 6)
    # of the second goal one seed of three is above 0.35: with three drawn anew, none to all
    assert (found["LEO", 0.35]["low"], found["LEO", 0.35]["high"]) == (0.5, 1.0)
    assert (found["LEO", 0.5]["low"], found["LEO", 0.5]["high"]) == (0.5, 0.5)
    assert math.isnan(found["PPO", 0.5]["low"])


def test_improvements_compare_within_a_panel(cases):
    rows = Improvements("i", "").rows(cases)
    assert [(r["label"], r["over"]) for r in rows] == [
        ("PQN", "LEO"), ("PPO", "LEO"), ("PPO", "PQN"),
    ]  # fmt: skip
    # the first goal: never; the second: 0.2 over 0.4, 0.2, 0.3 ties once of nine, 0.1 and 0.0 never
    assert rows[0]["chance"] == pytest.approx((0 + 0.5 / 9) / 2)
    elsewhere = [replace(case, panel=case.label) for case in cases]
    assert Improvements("i", "").rows(elsewhere) == []


@pytest.mark.parametrize(
    "picture",
    [
        Curves("c", ""), Curves("c", "", goals=NAMES), OverParameter("o", "", "size"),
        Profiles("p", ""),
    ],
)  # fmt: skip
def test_pictures_hold_the_numbers_of_their_table(cases, picture, tmp_path):
    rows = picture.rows(cases)
    figure = picture.draw(rows)
    drawn = {
        (axes.get_title(), line.get_label()): np.transpose(line.get_data())
        for axes in figure.axes for line in axes.get_lines()
    }  # fmt: skip
    for (panel, label), points in drawn.items():
        of = [r for r in rows if (r["panel"], r["label"]) == (panel, label)]
        expected = [(r.get("steps", r.get("x")), r["mean"]) for r in of]
        np.testing.assert_allclose(points, expected)
    assert len(drawn) == len({(r["panel"], r["label"]) for r in rows})
    figure.savefig(tmp_path / "figure.pdf")


def test_nothing_trained_is_an_empty_picture(tmp_path):
    for picture in (
        Curves("c", ""), OverParameter("o", "", "size"), Bars("b", ""), Ranking("r", ""),
        Profiles("p", ""), Improvements("i", ""),
    ):  # fmt: skip
        rows = picture.rows([])
        assert rows == []
        picture.draw(rows).savefig(tmp_path / "empty.svg")


@pytest.mark.parametrize(
    ("claim", "verdict", "told"),
    [
        (Above("", Side("LEO"), Side("PQN")), "supported", "+0.450"),
        (Above("", Side("PQN"), Side("LEO")), "contradicted", "-0.450"),
        (Above("", Side("PQN"), Side("LEO"), margin=0.7), "cannot say", "-0.450"),
        (Above("", Side("PQN"), Side("PQN", through=0.5), margin=0.1), "supported", "+0.050"),
        (Alike("", Side("PQN"), Side("PQN", through=0.5)), "cannot say", "+0.050"),
        (Alike("", Side("PPO"), Side("PPO")), "cannot say", "single seed"),
        (Alike("", Side("LEO"), Side("LEO", through=0.5), share=4.0), "supported", "+0.350"),
        (Alike("", Side("PQN"), Side("PQN", through=0.5), share=0.1), "cannot say", "+0.050"),
        (Alike("", Side("LEO"), Side("PQN")), "contradicted", "+0.450"),
        (Alike("", Side("LEO"), Side("PQN")), "contradicted", "20% of the latter is near enough"),
        (Above("", Side("PQN"), Side("LEO"), margin=0.7), "cannot say", "0.7 below is near enough"),
        (
            Above("", Side("PQN"), Side("LEO"), margin=0.7),
            "cannot say",
            "is near enough to nothing",
        ),
        (Above("", Side("LEO"), Side("PQN"), goals=NAMES[:1]), "supported", "LEO 0.900, PQN 0.200"),
        (Above("", Side("LEO"), Side("PQN"), goals=NAMES[:2]), "supported", "LEO 0.600, PQN 0.150"),
        (Above("", Side("LEO"), Side("PQN"), goals=NAMES[1]), "cannot say", "LEO 0.300, PQN 0.100"),
        (Best("", "LEO", "gridworld"), "cannot say", "single seed"),
        (Best("", "PQN", "gridworld"), "contradicted", "-0.450"),
        (Above("", Side("LEO"), Side("PPO")), "cannot say", "single seed"),
        (Above("", Side("LEO"), Side("SAC")), "cannot say", "not trained"),
        (Above("", Side("LEO"), Side("LEO", through=0.5)), "supported", "+0.350"),
        (Above("", Side("LEO", x=0.0), Side("PQN", x=7.0)), "cannot say", "not trained"),
        (Above("", Side("PQN"), Side("PQN", through=0.5)), "cannot say", "+0.050"),
        (Above("", Side("LEO"), Side("PQN"), goals="position/1-0"), "cannot say", "+0.200"),
    ],
)
def test_claims_are_judged_by_the_interval_of_the_difference(cases, claim, verdict, told):
    judgement = claim.judge(cases)
    assert judgement.verdict == verdict and told in judgement.evidence


def test_that_the_best_of_many_is_not_it_takes_more_than_one_lucky_rival(tmp_path):
    """Studies of 27 that are all alike, 5 seeds each: one comparison more in forty is lucky, so
    that without allowing for 26 rivals a quarter of the claims would be contradicted."""
    goals = load_run(write_run(tmp_path / "run", config(), {200: agent(1, 1, 1)})).goals
    blank = Run(tmp_path, config(), goals, {}, (), (), True, 200, 1.0, None, None)

    def trained(label: str, seeds: np.ndarray) -> Trained:
        runs = [{200: Evaluation(200, {"agent": m}, {"agent": np.full(3, m)})} for m in seeds]
        of_seeds = tuple(replace(blank, evaluations=one) for one in runs)
        return Trained(label, "gridworld", 0, of_seeds)

    random, contradicted, naive = np.random.default_rng(0), 0, 0
    for _ in range(200):
        means = random.normal(0.5, 0.05, (27, 5))
        cases = [trained(str(i), seeds) for i, seeds in enumerate(means)]
        judged = Best("", "0", "gridworld").judge(cases)
        contradicted += judged.verdict == "contradicted"
        assert "one of 26 comparisons" in judged.evidence
        naive += any(welch_interval(means[0], other)[1] < 0 for other in means[1:])
    assert naive > 200 * 0.15
    assert contradicted <= 200 * 0.05
    sure = [trained(str(i), random.normal(1.0 - 0.5 * (i > 0), 0.05, 5)) for i in range(27)]
    assert Best("", "0", "gridworld").judge(sure).verdict == "supported"
    assert Best("", "1", "gridworld").judge(sure).verdict == "contradicted"


def test_nothing_is_said_of_what_a_random_policy_reaches_too(cases):
    lucky = [replace(case, by_chance=dict.fromkeys(NAMES, 0.7)) for case in cases]
    found = Above("", Side("LEO"), Side("PQN")).judge(lucky)
    assert found.verdict == "cannot say" and "0.700, which takes no learning" in found.evidence
    hard = [replace(case, by_chance=dict.fromkeys(NAMES, 0.5)) for case in cases]
    assert Above("", Side("LEO"), Side("PQN")).judge(hard).verdict == "supported"


def test_nothing_is_said_while_runs_are_missing(tmp_path, cases):
    path = write_run(tmp_path / "begun", config(7), {100: agent(1, 1, 1)}, finished=False)
    more = [
        replace(case, runs=(*case.runs, load_run(path))) if case.label == "LEO" else case
        for case in cases
    ]
    claim = Above("", Side("LEO"), Side("PQN"))
    assert claim.judge(more) == Judgement("cannot say", "LEO: 1 unfinished of 4 runs")
    RunDirectory(path).write("failed.json", {"error": "not finite"})
    given_up = [replace(more[0], runs=(*cases[0].runs, load_run(path))), *cases[1:]]
    assert claim.judge(given_up) == Judgement("cannot say", "LEO: 1 diverged of 4 runs")


def test_a_random_policy_is_a_level_line(cases):
    rates = {NAMES[0]: 0.2, NAMES[1]: 0.6, NAMES[2]: 0.9}  # the last cannot be reached
    known = [replace(case, by_chance=rates) for case in cases]
    rows = [r for r in Curves("c", "").rows(known) if r["label"] == RANDOM]
    assert [(r["panel"], r["steps"], r["mean"]) for r in rows] == [
        ("gridworld", 0, pytest.approx(0.4)), ("gridworld", 200, pytest.approx(0.4)),
    ]  # fmt: skip
    rows = [r for r in Curves("c", "", goals=NAMES[:1]).rows(known) if r["label"] == RANDOM]
    assert [r["mean"] for r in rows] == [0.2, 0.2]
    rows = [r for r in OverParameter("o", "", "size").rows(known) if r["label"] == RANDOM]
    assert [(r["x"], r["mean"]) for r in rows] == [(x, pytest.approx(0.4)) for x in (0, 1, 2)]
    Curves("c", "").draw(Curves("c", "").rows(known))


def test_chance_is_the_mean_over_runs_of_the_mean_over_their_own_goals(tmp_path):
    """A goal that every run has counts once for each of them."""
    goals = {0: ("always", "a"), 1: ("always", "b", "c"), 2: ("unknown",)}
    runs = [
        write_run(tmp_path / str(seed), config(seed), {200: agent(*[0] * len(names))}, names,
                  (True,) * len(names), layout=None)
        for seed, names in goals.items()
    ]  # fmt: skip
    rates = {"always": 0.6, "a": 0.0, "b": 0.3, "c": 0.3, "elsewhere": 1.0}
    case = Trained("LEO", "gridworld", 0.0, tuple(map(load_run, runs)), rates)
    assert case.chance() == pytest.approx((0.3 + 0.4) / 2)
    assert case.chance("always") == pytest.approx(0.6)
    assert case.chance(("a", "b")) == case.chance(AllBut(("always", "c"))) == pytest.approx(0.15)
    assert math.isnan(case.chance("unknown")) and math.isnan(replace(case, runs=()).chance())


@pytest.mark.parametrize("at, leo", [(None, 0.9), (120, 0.5), (150, 0.5), (151, 0.9), (900, 0.9)])
def test_bars_are_of_the_first_evaluation_from_a_step_on(tmp_path, at, leo):
    rates = {step: {"agent": [0, 0, 9], "leo": [rate, 0, 9], "uvfa": [0.1, 0, 9]}
             for step, rate in ((100, 0.2), (150, 0.5), (200, 0.9))}  # fmt: skip
    run = load_run(write_run(tmp_path / "run", config(), rates))
    rows = Bars("b", "", at=at).rows([Trained("Dual", "gridworld", 0.0, (run,))])
    assert {row["goal"]: row["leo"] for row in rows}[NAMES[0]] == leo
    assert {row["steps"] for row in rows} == {150 if leo == 0.5 else 200}


def dual_case(path, leo, uvfa) -> Trained:
    """A run for each seed, with what either part of its agent reached at every goal."""
    names = tuple("abcdef")[: len(leo[0])]
    runs = [
        write_run(
            path / str(seed), config(seed),
            {100: {"agent": [0] * len(names), "uvfa": list(uvfa[seed]), "leo": list(leo[seed])}},
            names=names, reachable=(True,) * len(names), layout=None,
        )
        for seed in range(len(leo))
    ]  # fmt: skip
    return Trained("Dual", "gridworld", 0.0, tuple(map(load_run, runs)))


@pytest.fixture
def dual(tmp_path):
    """At the first four goals the better part is above 0.5, at the last two below."""
    uvfa = [(0.9, 0.9, 0.9, 0.6, 0.0, 0.0), (0.9, 0.9, 0.9, 0.8, 0.0, 0.1),
            (0.9, 0.9, 0.9, 0.8, 0.0, 0.2)]  # fmt: skip
    leo = [(0.5, 0.5, 0.5, 0.7, 0.3, 0.1), (0.5, 0.5, 0.5, 0.7, 0.3, 0.2),
           (0.5, 0.5, 0.5, 0.7, 0.3, 0.2)]  # fmt: skip
    return dual_case(tmp_path, leo, uvfa)


LEO_FIRST = Parts("Dual", "leo", "uvfa", "gridworld")
UVFA_FIRST = Parts("Dual", "uvfa", "leo", "gridworld")


def test_parts_are_compared_by_the_goals_at_which_they_are_ahead(dual):
    """Of the high goals uvfa is ahead at 3, 4 and 4 of 4; of the low ones LEO at 2, 2 and 1."""
    found = Among("", UVFA_FIRST, high=True).judge([dual])
    assert found.verdict == "supported"
    assert "share of 4 goals: uvfa 0.917, leo 0.083; difference +0.833" in found.evidence
    assert "mean success 0.858 and 0.550" in found.evidence
    assert Among("", LEO_FIRST, high=True).judge([dual]).verdict == "contradicted"
    found = Among("", LEO_FIRST, high=False).judge([dual])
    assert found.verdict == "supported" and "2 goals: leo 0.833, uvfa 0.000" in found.evidence
    nowhere = Among("", replace(LEO_FIRST, panel="craftax"), True).judge([dual])
    assert nowhere.verdict == "cannot say" and "not trained" in nowhere.evidence


def test_goals_that_a_random_policy_reaches_too_are_left_out(dual):
    lucky = replace(dual, by_chance={"d": 0.8, "f": 0.5})
    found = Among("", UVFA_FIRST, high=True).judge([lucky])
    assert "share of 3 goals: uvfa 1.000" in found.evidence
    assert found.verdict == "cannot say"  # the seeds all agree
    assert Among("", LEO_FIRST, high=False).judge([replace(dual, by_chance={"e": 1, "f": 1})]) == (
        Judgement("cannot say", "there are no such goals")
    )


def test_goals_that_one_part_reaches_alone(dual):
    """The rarest is f, which both reach; without it e, which only LEO does, in every seed."""
    found = Alone("", LEO_FIRST, 1).judge([dual])
    assert found.verdict == "cannot say" and "uvfa reaches 1 of them" in found.evidence
    lucky = replace(dual, by_chance={"f": 0.5})
    found = Alone("", LEO_FIRST, 1).judge([lucky])
    assert "1 goals: leo 1.000, uvfa 0.000" in found.evidence
    assert found.verdict == "cannot say" and "all agree" in found.evidence
    assert Alone("", LEO_FIRST, 7).judge([lucky]).evidence == "there are no such goals"
    found = Alone("", LEO_FIRST, 1).judge([replace(lucky, runs=lucky.runs[:1])])
    assert found.verdict == "cannot say" and "single seed" in found.evidence


@pytest.mark.parametrize(("luck", "verdicts"), [
    (0.0, ("supported", "contradicted")),
    (0.1, ("cannot say", "contradicted")),  # the other reaches one of the goals once
])  # fmt: skip
def test_alone_takes_all_goals_that_are_as_rare(tmp_path, luck, verdicts):
    """Four goals are equally rare; LEO reaches three, four and four of them."""
    leo = [(0.2, 0.2, 0.2, 0.0), (0.2, 0.2, 0.2, 0.3), (0.2, 0.2, 0.2, 0.3)]
    uvfa = [(luck, 0.0, 0.0, 0.0), (0.0,) * 4, (0.0,) * 4]
    case = dual_case(tmp_path, leo, uvfa)
    found = [Alone("", parts, 2).judge([case]) for parts in (LEO_FIRST, UVFA_FIRST)]
    assert tuple(one.verdict for one in found) == verdicts
    assert "share of 4 goals" in found[0].evidence


def test_a_side_can_be_the_mean_over_all_of_training(cases):
    """LEO: 0.25 at first and 0.6 at last; PQN: 0.1 and 0.15."""
    sides = (Side(name, throughout=True) for name in ("LEO", "PQN"))
    found = Above("", *sides).judge(cases)
    assert found.verdict == "supported"
    assert "LEO, over all of training 0.425, PQN, over all of training 0.125" in found.evidence


def test_all_of_training_is_where_every_seed_was_evaluated(tmp_path):
    """An evaluation that one of them lacks counts for none; without a common one there is none."""
    some = [{100: agent(0.2, 0.2, 9), 200: agent(0.8, 0.8, 9)}, {100: agent(0.4, 0.4, 9)}]
    runs = [load_run(write_run(tmp_path / str(i), config(i), one)) for i, one in enumerate(some)]
    case, side = Trained("LEO", "gridworld", 0.0, tuple(runs)), Side("LEO", throughout=True)
    np.testing.assert_allclose(side.scores(case, ""), [[0.2, 0.2], [0.4, 0.4]])
    apart = write_run(tmp_path / "apart", config(2), {50: agent(0.1, 0.1, 9)})
    assert side.scores(replace(case, runs=(*runs, load_run(apart))), "") is None


def test_gaps_are_compared(cases):
    """LEO is 0.45 above PQN at the end and 0.15 half way."""
    late = (Side("LEO"), Side("PQN"))
    early = tuple(replace(side, through=0.5) for side in late)
    found = Wider("", (*late, *early)).judge(cases)
    assert found.verdict == "supported" and "+0.450 against +0.150" in found.evidence
    assert Wider("", (*early, *late)).judge(cases).verdict == "contradicted"
    assert Wider("", (*late, Side("PPO"), Side("PQN"))).judge(cases).verdict == "cannot say"
    assert Wider("", (*late, Side("none"), Side("PQN"))).judge(cases).verdict == "cannot say"
    lucky = [replace(case, by_chance=dict.fromkeys(NAMES, 0.7)) for case in cases]
    assert Wider("", (*late, *early)).judge(lucky).verdict == "cannot say"
