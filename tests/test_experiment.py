"""Experiments are data: they survive a round trip, and wrong ones are named."""

import json
from dataclasses import replace

import pytest

from allgoals.errors import UsageError
from allgoals.experiment import GoalOptions, from_dict, parse_count, to_dict
from allgoals.presets import names, preset
from allgoals.runs.setup import owner
from allgoals.runs.train import evaluation_points
from allgoals.validation import build_task, check


@pytest.mark.parametrize("name", names())
def test_every_preset_is_valid_and_survives_json(name):
    if name.startswith("ant"):
        pytest.importorskip("brax")
    experiment = preset(name)
    build_task(experiment)
    assert from_dict(json.loads(json.dumps(to_dict(experiment)))) == experiment


@pytest.mark.parametrize(
    ("text", "number"),
    [("2e6", 2_000_000), ("200M", 2 * 10**8), ("1_000_000", 10**6), ("3k", 3000), ("1B", 10**9),
     ("7", 7), ("-1", -1), ("1.5e3", 1500), ("12345678901234567", 12345678901234567)],
)  # fmt: skip
def test_counts_as_people_write_them(text, number):
    assert parse_count(text) == number


@pytest.mark.parametrize(
    "text", ["", "two", "1.5", "nan", "inf", "1e400", "M", "1e-3", "0x10", "1 0"]
)
def test_what_is_no_count(text):
    with pytest.raises(ValueError, match="whole number"):
        parse_count(text)


def test_all_problems_are_named_at_once():
    experiment = preset("gridworld/leo")
    wrong = replace(
        experiment,
        num_envs=0,
        algorithm=replace(experiment.algorithm, gamma=2.0, width=-1),
        goals=GoalOptions(success_decay=-1.0),
    )
    with pytest.raises(UsageError) as error:
        check(wrong)
    for flag in ("--num-envs", "--algorithm.gamma", "--algorithm.width", "--goals.success-decay"):
        assert flag in str(error.value)


def test_every_number_of_every_preset_has_a_rule():
    """A field nobody checks would be found by users."""
    import dataclasses

    from allgoals.validation import RULES

    ruled = set().union(*(fields for fields, _, _ in RULES))
    checked_by_the_environment = {"size", "wall_probability", "map_seed"}
    checked_by_goals = {"spacing", "grid_reach"}

    def numbers(config):
        for field in dataclasses.fields(config):
            value = getattr(config, field.name)
            if dataclasses.is_dataclass(value):
                yield from numbers(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                yield field.name

    for name in names():
        assert set(numbers(preset(name))) <= ruled | checked_by_the_environment | checked_by_goals


@pytest.mark.parametrize("damage", [{"steps": None}, {"class": "os.system"}, {"extra": 1}])
def test_a_strange_configuration_is_refused(damage):
    data = to_dict(preset("gridworld/leo"))
    if "class" in damage:
        data["algorithm"]["class"] = damage["class"]
    elif "steps" in damage:
        del data["steps"]
    else:
        data |= damage
    with pytest.raises(UsageError):
        from_dict(data)


def test_a_checkpoint_belongs_to_one_experiment():
    first = preset("gridworld/leo")
    other = replace(first, algorithm=replace(first.algorithm, gamma=0.5))
    smaller = replace(first, goals=GoalOptions(subset=5))
    owners = {owner(e, build_task(e)) for e in (first, other, smaller)}
    assert len(owners) == 3 and owner(first, build_task(first)) in owners


@pytest.mark.parametrize(
    ("total", "log_every", "times", "points"),
    [(100, 10, 4, {30, 50, 80, 100}), (7, 10, 3, {7}), (45, 10, 2, {30, 45}), (9, 1, 0, set())],
)
def test_evaluations_are_spread_and_end_at_the_end(total, log_every, times, points):
    assert evaluation_points(total, log_every, times) == points


def test_an_older_run_lacks_newer_fields():
    """Their defaults are how it was; any other field must be there."""
    experiment = preset("gridworld/leo")
    data = to_dict(experiment)
    assert "last_episodes" not in data["evaluation"] and from_dict(data) == experiment
    more = replace(experiment, evaluation=replace(experiment.evaluation, last_episodes=3))
    assert from_dict(to_dict(more)) == more
    assert "all_actions_in" not in data["algorithm"]
    rounded = replace(experiment.algorithm, all_actions_in="bfloat16")
    more = replace(experiment, algorithm=rounded)
    assert to_dict(more)["algorithm"]["all_actions_in"] == "bfloat16"
    assert from_dict(to_dict(more)) == more
    del data["evaluation"]["episodes"]
    with pytest.raises(UsageError, match="missing fields: episodes$"):
        from_dict(data)
