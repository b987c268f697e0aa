"""Memory is known before the first step, and too little of it is said, not felt."""

from dataclasses import replace

import jax
import pytest
import tyro

from allgoals import api
from allgoals.algorithms import DISCRETE
from allgoals.errors import MemoryShortage
from allgoals.experiment import Experiment
from allgoals.presets import preset
from allgoals.runs import memory
from allgoals.runs.agent import build_evaluator
from allgoals.runs.memory import (
    advice,
    check_memory,
    evaluation_bytes,
    free_bytes,
    program_bytes,
)
from allgoals.runs.setup import build_trainer
from allgoals.validation import build_task, check_divisions
from tests.runs.micro import micro


def trainer_of(experiment):
    return build_trainer(experiment, build_task(experiment))


def evaluator_of(experiment):
    return build_evaluator(build_task(experiment), experiment.evaluation)


def test_the_plan_holds_the_state_and_the_rollout():
    trainer = trainer_of(micro(num_steps=64))
    state = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(trainer.shapes) if x.ndim)
    algorithm, key = trainer.algorithm, jax.random.key(0)
    _, rollout = jax.eval_shape(trainer.collect, algorithm, trainer.shapes, key, 0.0)
    held = state + sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(rollout))
    assert held > 2 * state  # so that it matters
    assert held < program_bytes(trainer.program) < 2**28


def test_more_environments_need_more():
    few, many = (program_bytes(trainer_of(micro(num_envs=n)).program) for n in (8, 512))
    assert many > few


def test_this_machine_has_some():
    assert 2**24 < free_bytes() < 2**50


def test_a_run_that_does_not_fit_says_what_to_change_and_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    with pytest.raises(MemoryShortage) as error:
        api.train(micro(), out=tmp_path / "run")
    assert error.value.exit_code == 3
    assert "--num-envs 4 (now 8)" in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "name, told",
    [
        ("craftax/dual_leo_pqn/paper", "--num-envs 256 (now 1024),\n--algorithm.leo.width, --al"),
        (
            "craftax/pqn_her/paper",
            ": --num-envs 256 --algorithm.minibatch-size 512,\n--algorithm.",
        ),
        ("point-u-maze/sac", "--num-envs 16 (now 64),\nabove all a smaller --algorithm.replay-si"),
    ],
)
def test_advice_says_what_to_change(name, told):
    assert told in advice(preset(name), 512)


@pytest.mark.parametrize("size", ["laptop", "paper"])
@pytest.mark.parametrize("task", ["craftax-classic", "craftax"])
@pytest.mark.parametrize("name", DISCRETE)
def test_advice_can_be_followed(task, name, size):
    """Typed after the command it names fewer environments, which minibatches divide."""
    experiment = preset(f"{task}/{name}/{size}")
    flags = memory.fewer_rows(experiment, 512).partition(" (now")[0].rstrip(",\n").split()
    smaller = typed(flags, experiment)
    assert smaller.num_envs in (experiment.num_envs // 4, experiment.num_envs // 2)
    check_divisions(smaller, build_task(smaller))


@pytest.mark.parametrize(
    "num_envs, num_steps, minibatch_size, told",
    [
        (6, 32, 192, "--num-envs 1 --algorithm.minibatch-size 32"),
        (10, 4, 40, "--num-envs 2 --algorithm.minibatch-size 8"),
        (3, 4, 12, "--num-envs 1 --algorithm.minibatch-size 4"),
        (1, 32, 16, "--num-steps 16 (now 32)"),
        (1, 1, 1, ""),
    ],
)
def test_advice_can_be_followed_where_numbers_are_odd(num_envs, num_steps, minibatch_size, told):
    experiment = micro(num_envs=num_envs, num_steps=num_steps)
    algorithm = replace(experiment.algorithm, minibatch_size=minibatch_size)
    experiment = replace(experiment, algorithm=algorithm)
    flags = memory.fewer_rows(experiment, 16)
    assert flags.rstrip(",\n") == told
    smaller = typed(flags.partition(" (now")[0].rstrip(",\n").split(), experiment)
    check_divisions(smaller, build_task(smaller))


def typed(flags, experiment):
    parts = type(experiment.env), type(experiment.algorithm), type(experiment.goals)
    return tyro.cli(Experiment[parts], args=flags, default=experiment)


def test_a_run_that_fits_is_told_its_size(monkeypatch):
    experiment = micro()
    trainer, evaluator = trainer_of(experiment), evaluator_of(experiment)
    saved = memory._size(trainer.shapes)  # a copy, on its way to the disk
    need = saved + max(program_bytes(trainer.program), evaluation_bytes(trainer, evaluator))
    monkeypatch.setattr(memory, "free_bytes", lambda: need)
    assert check_memory(experiment, trainer, evaluator) == need
    monkeypatch.setattr(memory, "free_bytes", lambda: need - 1)
    with pytest.raises(MemoryShortage):
        check_memory(experiment, trainer, evaluator)


def test_an_evaluation_that_will_not_be_takes_nothing(monkeypatch):
    options = replace(micro().evaluation, num_envs=2**20, times=0)
    experiment = replace(micro(), evaluation=options)
    trainer, evaluator = trainer_of(experiment), evaluator_of(experiment)
    need = memory._size(trainer.shapes) + program_bytes(trainer.program)
    monkeypatch.setattr(memory, "free_bytes", lambda: need)
    assert check_memory(experiment, trainer, evaluator) == need


def test_an_evaluation_that_does_not_fit_is_said_too(monkeypatch):
    options = replace(micro().evaluation, num_envs=2**20)
    experiment = replace(micro(), evaluation=options)
    trainer, evaluator = trainer_of(experiment), evaluator_of(experiment)
    assert evaluation_bytes(trainer, evaluator) > 4 * 2**20 * 4  # two coordinates, seen and held
    need = memory._size(trainer.shapes) + program_bytes(trainer.program)
    monkeypatch.setattr(memory, "free_bytes", lambda: need)
    with pytest.raises(MemoryShortage, match="--evaluation.num-envs .now 1048576"):
        check_memory(experiment, trainer, evaluator)


def estimate_of_plan(experiment, num_envs):
    """What an evaluation adds to what the run holds, as a share of what the compiler plans."""
    options = replace(experiment.evaluation, num_envs=num_envs)
    experiment = replace(experiment, evaluation=options)
    trainer, evaluator = trainer_of(experiment), evaluator_of(experiment)
    mind = (trainer.algorithm, trainer.shapes.learner, 0.0)
    goal, key = jax.ShapeDtypeStruct((num_envs,), "int32"), jax.random.key(0)
    plan = jax.jit(evaluator.reach).lower(mind, goal, key).compile().memory_analysis()
    added = evaluation_bytes(trainer, evaluator) - memory._size(trainer.shapes)
    return added / plan.temp_size_in_bytes


@pytest.mark.parametrize("name", ["gridworld/leo", "gridworld/ppo", "point-u-maze/leo_sac"])
def test_an_evaluation_is_estimated_as_the_compiler_plans_it(name):
    """Roughly: networks and outcomes are parts of it."""
    assert 0.7 < estimate_of_plan(preset(name), 2**16) < 1.4


@pytest.mark.slow
def test_copies_of_large_worlds_are_estimated_as_the_compiler_plans_them():
    """Craftax's worlds are most of it: no copy of them or ten would be far from the plan."""
    experiment = preset("craftax-classic/leo")
    small = replace(experiment.algorithm, width=16, layers=1)
    assert 0.8 < estimate_of_plan(replace(experiment, algorithm=small), 64) < 1.6


def test_a_limit_of_the_group_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\nactive_file 100\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "none")
    assert memory._cgroup_bytes() == 2300  # files that were read make way
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._cgroup_bytes() == float("inf")


@pytest.mark.parametrize(("limits", "left"), [((9000, 3000), 2000), ((3000, 9000), 2000)])
def test_the_tightest_group_around_the_process_counts(monkeypatch, tmp_path, limits, left):
    """As of a job of a cluster, whose limit is not that of the machine's root."""
    for group, limit in zip(("job", "job/step"), limits, strict=True):
        (tmp_path / group).mkdir()
        (tmp_path / group / "memory.max").write_text(f"{limit}\n")
        (tmp_path / group / "memory.current").write_text("1000\n")
        (tmp_path / group / "memory.stat").write_text("anon 1000\n")
    (tmp_path / "own").write_text("0::/job/step\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "own")
    assert memory._cgroup_bytes() == left


def test_groups_of_the_first_version_count_too(monkeypatch, tmp_path):
    """Whose files have other names, and whose counts take in the groups below."""
    group = tmp_path / "memory" / "slurm" / "job"
    group.mkdir(parents=True)
    (tmp_path / "own").write_text("12:cpu,cpuacct:/slurm\n4:memory:/slurm/job\n0::/\n")
    (group / "memory.limit_in_bytes").write_text("5000\n")
    (group / "memory.usage_in_bytes").write_text("3000\n")
    (group / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 200\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "own")
    assert memory._cgroup_bytes() == 2200
