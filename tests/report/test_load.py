import io
import json
import zipfile

import numpy as np
import pytest

from allgoals.errors import UsageError
from allgoals.report.load import load_run, start_of
from tests.report.synthetic import config, write_run


class Malicious:
    """What a pickle would run if it were loaded."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def evaluated(**changes):
    """A row of evaluations.jsonl that is right but for the changes."""
    row = {"mean_reachable": {"agent": 0.5}, "success": {"agent": [1, 0, 0]}}
    return json.dumps({"update": 1, "steps": 1} | row | changes)


@pytest.fixture
def path(tmp_path):
    return write_run(tmp_path / "run", config(), {100: {"agent": [1, 0, 0]}})


def test_a_whole_run(path):
    run = load_run(path)
    assert (run.finished, run.steps, run.seconds, run.seed) == (True, 200, 20.0, 0)
    assert run.values.shape == (7, 3)
    assert run.goals.layout.goal_cells.tolist() == [1, 3, 6]
    assert run.starts[0].command == "allgoals train 'a b'"
    assert run.last.steps == 100


def test_a_start_names_its_machine_and_what_ran_there():
    start = {"devices": ["cpu"], "platform": "Linux-6", "command": [], "packages": {}}
    assert start_of(start).machine == "cpu of Linux-6"  # an early record
    start |= {"processor": "EPYC", "cores": 2, "memory_gib": 23, "devices": ["L40S"] * 4}
    assert start_of(start).machine == "4 x L40S of EPYC, 2 cores, 23 GiB, Linux-6"
    start |= {"packages": {"allgoals": "1.2", "jax": "0.10"}, "commit": "abc"}
    assert start_of(start).made_by.endswith("-6, with python ?, allgoals 1.2, jax 0.10, commit abc")


def test_half_written_values_of_an_unfinished_run_are_not_read(path):
    (path / "summary.json").unlink()
    (path / "values.npz").write_bytes(b"PK half")
    run = load_run(path)
    assert run.values is None and not run.finished
    assert (run.steps, run.seconds) == (100, 10.0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.json", "{"),
        ("config.json", '{"format": 1}'),
        ("config.json", '{"format": 1, "experiment": []}'),
        ("config.json", json.dumps({"format": 1, "experiment": config() | {"seed": "0"}})),
        ("config.json", json.dumps({"format": 1, "experiment": config() | {"algorithm": "Leo"}})),
        ("config.json", "[" * 100_000),
        ("goals.json", "[]"),
        ("goals.json", '{"names": [1], "reachable": null, "layout": null}'),
        ("goals.json", '{"names": ["a", "a"], "reachable": null, "layout": null}'),
        ("goals.json", '{"names": ["a"], "reachable": [true, true], "layout": null}'),
        ("goals.json", '{"names": ["a"], "reachable": null, "layout": {"kind": "grid"}}'),
        ("evaluations.jsonl", evaluated(mean_reachable={})),
        ("evaluations.jsonl", evaluated(mean_reachable=3)),
        ("evaluations.jsonl", evaluated(mean_reachable={"agent": "x"})),
        ("evaluations.jsonl", evaluated(success={"agent": [1]})),
        ("evaluations.jsonl", evaluated(success={"agent": [[1], [2, 3]]})),
        ("evaluations.jsonl", evaluated(steps=None)),
        ("metrics.jsonl", '{"update": 1}'),
        ("metrics.jsonl", '{"update": 1, "steps": 1' + "0" * 400 + "}"),
        ("environment.json", '[{"command": [3]}]'),
        ("environment.json", "3"),
        ("summary.json", "[1]"),
        ("values.npz", "no archive"),
    ],
)
def test_malformed_files_are_named(path, name, text):
    (path / name).write_text(text)
    with pytest.raises(UsageError, match=name):
        load_run(path)


@pytest.mark.parametrize(
    "values",
    [np.zeros((2, 3)), np.full((7, 3), np.nan), np.array([[Malicious()] * 3] * 7, object)],
    ids=["shape", "not finite", "pickle"],
)
def test_bad_values_are_refused(path, values):
    np.savez(path / "values.npz", values=values)
    with pytest.raises(UsageError, match=r"values\.npz is malformed"):
        load_run(path)


def test_a_broken_header_of_values_is_refused(path):
    file = io.BytesIO()
    np.save(file, np.zeros((7, 3)))
    with zipfile.ZipFile(path / "values.npz", "w") as archive:
        archive.writestr("values.npy", file.getvalue().replace(b"}", b" "))
    with pytest.raises(UsageError, match=r"values\.npz is malformed"):
        load_run(path)


def test_a_map_that_does_not_hold_its_goals_is_refused(path):
    goals = json.loads((path / "goals.json").read_text())
    goals["layout"]["goals"][0] = [1, 1]  # a wall
    (path / "goals.json").write_text(json.dumps(goals))
    with pytest.raises(UsageError, match=r"goals\.json is malformed"):
        load_run(path)
