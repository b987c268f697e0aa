"""Memory is known before the first step, and too little of it is said, not felt."""

from dataclasses import replace

import jax
import pytest

from allgoals import api
from allgoals.errors import MemoryShortage
from allgoals.runs import memory
from allgoals.runs.memory import check_memory, free_bytes, program_bytes
from allgoals.runs.setup import build_trainer
from allgoals.validation import build_task
from tests.runs.micro import micro


def trainer_of(experiment):
    return build_trainer(experiment, build_task(experiment))


def test_the_plan_holds_the_state_and_the_rollout():
    trainer = trainer_of(micro())
    state = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(trainer.shapes) if x.ndim)
    assert state < program_bytes(trainer.program) < 2**28


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
    assert "--num-envs 2 (now 8)" in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_run_that_fits_is_told_its_size(monkeypatch):
    experiment = replace(micro(), num_envs=8)
    program = trainer_of(experiment).program
    monkeypatch.setattr(memory, "free_bytes", lambda: program_bytes(program))
    assert check_memory(experiment, program) == program_bytes(program)


def test_a_limit_of_the_group_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory._cgroup_bytes() == 2000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._cgroup_bytes() == float("inf")
