"""A run stopped by a signal, moved or watched ends as if nothing had happened."""

import re
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from allgoals import api
from allgoals.cli import main
from allgoals.errors import CheckpointError, NumericalError
from allgoals.experiment import EvaluationOptions
from allgoals.runs.checkpoint import MANIFEST
from allgoals.runs.setup import build_checkpoints, build_trainer
from allgoals.runs.signals import Signals
from allgoals.runs.train import Driver, Observer, evaluation_key
from allgoals.training import Trainer
from allgoals.validation import build_task
from tests.runs import micro as micro_runs
from tests.runs.micro import (
    check_same_end,
    last_update,
    micro,
    newest_step,
    prepare,
    rows,
    summary,
    timeless,
)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """One run, stopped by one signal after another and then finished; what happened each time."""
    folder = tmp_path_factory.mktemp("interrupted")
    experiment = micro(updates=16_000, log_every=20, checkpoint_every=3200)  # it must not end first
    path = prepare(folder / "run in parts", experiment)
    story = SimpleNamespace(path=path)
    story.sigterm = _stop(path, signal.SIGTERM, other=lambda: _second_process(path))
    story.sigint = _stop(path, signal.SIGINT)
    story.twice = _stop(path, signal.SIGTERM, again=True, ALLGOALS_FAILPOINT="before_write=sleep")
    story.hangup = _stop(path, signal.SIGHUP, before=("nohup",))
    story.reference = api.train(experiment, out=folder / "reference").path
    return story


def _stop(path, number, other=lambda: None, again=False, before=(), **environment):
    """Run until a few new lines are logged, send a signal, and tell how it ended."""
    last = last_update(path)
    process = micro_runs.start("train", "--resume", path, before=before, **environment)
    micro_runs.wait_until(lambda: last_update(path) > last, process)
    met = other()
    process.send_signal(number)
    if again:
        time.sleep(0.2)
        process.send_signal(number)
    begin = time.monotonic()
    code, said = micro_runs.finish(process)
    end = dict(code=code, said=said, seconds=time.monotonic() - begin, pid=process.pid, met=met)
    return SimpleNamespace(**end, step=newest_step(path), update=last_update(path))


def _second_process(path):
    """What another process that wants the same run is told, and how soon."""
    begin = time.monotonic()
    with pytest.raises(Exception) as error:
        api.resume(path)
    return error.value, time.monotonic() - begin


@pytest.mark.parametrize(("name", "code"), [("sigterm", 75), ("sigint", 130)])
def test_a_signal_saves_and_says_how_to_continue(interrupted, name, code):
    end = getattr(interrupted, name)
    assert end.code == code, end.said
    assert end.seconds < 5
    assert end.step == end.update  # nothing is lost
    command = f"allgoals train --resume '{interrupted.path}'"
    assert end.said.strip().splitlines()[-1].strip() == command


def test_a_second_signal_stops_at_once(interrupted):
    end = interrupted.twice
    assert end.code == 75 and "stopped at once" in end.said
    assert end.seconds < 1.5  # the save under way takes 2 s
    assert end.step < end.update  # it was not waited for


def test_a_hangup_that_is_ignored_stops_nothing(interrupted):
    """Under nohup a run goes on when its terminal is closed."""
    assert interrupted.hangup.code == 0, interrupted.hangup.said


def test_a_run_stopped_by_many_signals_ends_the_same(interrupted):
    check_same_end(interrupted.path, interrupted.reference)


def test_a_run_in_use_is_left_alone(interrupted):
    error, seconds = interrupted.sigterm.met
    assert error.exit_code == 73 and seconds < 2
    assert f"process {interrupted.sigterm.pid} on" in str(error)


def test_a_signal_while_loading_leaves_nothing(tmp_path):
    path = tmp_path / "run"
    process = micro_runs.start("train", *micro_runs.FLAGS, "--out", path)
    micro_runs.wait_until(lambda: _listens(process.pid), process)
    begin = time.monotonic()
    process.terminate()
    code, said = micro_runs.finish(process)
    assert code == 75 and time.monotonic() - begin < 5, said
    assert not path.exists() and "Traceback" not in said


def _listens(pid: int) -> bool:
    """Whether a process has taken SIGTERM into its own hands."""
    status = Path(f"/proc/{pid}/status").read_text()
    blocked = int(re.search(r"^SigBlk:\s*(\w+)", status, re.MULTILINE)[1], 16)
    return bool(blocked >> (signal.SIGTERM - 1) & 1)


def test_a_signal_while_compiling_leaves_what_can_be_resumed(tmp_path, finished_once):
    """In a terminal with a live display, which gets its cursor back."""
    path = tmp_path / "run"
    words = ("train", *micro_runs.FLAGS, "--out", path)
    process, terminal = micro_runs.start_in_terminal(*words, TERM="xterm")
    micro_runs.wait_until(lambda: (path / "goals.json").exists(), process)
    begin = time.monotonic()
    process.terminate()
    said = micro_runs.shown(terminal)
    assert process.wait() == 75 and time.monotonic() - begin < 5, said
    assert "nothing to save" in said and newest_step(path) == 0
    assert said.rfind("\x1b[?25h") > said.rfind("\x1b[?25l") > -1
    api.resume(path)
    check_same_end(path, finished_once)


def test_the_same_seed_gives_the_same_run(finished_once, reference):
    """In another process too: the tests of killed runs compare across processes."""
    check_same_end(reference(micro(checkpoint_every=40)), finished_once)


def test_another_seed_gives_another_run(finished_once, reference):
    other = reference(micro(seed=1, checkpoint_every=40))
    assert summary(other)["parameters_sha256"] != summary(finished_once)["parameters_sha256"]


@pytest.mark.parametrize("log_every", [1, 5, 40])
def test_how_often_it_is_logged_changes_nothing(finished_once, reference, log_every):
    path = reference(micro(log_every=log_every, checkpoint_every=40))
    assert summary(path)["parameters_sha256"] == summary(finished_once)["parameters_sha256"]
    assert [row["update"] for row in rows(path)] == list(range(log_every, 41, log_every))


def test_every_run_and_every_evaluation_has_worlds_of_its_own():
    """Else seeds would share their luck, and intervals over seeds would not show it."""
    trainer = build_trainer(micro(), build_task(micro()))
    states = [trainer.init(jax.random.key(seed)) for seed in (0, 1)]
    keys = [evaluation_key(state, update) for state in states for update in (10, 20)]
    assert len({tuple(jax.random.key_data(key).tolist()) for key in keys}) == 4


def test_evaluation_changes_nothing(finished_once, reference):
    path = reference(micro(evaluation=EvaluationOptions(times=0), checkpoint_every=40))
    assert rows(path, "evaluations.jsonl") == []
    assert summary(path)["parameters_sha256"] == summary(finished_once)["parameters_sha256"]
    assert timeless(path) == timeless(finished_once)


def test_a_finished_run_resumed_is_left_as_it_is(finished, finished_once):
    class Idle(Observer):
        def compiling(self, task, total_steps):
            raise AssertionError("it need not compile to see that it has finished")

    def written():
        return {f: f.stat().st_mtime_ns for f in finished.rglob("*") if f.name != "lock"}

    before = written()
    assert api.resume(finished, observer=Idle()).summary == summary(finished_once)
    assert written() == before


def test_a_finished_run_whose_last_checkpoint_is_damaged_finishes_again(finished, finished_once):
    last = sorted((finished / "checkpoints").iterdir())[-1]
    (last / MANIFEST).write_text("{}")
    with pytest.warns(UserWarning, match="damaged"):
        api.resume(finished)
    check_same_end(finished, finished_once)


def test_a_run_moved_elsewhere_evaluates_and_resumes(
    finished, finished_once, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far away").mkdir()
    path = Path(shutil.move(finished, "far away/moved run"))
    shutil.rmtree(sorted((path / "checkpoints").iterdir())[-1])  # as if it had not quite finished
    (path / "summary.json").unlink()
    assert api.evaluate(path)["mean"] == api.evaluate(finished_once)["mean"]
    api.resume(path)
    check_same_end(path, finished_once)


def test_damaged_checkpoints_never_mean_a_new_beginning(finished):
    for manifest in finished.glob(f"checkpoints/*/{MANIFEST}"):
        manifest.write_text("{}")
    (finished / "summary.json").unlink()
    before = (finished / "metrics.jsonl").read_bytes()
    with pytest.warns(UserWarning), pytest.raises(CheckpointError) as error:
        api.resume(finished)
    assert error.value.exit_code == 65
    assert (finished / "metrics.jsonl").read_bytes() == before


def test_numbers_that_are_not_finite_stop_the_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Signals, "listen", lambda self: self)
    algorithm = replace(micro().algorithm, learning_rate=1e38)
    path = prepare(tmp_path / "run", micro(algorithm=algorithm))
    with pytest.raises(SystemExit) as end:
        main(["train", "--resume", str(path)])
    assert end.value.code == 4
    assert re.search(r"leo/loss.*: not finite at update 2\n", capsys.readouterr().err)
    assert newest_step(path) == 0


@pytest.mark.parametrize(("spoilt", "told"), [(10, "leo/loss"), (12, "a parameter")])
def test_no_checkpoint_holds_a_number_that_is_not_finite(tmp_path, monkeypatch, spoilt, told):
    """NaN after update 10 shows in the metrics of 12, NaN after 12 only in what is to be saved."""
    experiment, advance = micro(checkpoint_every=4), Trainer.advance

    def poisoned(self, state, updates):
        state, metrics = advance(self, state, updates)
        spoil = jnp.where(state.update == spoilt, jnp.nan, 1.0)
        learner = jax.tree.map(lambda x: x * spoil if x.dtype == jnp.float32 else x, state.learner)
        return state._replace(learner=learner), metrics

    monkeypatch.setattr(Trainer, "advance", poisoned)
    with pytest.raises(NumericalError, match=f"{told}.*not finite at update 12"):
        api.train(experiment, out=tmp_path / "run")
    driver = Driver(api.Run(tmp_path / "run").directory, experiment, None, None)
    for update in (8, 4):  # all there is
        restored, state = _checkpoints(driver).restore(driver.trainer.shapes)
        assert restored == update
        assert all(np.isfinite(x).all() for x in jax.tree.leaves(state.learner))
        shutil.rmtree(tmp_path / "run" / "checkpoints" / f"{update:012d}")


def _checkpoints(driver: Driver):
    return build_checkpoints(driver.directory, driver.experiment, driver.task)
