"""Trackers get every number of a run, once, from its files."""

import struct
import sys
from types import SimpleNamespace

import pytest

from allgoals.errors import UsageError
from allgoals.experiment import to_dict
from allgoals.runs import track as module
from allgoals.runs.directory import RunDirectory
from allgoals.runs.track import Feed, track
from tests.runs.micro import micro


@pytest.fixture
def run(tmp_path):
    directory = RunDirectory.create(tmp_path / "run", to_dict(micro()))
    directory.unlock()
    for update in (1, 2):
        write(directory, update)
    return directory


def write(directory, update):
    row = {"update": update, "steps": 32 * update, "leo/loss": 1 / update, "seconds": 1.5 * update}
    directory.append("metrics.jsonl", row)
    if update == 2:
        row = {"update": 2, "steps": 64, "mean_reachable": {"agent": 0.25, "leo": None}}
        directory.append("evaluations.jsonl", row)


class Kept:
    def __init__(self, *_):
        self.rows, self.closed = [], False

    def write(self, steps, numbers):
        self.rows.append((steps, numbers))

    def close(self):
        self.closed = True


FIRST = (32, {"leo/loss": 1.0, "seconds": 1.5})
SECOND = (64, {"leo/loss": 0.5, "seconds": 3.0, "evaluation/agent": 0.25})


def test_a_row_is_fed_once_and_numbers_of_one_step_together(run):
    feed = Feed(run, Kept())
    feed.pass_on()
    assert feed.sink.rows == [FIRST, SECOND]
    run.keep_rows("metrics.jsonl", lambda row: row["update"] < 2)  # as a resumed run does
    feed.pass_on()
    write(run, 2)
    write(run, 3)
    feed.pass_on()
    assert feed.sink.rows[2:] == [(96, {"leo/loss": pytest.approx(1 / 3), "seconds": 4.5})]


@pytest.mark.parametrize("end", ["summary.json", "failed.json"])
def test_following_ends_with_the_run(run, monkeypatch, end):
    kept = Kept()
    monkeypatch.setitem(module.SINKS, "tensorboard", lambda _: kept)

    def sleep(_):
        write(run, 3)
        run.write(end, {})

    monkeypatch.setattr(module.time, "sleep", sleep)
    track([run.path], "tensorboard", follow=True)
    assert [steps for steps, _ in kept.rows] == [32, 64, 96] and kept.closed


def test_tensorboard_files_hold_the_numbers(run):
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    track([run.path], "tensorboard", follow=False)
    [file] = (run.path / "tensorboard").iterdir()
    data, found = file.read_bytes(), {}
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = Event.FromString(data[12 : 12 + length])
        found |= {(event.step, v.tag): v.simple_value for v in event.summary.value}
        data = data[16 + length :]
    right = {(steps, name): v for steps, row in (FIRST, SECOND) for name, v in row.items()}
    assert found == pytest.approx(right)


def test_weights_and_biases_gets_the_same(run, monkeypatch):
    logged, said = [], {}
    fake = SimpleNamespace(log=lambda row, step: logged.append((step, row)), finish=logged.clear)
    monkeypatch.setitem(
        sys.modules, "wandb", SimpleNamespace(init=lambda **words: said.update(words) or fake)
    )
    sink = module.WeightsAndBiases(run)
    Feed(run, sink).pass_on()
    assert logged == [FIRST, SECOND] and said["config"] == to_dict(micro())
    sink.close()
    assert logged == []


@pytest.mark.parametrize(("to", "library"), [("tensorboard", "tensorboardX"), ("wandb", "wandb")])
def test_a_library_that_is_missing_is_named(run, monkeypatch, to, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf"allgoals\[{to}\]"):
        track([run.path], to, follow=False)
