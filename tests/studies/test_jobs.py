"""Runs of a study: each is made once, whoever makes it, and what is there is not made again."""

import signal
import threading
import time
from dataclasses import replace

import pytest

from allgoals.errors import Interrupted, MemoryShortage, NumericalError, UsageError
from allgoals.experiment import to_dict
from allgoals.presets import preset
from allgoals.runs.directory import RunDirectory
from allgoals.runs.signals import Signals
from allgoals.studies import jobs as module
from allgoals.studies import runs
from allgoals.studies.jobs import alone, carry_out, groups, jobs
from allgoals.studies.runs import by_chance
from allgoals.studies.types import Case, Desk

LEO = Case("LEO", preset("gridworld/leo"))
PQN = Case("PQN", preset("gridworld/pqn"), variation="other")


class Trainer:
    """Stands for the library: a run is a configuration, then a summary."""

    def __init__(self):
        self.calls = []

    def train(self, experiment, out, **_):
        self.calls.append(("train", out.parent.name, out.name))
        directory = RunDirectory.create(out, to_dict(experiment))
        self._finish(directory)

    def resume(self, path, **_):
        self.calls.append(("resume", path.parent.name, path.name))
        directory = RunDirectory.open(path)
        directory.lock()
        self._finish(directory)

    def _finish(self, directory):
        directory.write("summary.json", {})
        directory.unlock()


@pytest.fixture
def trainer(monkeypatch):
    trainer = Trainer()
    monkeypatch.setattr(module, "api", trainer)
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    return trainer


def desk(tmp_path, seeds=2, said=None) -> Desk:
    say = (lambda _: None) if said is None else said.append
    return Desk(tmp_path, "smoke", seeds, "", say, None, Signals())


def test_the_first_seed_of_every_case_comes_first(tmp_path, trainer):
    carry_out(jobs([LEO, PQN], desk(tmp_path)), desk(tmp_path))
    assert trainer.calls == [
        ("train", "gridworld-leo", "seed-0"), ("train", "gridworld-pqn-other", "seed-0"),
        ("train", "gridworld-leo", "seed-1"), ("train", "gridworld-pqn-other", "seed-1"),
    ]  # fmt: skip
    first = RunDirectory.open(tmp_path / "smoke/runs/gridworld-leo/seed-1")
    assert first.config == to_dict(replace(LEO.experiment, seed=1))


def test_only_what_is_missing_is_done(tmp_path, trainer):
    carry_out(jobs([LEO], desk(tmp_path)), desk(tmp_path))
    begun = replace(PQN.experiment, seed=0)
    path = tmp_path / "smoke/runs/gridworld-pqn-other/seed-0"
    RunDirectory.create(path, to_dict(begun)).unlock()
    trainer.calls.clear()
    carry_out(jobs([LEO, PQN], desk(tmp_path, 3)), desk(tmp_path, 3))
    assert trainer.calls == [
        ("resume", "gridworld-pqn-other", "seed-0"), ("train", "gridworld-pqn-other", "seed-1"),
        ("train", "gridworld-leo", "seed-2"), ("train", "gridworld-pqn-other", "seed-2"),
    ]  # fmt: skip


def at_once(some: int, work, begun=lambda: None) -> None:
    workers = [threading.Thread(target=work) for _ in range(some)]
    for one in workers:
        one.start()
    begun()
    for one in workers:
        one.join()


def test_what_workers_share_is_written_by_one_at_a_time(tmp_path, trainer):
    inside, most, said = [], [], []

    def work():
        for _ in range(10):
            with alone(tmp_path / "study", said.append):
                inside.append(1)
                time.sleep(0.001)
                most.append(len(inside))
                inside.pop()

    first = RunDirectory.create(tmp_path / "study", {})

    def let_in():
        while len(said) < 3:
            time.sleep(0.001)
        assert not most
        first.unlock()

    at_once(3, work, let_in)
    assert most == [1] * 30
    assert all("study is in use by" in one for one in said)


def test_a_random_policy_is_measured_once_whoever_asks(tmp_path, trainer, monkeypatch):
    measured, found = [], []

    def slowly(experiment):
        measured.append(experiment.task)
        time.sleep(0.05)
        return {"position/0-1": 0.25}

    monkeypatch.setattr(runs, "_acting_at_random", slowly)
    at_once(3, lambda: found.append(by_chance(LEO.experiment, desk(tmp_path))))
    assert measured == ["gridworld"] and found == [{"position/0-1": 0.25}] * 3


def test_runs_of_others_are_waited_for(tmp_path, trainer, monkeypatch):
    """The holder finishes one of its runs and dies in the other, which is then continued."""
    held = [
        RunDirectory.create(job.path, to_dict(job.experiment))
        for job in jobs([LEO], desk(tmp_path))
    ]
    slept = []

    def sleep(_):
        slept.append(1)
        if len(slept) == 3:
            held[0].write("summary.json", {})
            for one in held:
                one.unlock()

    monkeypatch.setattr(module.time, "sleep", sleep)
    said = []
    carry_out(jobs([LEO], desk(tmp_path)), desk(tmp_path, said=said))
    assert len(slept) == 3 and said.count("waiting for the runs that others hold") == 1
    assert trainer.calls[-1] == ("resume", "gridworld-leo", "seed-1")
    assert all(job.finished for job in jobs([LEO], desk(tmp_path)))


def test_a_run_that_another_begins_at_the_same_moment_is_left_to_it(tmp_path, trainer):
    [job] = jobs([LEO], desk(tmp_path, 1))

    def late(experiment, out, **_):
        RunDirectory.create(out, to_dict(experiment)).unlock()
        raise UsageError("not empty")

    trainer.train = late
    job.work(desk(tmp_path))
    assert trainer.calls == [("resume", "gridworld-leo", "seed-0")]


def test_an_experiment_that_cannot_be_trained_is_told(tmp_path, trainer):
    def refuses(*_, **__):
        raise UsageError("no")

    trainer.train = refuses
    with pytest.raises(UsageError, match="no"):
        carry_out(jobs([LEO], desk(tmp_path)), desk(tmp_path))


def test_a_run_of_other_settings_is_in_the_way(tmp_path, trainer):
    carry_out(jobs([LEO], desk(tmp_path)), desk(tmp_path))
    other = replace(LEO, experiment=replace(LEO.experiment, steps=7))
    with pytest.raises(UsageError, match="other settings"):
        jobs([other], desk(tmp_path))[0].check()


class Together:
    """Stands for training as one program, in which no more than `most` runs fit."""

    def __init__(self, most: int, diverges: tuple[int, ...] = ()):
        self.most, self.diverges, self.calls = most, diverges, []

    def __call__(self, experiment, seeds, root, observer, signals):
        self.calls.append(list(seeds))
        if len(seeds) > self.most:
            raise MemoryShortage("no room")
        if set(seeds) & set(self.diverges):
            raise NumericalError("nan")
        for seed in seeds:
            directory = RunDirectory.create(
                root / f"seed-{seed}", to_dict(replace(experiment, seed=seed))
            )
            directory.write("summary.json", {})
            directory.unlock()


@pytest.mark.parametrize(
    ("most", "called", "alone"),
    [
        (5, [[0, 1, 2, 3, 4]], []),
        (3, [[0, 1, 2, 3, 4], [0, 1], [2, 3, 4]], []),
        (2, [[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [3, 4]], ["seed-2"]),
    ],
)
def test_seeds_train_together_as_far_as_they_fit(
    tmp_path, trainer, monkeypatch, most, called, alone
):
    together = Together(most)
    monkeypatch.setattr(module, "train_together", together)
    carry_out(groups([LEO], desk(tmp_path, 5)), desk(tmp_path, 5))
    assert together.calls == called
    assert [name for _, _, name in trainer.calls] == alone
    assert all(job.finished for job in jobs([LEO], desk(tmp_path, 5)))


def test_more_seeds_join_those_that_are_there(tmp_path, trainer, monkeypatch):
    together = Together(9)
    monkeypatch.setattr(module, "train_together", together)
    for seeds in (2, 5):
        carry_out(groups([LEO], desk(tmp_path, seeds)), desk(tmp_path, seeds))
    assert together.calls == [[0, 1], [2, 3, 4]]


def test_a_run_continues_in_the_company_in_which_it_was_begun(tmp_path, trainer, monkeypatch):
    together = Together(9)
    monkeypatch.setattr(module, "train_together", together)
    root = tmp_path / "smoke/runs/gridworld-leo"
    monkeypatch.setattr(module, "begun_together", lambda _: [] if together.calls else [[0, 1]])
    carry_out(jobs([LEO], desk(tmp_path, 3)), desk(tmp_path, 3))
    assert together.calls == [[0, 1]] and (root / "seed-0").exists()
    assert trainer.calls == [("train", "gridworld-leo", "seed-2")]


def test_a_run_that_diverges_is_given_up_and_the_others_go_on(tmp_path, trainer, monkeypatch):
    train = trainer.train

    def diverges(experiment, out, **words):
        if experiment.seed == 1:
            RunDirectory.create(out, to_dict(experiment)).unlock()
            raise NumericalError("loss: not finite")
        train(experiment, out, **words)

    trainer.train = diverges
    monkeypatch.setattr(module, "train_together", Together(9, diverges=(1,)))
    carry_out(groups([LEO], desk(tmp_path, 3)), desk(tmp_path, 3))
    runs = jobs([LEO], desk(tmp_path, 3))
    assert [job.finished for job in runs] == [True, False, True]
    assert "not finite" in (runs[1].path / "failed.json").read_text()
    trainer.calls.clear()
    carry_out(runs, desk(tmp_path, 3))
    assert trainer.calls == []


def test_seeds_with_goals_of_their_own_train_alone(tmp_path):
    goals = replace(LEO.experiment.goals, subset=5)
    case = replace(LEO, experiment=replace(LEO.experiment, goals=goals))
    made = groups([case], desk(tmp_path, 3))
    assert [job.experiment.goals.subset_seed for job in made] == [0, 1, 2]


def test_a_run_whose_company_diverges_goes_on_alone(tmp_path, trainer, monkeypatch):
    together = Together(9, diverges=(1,))
    monkeypatch.setattr(module, "train_together", together)
    monkeypatch.setattr(module, "begun_together", lambda _: [] if together.calls else [[0, 1]])
    carry_out(jobs([LEO], desk(tmp_path, 2)), desk(tmp_path, 2))
    assert together.calls == [[0, 1]]
    assert [name for _, _, name in trainer.calls] == ["seed-0", "seed-1"]


def test_a_signal_heard_while_a_run_was_finished_stops_before_the_next(tmp_path, trainer):
    where = desk(tmp_path)
    finish = trainer.train

    def train(experiment, out, **words):
        finish(experiment, out, **words)
        where.signals.received = signal.SIGTERM

    trainer.train = train
    with pytest.raises(Interrupted, match="between two runs") as error:
        carry_out(jobs([LEO, PQN], where), where)
    assert error.value.exit_code == 75 and len(trainer.calls) == 1
