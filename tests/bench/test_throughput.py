"""Benchmarks measure what they say, on a world small enough to be quick."""

import json
from dataclasses import replace

import jax
import numpy as np
import pytest

from allgoals.bench import goals as goals_bench
from allgoals.bench import throughput
from allgoals.bench.bare import bare_game
from allgoals.bench.goals import Timing, extrapolate
from allgoals.bench.goals import draw as draw_goals
from allgoals.bench.goals import measure as measure_goals
from allgoals.bench.goals import table as goals_table
from allgoals.bench.sizes import GoalsSizes, ThroughputSizes
from allgoals.bench.subjects import names, subject
from allgoals.bench.throughput import Spread, Subject, _result, draw, measure, table
from allgoals.cli.bench import _plan
from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.errors import UsageError
from allgoals.goals.samplers import seen_only
from allgoals.tasks import make_task
from allgoals.training import Trainer
from tests.probes import Chain

SMALL = ThroughputSizes(num_envs=8, num_steps=4, minibatch_size=16, width=16, layers=1)


@pytest.fixture(scope="module")
def results():
    return list(measure("gridworld", ["leo"], SMALL, repeats=2, say=lambda _: None))


def test_the_yardstick_plays_every_step_of_every_environment():
    state = bare_game(Chain(), num_envs=6, num_steps=5)()
    assert (np.asarray(state.time) == 5).all()
    assert len(np.unique(state.world)) == 6 and len(np.unique(state.position)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("game", [CraftaxClassic, Craftax])
def test_the_yardstick_is_the_packages_own_step(game):
    state = bare_game(game(), num_envs=2, num_steps=12)()
    assert (np.asarray(state.timestep) == 12).all()
    moved = np.asarray(state.player_position) != np.asarray(state.map.shape[-2:]) // 2
    assert moved.any()


def test_every_algorithm_of_the_paper_can_be_measured():
    assert names("craftax", SMALL) == [
        "ppo", "pqn", "pqn_her", "leo", "dual_leo_pqn", "dual_leo_ppo",
    ]  # fmt: skip


def test_leo_can_be_measured_with_rounded_bootstraps():
    for name in ("leo", "dual_leo_pqn", "dual_leo_ppo"):
        _, algorithm = subject("gridworld", name, replace(SMALL, all_actions_in="bfloat16"))
        assert getattr(algorithm, "leo", algorithm).all_actions_in == "bfloat16"


MODES = {  # goals per update, late action, update of the policy
    "leo_sac": (0, False, "resample"),
    "leo_sac_some": (16, False, "resample"),
    "leo_sac_late": (0, True, "resample"),
    "leo_sac_advantage": (0, False, "advantage"),
}


def test_leo_for_sac_can_be_measured_in_every_mode_at_every_size_of_grid():
    listed = names("point-u-maze", SMALL)
    for goals in (25, 112, 416):
        for mode in MODES:
            assert f"{mode}-{goals}" in listed
            task, algorithm = subject("point-u-maze", f"{mode}-{goals}", SMALL)
            assert len(task.goals.space.grid) == goals
            agent = algorithm.agent
            found = (agent.goals_per_update, agent.late_action, agent.policy_update)
            assert found == MODES[mode]


@pytest.mark.slow
def test_leo_for_sac_is_measured():
    sizes = replace(SMALL, batch_size=4, updates=1)
    (leo,) = measure("point-u-maze", ["leo_sac-25"], sizes, 1, lambda _: None)
    assert leo.updating.median > 0 and leo.acting.median > 0


def test_each_part_does_what_is_timed_of_it():
    """Acting goes on from the state without learning, updating learns, the whole does both."""
    task, algorithm = subject("gridworld", "leo", SMALL)
    one = throughput._prepare("leo", task, algorithm, SMALL, time_compiling=False)
    times = []

    def parts():
        (actor, rollout), (learner, metrics) = one.acting(), one.updating()
        assert rollout.action.shape == (SMALL.num_steps, SMALL.num_envs)
        assert np.isfinite(metrics["leo/loss"])
        times.append(np.asarray(actor.envs.state.time).max())
        return rollout, learner.params

    before, again = parts(), parts()
    assert all(map(np.array_equal, *map(jax.tree.leaves, (before, again))))  # no part goes on
    one.whole()
    rollout, params = parts()
    assert times[0] == times[1] == 2 * SMALL.num_steps and times[2] == 3 * SMALL.num_steps
    assert not np.array_equal(rollout.obs, before[0].obs)
    assert not all(map(np.array_equal, *map(jax.tree.leaves, (params, before[1]))))


def test_the_whole_takes_as_long_as_its_parts(results):
    """Very roughly; a part that timed nothing would take no share."""
    for r in results:
        assert r.whole.low <= r.whole.median <= r.whole.high
        whole, acting, updating = (1 / part.median for part in (r.whole, r.acting, r.updating))
        assert min(acting, updating) > 0.02 * whole
        assert whole / 4 < acting + updating < 4 * whole


def test_speeds_have_a_middle_and_a_range(results):
    for r in results:
        for part in (r.whole, r.acting, r.updating, r.bare):
            assert 0 < part.low <= part.median <= part.high


def test_bytes_per_transition_are_those_of_the_rollout(results):
    """Two observations of 2 bytes, an action, a goal, two ends, an outcome per goal and LEO's
    features."""
    goals = make_task("gridworld").num_goals
    leo = next(r for r in results if r.algorithm == "leo")
    assert leo.bytes_per_transition == 2 + 2 + 4 + 4 + 1 + 1 + 2 * goals + 4 * SMALL.width


def test_a_warm_start_is_quicker_than_a_cold_one(results):
    assert all(0 < r.compile_warm < r.compile_cold for r in results)


def test_a_warm_start_finds_what_a_cold_one_compiled(monkeypatch):
    monkeypatch.setattr(throughput, "_time", lambda call: call() and 1.0)
    trainer = Trainer(*subject("gridworld", "leo", SMALL), seen_only, 8, 4, 10, 0.9)
    heard, chosen = [], jax.config.jax_compilation_cache_dir
    least = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)

    def hear(event: str, **_) -> None:
        heard.append(event)

    jax.monitoring.register_event_listener(hear)
    try:
        throughput._compile_seconds(trainer)
    finally:
        jax.monitoring.unregister_event_listener(hear)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", least)
    misses, hits = (
        [i for i, e in enumerate(heard) if e.endswith(f"compilation_cache/cache_{what}")]
        for what in ("misses", "hits")
    )
    assert misses and hits and max(misses) < min(hits)
    assert jax.config.jax_compilation_cache_dir == chosen


def test_results_are_plain_data_and_a_table_and_a_picture(results, tmp_path):
    data = json.loads(json.dumps([r.as_dict() for r in results]))
    assert data[0]["whole"]["median"] == results[0].whole.median
    assert table(results, 2).count("gridworld") == len(results) + 1
    assert "Medians of 2 rounds" in table(results, 2)
    draw(results, tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 1000


LEO = Subject(
    "leo", *[lambda: None] * 3,
    dict(compile_cold=0.0, compile_warm=0.0, bytes_per_transition=0.0, program_bytes=0),
)  # fmt: skip


def by_the_clock(monkeypatch, seconds: list[float], plain: Subject | None = None):
    clock = iter(seconds)
    monkeypatch.setattr(throughput, "_time", lambda call: next(clock))
    return throughput._round(LEO, lambda: None, plain)


def test_a_round_in_which_the_machine_changed_its_speed_is_measured_again(monkeypatch):
    """By the clock: bare 1, whole 5, bare 2; again bare 2, whole 9, bare 2; acting, updating."""
    found = by_the_clock(monkeypatch, [1.0, 5.0, 2.0, 2.0, 9.0, 2.0, 3.0, 4.0])
    assert found == {"whole": 9.0, "bare": 2.0, "acting": 3.0, "updating": 4.0}
    never = [1.0, 5.0, 2.0] * 4 + [2.0, 6.0, 3.0, 3.0, 4.0]  # the steadiest is taken
    found = by_the_clock(monkeypatch, never)
    assert (found["whole"], found["bare"]) == (6.0, 2.5)


def test_what_an_algorithm_is_compared_with_is_timed_beside_it(monkeypatch):
    """Bare 2, PQN 6, whole 8, bare 2; PQN itself is not timed twice."""
    seconds = [2.0, 6.0, 8.0, 2.0, 3.0, 4.0]
    found = by_the_clock(monkeypatch, seconds, LEO._replace(name="pqn"))
    assert found == {"plain": 6.0, "whole": 8.0, "bare": 2.0, "acting": 3.0, "updating": 4.0}
    found = by_the_clock(monkeypatch, [2.0, 8.0, 2.0, 3.0, 4.0], LEO)
    assert found["plain"] == found["whole"] == 8.0


def test_algorithms_are_compared_with_the_one_that_learns_about_a_single_goal():
    leo, pqn, sac = (LEO._replace(name=name) for name in ("leo", "pqn", "sac"))
    assert throughput._plain([leo, pqn]) is pqn
    assert throughput._plain([leo, sac]) is sac
    assert throughput._plain([leo]) is None


def test_shares_are_taken_within_a_round():
    """PQN takes 2 s, then 6; LEO 4 s, then 8: 0.5 and 0.75 of its speed, not 8 / 12."""
    times = {"leo/plain": [2.0, 6.0], "leo/whole": [4.0, 8.0], "leo/bare": [1.0, 1.0]}
    times |= {"leo/acting": [1.0, 1.0], "leo/updating": [1.0, 1.0]}
    found = _result("gridworld", LEO, times, SMALL)
    assert found.of_plain == (0.625, 0.5, 0.75) and found.of_bare == (0.1875, 0.125, 0.25)
    assert found.whole.median == (SMALL.rows / 4 + SMALL.rows / 8) / 2
    alone = {name: of for name, of in times.items() if name != "leo/plain"}
    assert _result("gridworld", LEO, alone, SMALL).of_plain is None


def test_a_spread_is_the_middle_and_the_range():
    assert Spread.of([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)


def test_naive_relabelling_is_drawn_out_along_a_line():
    one = Timing("naive_all_goals", 10, 1.0, 0.1, 100.0)
    two = Timing("naive_all_goals", 20, 1.5, 0.2, 100 / 1.5)
    far = extrapolate(one, two, 100)
    assert far.seconds == pytest.approx(5.5) and far.extrapolated
    assert far.spread == pytest.approx(0.2 + 8 * 0.3)  # eight times as far as from 10 to 20
    assert far.steps_per_second == pytest.approx(100 / 5.5)


@pytest.mark.parametrize(("per_goal", "drawn_out"), [(1.0, [512]), (0.0, [])])
def test_what_does_not_fit_is_drawn_out_along_lines_that_rise(monkeypatch, per_goal, drawn_out):
    def timed(name, algorithm, goals, sizes, repeats):
        naive = name == "naive_all_goals"
        return Timing(name, goals, 1.0 + per_goal * goals * naive, 0.0, 1.0)

    monkeypatch.setattr(goals_bench, "_time", timed)
    timings = list(measure_goals((4, 512, 2, 4), GoalsSizes(), repeats=1))
    assert [t.goals for t in timings if t.algorithm == "leo"] == [2, 4, 512]
    assert [t.goals for t in timings if t.extrapolated] == drawn_out
    assert all(t.seconds == 513.0 for t in timings if t.extrapolated)


def test_naive_relabelling_is_timed_where_it_is_named():
    assert "naive_all_goals" not in names("gridworld", SMALL)
    task, algorithm = subject("gridworld", "naive_all_goals", SMALL)
    assert algorithm.relabel == "all" and task.name == "gridworld"
    plan = _plan(("gridworld/naive_all_goals", "gridworld/leo"), SMALL)
    assert plan == {"gridworld": ["naive_all_goals", "leo"]}


def test_leo_for_sac_alone_is_every_grid_of_it():
    assert _plan(("point-u-maze/leo_sac",), SMALL) == {
        "point-u-maze": ["leo_sac-25", "leo_sac-112", "leo_sac-416"]
    }
    assert _plan(("point-u-maze/leo_sac_late-25",), SMALL) == {"point-u-maze": ["leo_sac_late-25"]}


def test_minibatches_matter_where_actions_are_discrete():
    odd = replace(SMALL, num_envs=9)
    assert _plan(("point-u-maze/sac",), odd) == {"point-u-maze": ["sac"]}
    with pytest.raises(UsageError, match="16 does not divide the 36 rows .* 12 does"):
        _plan(("point-u-maze/sac", "gridworld/leo"), odd)


@pytest.mark.slow
def test_goals_are_measured_in_order_with_every_algorithm(tmp_path):
    sizes = GoalsSizes(num_envs=4, num_steps=2, width=8, layers=1)
    timings = list(measure_goals((9, 4), sizes, repeats=1))
    assert [(t.algorithm, t.goals) for t in timings] == [
        (name, goals) for goals in (4, 9) for name in ("pqn", "leo", "naive_all_goals")
    ]
    assert goals_table(timings).count("leo") == 2
    draw_goals(timings, tmp_path / "goals.svg")
    assert "<svg" in (tmp_path / "goals.svg").read_text()
