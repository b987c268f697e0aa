"""What is allowed and may surprise is said before training."""

from dataclasses import replace

import pytest

from allgoals.experiment import Experiment
from allgoals.presets import algorithms_for, preset
from allgoals.validation import build_task, surprises

COARSE, ENDS = dict(spacing=1.5), dict(ends=True)


def said(name: str, agent: dict, **maze) -> list[str]:
    experiment = preset(name)
    goals = replace(experiment.goals, maze=replace(experiment.goals.maze, **maze))
    learns = experiment.algorithm.agent
    if hasattr(learns, "leo"):
        agent = {part: replace(getattr(learns, part), **agent[part]) for part in agent}
    algorithm = replace(experiment.algorithm, agent=replace(learns, **agent))
    return of(replace(experiment, goals=goals, algorithm=algorithm))


def of(experiment: Experiment) -> list[str]:
    return surprises(experiment, build_task(experiment))


@pytest.mark.parametrize("task", ["point-u-maze", "point-big-maze", "gridworld"])
def test_presets_hold_no_surprise(task):
    assert not [text for name in algorithms_for(task) for text in of(preset(f"{task}/{name}"))]


@pytest.mark.parametrize(
    ("name", "agent", "maze", "told"),
    [
        ("sac", {}, COARSE, []),  # it is told its goal
        ("leo_sac", {}, COARSE, ["--algorithm.agent.offset"]),
        ("leo_sac", dict(offset=True), COARSE, []),
        ("dual_leo_sac", {}, COARSE, ["--algorithm.agent.leo.offset"]),
        ("sac", dict(initial_temperature=1.0), ENDS, ["agent.initial-temperature below 0.007"]),
        ("sac", dict(initial_temperature=1.0), dict(ends=False), []),
        ("sac", dict(initial_temperature=1.0), dict(ends=True, reward="dense"), []),
        ("leo_sac", dict(initial_temperature=1.0), ENDS, ["agent.initial-temperature below 0.007"]),
        ("leo_sac", dict(initial_temperature=1.0, policy_update="advantage"), ENDS, []),
        ("crl", dict(initial_temperature=1.0), ENDS, []),  # rewards do not enter
        ("td3", {}, ENDS, []),
        ("dual_leo_sac", dict(sac=dict(initial_temperature=1.0)), ENDS,
         ["agent.sac.initial-temperature below 0.007"]),
    ],
)  # fmt: skip
def test_grids_that_miss_and_bonuses_that_punish_are_told(name, agent, maze, told):
    found = said(f"point-u-maze/{name}", agent, **maze)
    assert len(found) == len(told)
    assert all(part in text for part, text in zip(told, found, strict=True))


def test_a_reward_that_pays_for_falling_is_told():
    """Points cannot fall."""
    pytest.importorskip("brax")
    assert "learn to fall" in "".join(said("ant-u-maze/sac", {}, reward="dense"))
    assert not said("ant-u-maze/sac", {}) and not said("point-u-maze/sac", {}, reward="dense")
