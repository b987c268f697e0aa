"""Trials of a sweep: the same parameters whoever takes them, each finished exactly once."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from threading import Thread

import pytest

optuna = pytest.importorskip("optuna")

from allgoals.errors import UsageError  # noqa: E402
from allgoals.studies.trials import Trials, parameters  # noqa: E402

SPACE = {"rate": (0.1, 0.2, 0.4), "decay": (True, False), "mode": ("a", "b")}


def trials(tmp_path, count=6, **changes) -> Trials:
    return Trials(f"sqlite:///{tmp_path}/trials.db", "test", SPACE, count, **changes)


def worth(index: int, chosen: dict) -> float:
    return index + chosen["rate"]


def test_parameters_depend_on_the_index_alone():
    drawn = [parameters(SPACE, i) for i in range(200)]
    assert drawn == [parameters(SPACE, i) for i in range(200)]
    assert len({tuple(one.items()) for one in drawn}) == 12  # all there are
    assert all(one[name] in values for one in drawn for name, values in SPACE.items())


def test_every_index_is_finished_with_its_own_parameters(tmp_path):
    trials(tmp_path).work(worth)
    done = trials(tmp_path).finished()
    assert [one.index for one in done] == list(range(6))
    assert [one.parameters for one in done] == [parameters(SPACE, i) for i in range(6)]
    assert [one.value for one in done] == [worth(i, parameters(SPACE, i)) for i in range(6)]


def test_done_again_it_does_nothing(tmp_path):
    trials(tmp_path).work(worth)
    trials(tmp_path).work(lambda *_: pytest.fail("a finished trial was repeated"))


def test_a_trial_that_raises_is_free_for_another(tmp_path):
    def fails(index, chosen):
        if index == 2:
            raise KeyboardInterrupt
        return worth(index, chosen)

    with pytest.raises(KeyboardInterrupt):
        trials(tmp_path).work(fails)
    assert [one.index for one in trials(tmp_path).finished()] == [0, 1]
    trials(tmp_path).work(worth)
    assert [one.index for one in trials(tmp_path).finished()] == list(range(6))


def test_of_two_claims_to_an_index_the_earlier_counts(tmp_path):
    """Two workers have found the same index free in the same moment."""
    first, second = trials(tmp_path), trials(tmp_path)
    claim = first._claim(0)
    assert claim.params == parameters(SPACE, 0)
    assert second._claim(0) is None
    assert first._carry_out(claim, worth)
    assert second._claim(0) is None  # nor when it is finished
    assert [one.index for one in second.finished()] == [0]


def test_workers_that_always_choose_alike_share_the_work(tmp_path):
    """Each index is carried out by one of three, though all want the lowest that is free."""
    carried_out = Counter()

    def slowly(index, chosen):
        carried_out.update([index])
        time.sleep(0.05)
        return worth(index, chosen)

    workers = [Thread(target=trials(tmp_path).work, args=(slowly,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert carried_out == dict.fromkeys(range(6), 1)
    states = Counter(trial.state.name for trial in trials(tmp_path).study.trials)
    assert states["COMPLETE"] == 6 and states["RUNNING"] == 0


def test_who_gives_no_sign_of_life_loses_the_trial(tmp_path):
    dead = trials(tmp_path, count=1)
    dead._claim(0)  # and nothing more
    begin = time.time()
    trials(tmp_path, count=1, grace=1.0).work(worth)
    assert 0.5 < time.time() - begin < 30
    assert [one.index for one in dead.finished()] == [0]


def test_a_claim_that_came_to_nothing_does_not_stay(tmp_path, monkeypatch):
    """Its worker died between finding the index taken and saying so."""
    first, second = trials(tmp_path, count=1), trials(tmp_path, count=1)
    claim = first._claim(0)
    monkeypatch.setattr(Trials, "_fail", lambda *_: None)
    assert second._claim(0) is None
    monkeypatch.undo()
    first._carry_out(claim, worth)
    assert len(first._in_state("RUNNING")) == 1
    second.work(lambda *_: pytest.fail("a finished trial was repeated"))
    assert not first._in_state("RUNNING") and [one.index for one in first.finished()] == [0]


def test_a_claim_that_is_failed_before_its_worker_looks_is_no_ones(tmp_path, monkeypatch):
    """Another finishes the sweep, and clears what is left, between a claim and the look at it."""
    one, other = trials(tmp_path, count=1), trials(tmp_path, count=1)
    look = Trials._in_state

    def after_the_end(self, *names):
        monkeypatch.undo()
        other.work(worth)
        for claim in look(other, "RUNNING"):
            other._fail(claim)
        return look(self, *names)

    first = other._claim(0)
    monkeypatch.setattr(Trials, "_in_state", after_the_end)
    other._carry_out(first, worth)
    assert one._claim(0) is None
    assert [done.index for done in one.finished()] == [0] and not one._in_state("RUNNING")


def test_who_lives_keeps_a_long_trial(tmp_path):
    script = f"""
import sys, time
sys.path.insert(0, {os.getcwd()!r})
from tests.studies.test_trials import trials, worth
trials({str(tmp_path)!r}, count=1, grace=2.0).work(lambda *a: time.sleep(6) or worth(*a))
"""
    one = subprocess.Popen([sys.executable, "-c", script])
    other = trials(tmp_path, count=1, grace=2.0)
    while not other._in_state("RUNNING"):
        time.sleep(0.1)
    other.work(lambda *_: pytest.fail("taken from a worker that lives"))
    assert one.wait() == 0


def test_of_a_large_space_sets_are_drawn_by_chance():
    space = {f"field {i}": tuple(range(9)) for i in range(4)}  # 6,561 sets
    drawn = [parameters(space, i) for i in range(900)]
    assert drawn == [parameters(space, i) for i in range(900)]
    for name in space:
        counts = Counter(one[name] for one in drawn)
        assert set(counts) == set(range(9)) and max(counts.values()) < 150


def test_of_a_small_space_all_sets_come_before_any_comes_again():
    for first in (0, 12, 24):
        assert len({tuple(parameters(SPACE, first + i).items()) for i in range(12)}) == 12


def test_workers_that_begin_in_the_same_moment_all_work(tmp_path):
    """Each finds no table, and makes them."""
    source = f"""
import sys, time
sys.path.insert(0, {os.getcwd()!r})
from tests.studies.test_trials import trials, worth
import optuna
while time.time() < float(sys.argv[1]): pass
trials({str(tmp_path)!r}).work(worth)
"""
    moment = str(time.time() + 8)
    command = [sys.executable, "-c", source, moment]
    workers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    told = [worker.communicate(timeout=120)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0], told
    assert [one.index for one in trials(tmp_path).finished()] == list(range(6))


def test_passwords_are_not_told():
    with pytest.raises(UsageError) as told:
        _ = Trials("mysql://me:secret@nowhere/x", "test", SPACE, 3).study
    assert "secret" not in str(told.value) and "mysql://me:***@nowhere" in str(told.value)


@pytest.mark.parametrize(
    "url, why",
    [("nonsense", "URL"), ("sqlite:////nowhere/at/all.db", "unable"), ("mysql://x@y/z", "MySQLdb")],
)
def test_a_database_that_cannot_be_had_is_told(url, why):
    """With the driver that is missing, if that is why."""
    with pytest.raises(UsageError, match=f"--storage.*{why}"):
        _ = Trials(url, "test", SPACE, 3).study


WORKER = """
import os, sys, time
sys.path.insert(0, {here!r})
from tests.studies.test_trials import Trials, SPACE, worth
def evaluate(index, chosen):
    time.sleep(0.05)
    with open({log!r}, "a") as file:
        file.write(f"{{index}}\\n")
    return worth(index, chosen)
Trials({url!r}, "test", SPACE, 100, grace=3.0).work(evaluate)
"""


@pytest.mark.slow
def test_a_hundred_trials_survive_workers_killed_at_random(tmp_path):
    undisturbed = [parameters(SPACE, i) for i in range(100)]
    url, log = f"sqlite:///{tmp_path}/trials.db", str(tmp_path / "log")
    source = WORKER.format(here=os.getcwd(), log=log, url=url)
    chance = random.Random(0)
    workers = [subprocess.Popen([sys.executable, "-c", source]) for _ in range(3)]
    killed = 0
    while any(worker.poll() is None for worker in workers):
        time.sleep(chance.uniform(0.5, 1.5))
        if killed < 12:
            i = chance.randrange(3)
            workers[i].send_signal(signal.SIGKILL)
            workers[i].wait()
            workers[i] = subprocess.Popen([sys.executable, "-c", source])
            killed += 1
    study = Trials(url, "test", SPACE, 100).study
    complete = [t for t in study.trials if t.state.name == "COMPLETE"]
    assert sorted(t.user_attrs["index"] for t in complete) == list(range(100))
    by_index = {t.user_attrs["index"]: t.params for t in complete}
    assert [by_index[i] for i in range(100)] == undisturbed
    assert killed == 12
