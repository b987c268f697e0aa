"""Presets: the paper's values where they say so, and sizes that fit everywhere."""

import json
from dataclasses import replace
from itertools import product

import pytest

from allgoals.algorithms import Pqn
from allgoals.cli.train import read
from allgoals.errors import UsageError
from allgoals.experiment import to_dict
from allgoals.experiments import STUDIES
from allgoals.presets import SIZES, algorithms_for, command, names, preset
from allgoals.studies.runs import RunStudy
from allgoals.studies.sweep import Sweep
from allgoals.studies.trials import parameters
from allgoals.studies.types import BUDGETS
from allgoals.validation import build_task

PAPER = {  # "Appendix: CraftaxGC hyperparameters", the best value of each sweep
    "ppo": dict(
        width=1024, embedding_layers=1, critic_layers=4, actor_layers=2, conv_features=32,
        epochs=1, learning_rate=2e-4, learning_rate_decay=True, gamma=0.995, num_minibatches=32,
        gae_lambda=0.95, entropy_coefficient=0.005, value_coefficient=0.5,
    ),
    "pqn": dict(
        width=1024, layers=4, conv_features=16, epsilon_start=0.2, epsilon_end=0.01,
        epsilon_decay=0.5, epochs=1, learning_rate=2e-4, learning_rate_decay=True, gamma=0.995,
        minibatch_size=256,
    ),
    "leo": dict(
        width=1024, layers=4, conv_features=32, epsilon_start=0.2, epsilon_end=0.01,
        epsilon_decay=0.2, epochs=2, learning_rate=2e-4, learning_rate_decay=True, gamma=0.99,
        minibatch_size=512,
    ),
    "dual_leo_pqn": dict(acting="linear_combination", alpha=0.3, anneal_alpha=False),
    "dual_leo_ppo": dict(policy_cloning=0.1, value_cloning=0.0, anneal_cloning=True),
}  # fmt: skip
PAPER["pqn_her"] = PAPER["pqn"] | dict(
    relabel="mixed", random_goals=1, positive_goals=1, relabel_level="trajectory",
    minibatch_size=2048, learning_rate=1e-4,
)  # fmt: skip
PAPER["naive_all_goals"] = PAPER["pqn"] | dict(relabel="all")
PARTS = {  # what they hold
    "dual_leo_pqn": dict(pqn=PAPER["pqn"], leo=dict(gamma=0.995, epochs=1, minibatch_size=256)),
    "dual_leo_ppo": dict(ppo=PAPER["ppo"], leo=dict(gamma=0.995, epochs=1, minibatch_size=512)),
}
NUM_STEPS = {"leo": 32, "ppo": 64, "dual_leo_ppo": 64}  # 2 for all that is PQN


@pytest.mark.parametrize("task", ["craftax-classic", "craftax"])
@pytest.mark.parametrize("name", PAPER)
def test_paper_presets_hold_the_papers_values(task, name):
    experiment = preset(f"{task}/{name}/paper")
    assert replace(experiment.algorithm, **PAPER[name]) == experiment.algorithm
    for part, values in PARTS.get(name, {}).items():
        inner = getattr(experiment.algorithm, part)
        values = PAPER["leo"] | values if part == "leo" else values
        assert replace(inner, **values) == inner, part
    assert experiment.num_steps == NUM_STEPS.get(name, 2)
    assert (experiment.num_envs, experiment.steps) == (1024, 10**9)
    assert (experiment.evaluation.episodes, experiment.evaluation.max_steps) == (16, 512)
    fields = json.dumps(to_dict(experiment)["algorithm"])
    assert "bfloat16" not in fields
    assert '"normalise_inputs": true' in fields and '"normalise_inputs": false' not in fields


@pytest.mark.parametrize("task", SIZES)
def test_every_algorithm_has_every_size_of_a_task(task):
    if task.startswith("ant"):
        pytest.importorskip("brax")
    for size in SIZES[task]:
        for name in algorithms_for(task):
            build_task(preset(f"{task}/{name}/{size}"))


def test_without_a_size_it_is_the_laptops():
    assert all(preset(name) == preset(f"{name}/laptop") for name in names())


@pytest.mark.parametrize(
    "name",
    [
        "gridworld", "gridworld/", "gridworld/leo/paper", "craftax/leo/huge", "craftax/leo/paper/x",
        "gridworld/sac", "point-u-maze/leo",
    ],
)  # fmt: skip
def test_what_is_no_preset(name):
    with pytest.raises(UsageError):
        preset(name)


ANTS = {  # the JaxGCRL benchmark's defaults: agent, num_steps, replay
    "sac": (dict(width=256, layers=2, learning_rate=1e-4, temperature_learning_rate=3e-4,
                 gamma=0.9, tau=0.005, batch_size=256, entropy_per_action=-0.5, relabel="none"),
            50, {}),
    "sac_her": (dict(gamma=0.9, relabel="final", hindsight=0.5), 50, {}),
    "td3": (dict(width=256, layers=2, learning_rate=3e-4, gamma=0.9, tau=0.005, batch_size=256,
                 exploration_noise=0.4, target_noise=0.2, noise_clip=0.5, delay=2), 50, {}),
    "td3_her": (dict(gamma=0.9, relabel="final", hindsight=0.5), 50, {}),
    "crl": (dict(width=256, layers=2, representation=64, learning_rate=3e-4, gamma=0.99,
                 batch_size=256, energy="norm", loss="forward", logsumexp_penalty=0.1),
            62, dict(warm_up=256_000)),
    "leo_sac": (dict(width=256, layers=2, learning_rate=1e-4, gamma=0.9, batch_size=256), 50, {}),
}  # fmt: skip


@pytest.mark.parametrize("task", ["ant-u-maze", "ant-big-maze", "ant-hardest-maze"])
@pytest.mark.parametrize("name", ANTS)
def test_ants_of_the_papers_size_hold_the_benchmarks_values(task, name):
    agent, num_steps, replay = ANTS[name]
    experiment = preset(f"{task}/{name}/paper")
    algorithm, goals = experiment.algorithm, experiment.goals
    assert replace(algorithm.agent, **agent) == algorithm.agent
    assert replace(algorithm, updates=1000, replay_size=2_560_000, **replay) == algorithm
    assert (experiment.steps, experiment.num_envs) == (50_000_000, 256)
    assert experiment.num_steps == num_steps and experiment.env.max_steps == 1001
    assert (goals.frozen, goals.maze.reward, goals.maze.ends) == (True, "sparse", False)


def runs_of_studies():
    """Every configuration that any study trains."""
    for budget, study in product(BUDGETS, STUDIES.values()):
        if isinstance(study, RunStudy):
            yield from (case.with_seed(2) for case in study.cases(budget))
        if isinstance(study, Sweep):
            for i in range(3):
                yield study.experiment(budget, i, parameters(study.space, i))


def test_every_run_of_a_study_has_a_command_of_its_own():
    found = list(dict.fromkeys(runs_of_studies()))
    assert len(found) > 150
    for experiment in found:
        program, verb, name, *options = command(experiment)
        assert (program, verb) == ("allgoals", "train")
        assert read(name, options).experiment == experiment


def test_commands_are_as_short_as_they_can_be():
    assert command(preset("craftax/leo/paper")) == ["allgoals", "train", "craftax/leo/paper"]
    changed = replace(preset("gridworld/leo"), seed=3)
    assert command(changed) == ["allgoals", "train", "gridworld/leo", "--seed", "3"]
    off = replace(changed, algorithm=replace(changed.algorithm, learning_rate_decay=False))
    assert command(off)[3:] == ["--algorithm.no-learning-rate-decay", "--seed", "3"]


def test_what_no_preset_is_made_of_has_no_command():
    assert command(replace(preset("gridworld/leo"), algorithm=Pqn())) == []
    assert command(replace(preset("gridworld/leo"), name="mine")) == []
