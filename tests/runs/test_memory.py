"""Memory is known before the first step, and too little of it is said, not felt."""

from dataclasses import replace

import jax
import pytest

from allgoals import api
from allgoals.errors import MemoryShortage
from allgoals.presets import preset
from allgoals.runs import memory
from allgoals.runs.memory import advice, check_memory, free_bytes, program_bytes
from allgoals.runs.setup import build_trainer
from allgoals.validation import build_task
from tests.runs.micro import micro


def trainer_of(experiment):
    return build_trainer(experiment, build_task(experiment))


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
        ("craftax/pqn_her/paper", "smaller: a smaller minibatch,\n--algorithm.width, or"),
        ("point-u-maze/sac", "--num-envs 16 (now 64),\nabove all a smaller --algorithm.replay-si"),
    ],
)
def test_advice_can_be_followed(name, told):
    """Fields that exist, and environments that minibatches divide."""
    assert told in advice(preset(name), 512)


def test_a_run_that_fits_is_told_its_size(monkeypatch):
    experiment = replace(micro(), num_envs=8)
    program = trainer_of(experiment).program
    monkeypatch.setattr(memory, "free_bytes", lambda: program_bytes(program))
    assert check_memory(experiment, 1, program) == program_bytes(program)


def test_a_limit_of_the_group_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\nactive_file 100\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory._cgroup_bytes() == 2300  # files that were read make way
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._cgroup_bytes() == float("inf")
