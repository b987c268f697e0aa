"""Runs trained as one program are the runs they would be alone, and resume bit for bit."""

import os

import pytest

from allgoals import api
from allgoals.errors import Interrupted, MemoryShortage, NumericalError, RunInUse
from allgoals.runs import memory, together, train
from allgoals.runs.checkpoint import digest
from allgoals.runs.directory import RunDirectory
from allgoals.runs.signals import Signals
from allgoals.runs.together import begun_together, train_together
from allgoals.runs.train import Observer
from tests.runs.micro import check_same_end, micro, rows, summary

SEEDS = [0, 3]


class StopsAt(Observer):
    """Asks to stop once an update is logged."""

    def __init__(self, update: int, signals: Signals):
        self.update, self.signals = update, signals

    def logged(self, row):
        if row["update"] >= self.update:
            self.signals.received = 15


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    root = tmp_path_factory.mktemp("group")
    train_together(micro(), SEEDS, root, Observer(), Signals())
    return root


def hashes(root) -> list[str]:
    return [summary(root / f"seed-{seed}")["parameters_sha256"] for seed in SEEDS]


def test_each_is_the_run_it_would_be_alone(group, tmp_path):
    """But for rounding, which the order of sums decides."""
    for seed in SEEDS:
        alone = api.train(micro(), seed=seed, out=tmp_path / str(seed)).path
        own = group / f"seed-{seed}"
        assert api.Run(own).experiment == api.Run(alone).experiment
        for one, other in zip(*(rows(p, "metrics.jsonl") for p in (own, alone)), strict=True):
            assert one.keys() == other.keys() and one["update"] == other["update"]
            for name in one.keys() - {"seconds", "steps_per_second"}:
                assert one[name] == pytest.approx(other[name], rel=1e-3, abs=1e-4), name
        updates = [[r["update"] for r in rows(p, "evaluations.jsonl")] for p in (own, alone)]
        assert updates[0] == updates[1] != []
    assert len(set(hashes(group))) == len(SEEDS)


def test_each_has_a_checkpoint_of_its_own(group):
    for seed in SEEDS:
        own = api.Run(group / f"seed-{seed}")
        assert digest(own.agent.mind[1]) == own.summary["parameters_sha256"]
    run = api.Run(group / "seed-3")
    assert not begun_together(group) and not list(group.glob("together-*"))
    before = (group / "seed-3" / "summary.json").read_bytes()
    api.resume(run.path)  # there is nothing to do
    assert (group / "seed-3" / "summary.json").read_bytes() == before


@pytest.mark.parametrize("stop", [2, 5])
def test_a_group_that_was_stopped_comes_to_the_same_end(group, tmp_path, stop):
    signals = Signals()
    with pytest.raises(Interrupted, match="the same command continues"):
        train_together(micro(), SEEDS, tmp_path, StopsAt(stop, signals), signals)
    assert begun_together(tmp_path) == [SEEDS] and not (tmp_path / "seed-0").exists()
    train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    for seed in SEEDS:
        check_same_end(tmp_path / f"seed-{seed}", group / f"seed-{seed}")


def test_a_group_that_was_stopped_while_moving_moves_the_rest(group, tmp_path, monkeypatch):
    moved = []

    def once(run, place):
        if moved:
            raise KeyboardInterrupt
        moved.append(place)
        os.rename(run, place)

    with monkeypatch.context() as patch:
        patch.setattr(together, "_move", once)
        with pytest.raises(KeyboardInterrupt):
            train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert (tmp_path / "seed-0").exists() and not (tmp_path / "seed-3").exists()
    train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert hashes(tmp_path) == hashes(group) and not begun_together(tmp_path)


def test_what_does_not_fit_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1)
    with pytest.raises(MemoryShortage):
        train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert not list(tmp_path.iterdir())


def test_what_no_longer_fits_goes_on_alone_from_where_it_was_saved(tmp_path, monkeypatch):
    signals = Signals()
    with pytest.raises(Interrupted):
        train_together(micro(), SEEDS, tmp_path, StopsAt(10, signals), signals)
    (checkpoints,) = tmp_path.glob("together-*/checkpoints")
    (checkpoints / "000000000016").mkdir()  # left by a crash while saving
    with monkeypatch.context() as patch, pytest.raises(MemoryShortage):
        patch.setattr(memory, "free_bytes", lambda: 1)
        train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert not begun_together(tmp_path)
    for seed in SEEDS:
        starts, observer = [], Observer()
        observer.started = starts.append
        api.resume(tmp_path / f"seed-{seed}", observer=observer)
        assert starts == [10] and rows(tmp_path / f"seed-{seed}")[-1]["update"] == 40


@pytest.mark.parametrize(("diverged", "saved"), [(6, 0), (22, 16)])
def test_when_one_diverges_each_goes_on_from_where_the_group_was_saved(
    group, tmp_path, monkeypatch, diverged, saved
):
    """A checkpoint is written every 8 updates; one program or two, the runs are as near."""

    def nan(numbers, update):
        if update >= diverged:
            raise NumericalError("loss: not finite")

    with monkeypatch.context() as patch:
        patch.setattr(train, "check_finite", nan)
        with pytest.raises(NumericalError):
            train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert not begun_together(tmp_path)
    for seed in SEEDS:
        path = tmp_path / f"seed-{seed}"
        starts = []
        observer = Observer()
        observer.started = starts.append
        api.resume(path, observer=observer)
        assert starts == [saved]
        ends = [rows(p, "metrics.jsonl") for p in (path, group / f"seed-{seed}")]
        assert [r["update"] for r in ends[0]] == [r["update"] for r in ends[1]]
        assert ends[0][-1]["leo/loss"] == pytest.approx(ends[1][-1]["leo/loss"], rel=1e-3)


def test_a_group_has_one_holder(tmp_path):
    held = RunDirectory(tmp_path / "together-0-3")
    held.path.mkdir()
    held.lock()
    with pytest.raises(RunInUse):
        train_together(micro(), SEEDS, tmp_path, Observer(), Signals())


def test_a_run_that_another_is_training_is_left_to_it(group, tmp_path):
    other = RunDirectory(tmp_path / "seed-3")
    other.path.mkdir()
    other.lock()
    with pytest.raises(RunInUse):
        train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert list(other.path.iterdir()) == [other.path / "lock"]
    assert begun_together(tmp_path) == [SEEDS]
    other.unlock()  # it was given up
    train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert hashes(tmp_path) == hashes(group) and not begun_together(tmp_path)


def test_half_a_group_is_not_taken_for_one(group, tmp_path, monkeypatch):
    """A group that is being removed no longer bears its name."""
    seen = []
    remove = together.shutil.rmtree

    def watched(path, **words):
        seen.append(begun_together(tmp_path))
        remove(path, **words)

    monkeypatch.setattr(together.shutil, "rmtree", watched)
    train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert seen[-1] == [] and hashes(tmp_path) == hashes(group)


def test_what_others_finished_is_left(group, tmp_path):
    for seed in SEEDS:
        (tmp_path / f"seed-{seed}").mkdir()
        (tmp_path / f"seed-{seed}" / "summary.json").write_text("{}")
    train_together(micro(), SEEDS, tmp_path, Observer(), Signals())
    assert (tmp_path / "seed-0" / "summary.json").read_text() == "{}"
    assert not begun_together(tmp_path)
