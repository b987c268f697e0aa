"""The files of a run: whole or not there, one owner at a time, a name of their own."""

import errno
import fcntl
import json
import os
import re
import subprocess

import pytest

from allgoals.errors import RunInUse, SaveError, UsageError
from allgoals.runs import environment, failpoints
from allgoals.runs.directory import RunDirectory, check_new, new_path, write_text


@pytest.fixture
def directory(tmp_path) -> RunDirectory:
    made = RunDirectory.create(tmp_path / "run", {"a": 1})
    made.unlock()
    return made


def test_a_line_cut_short_by_a_crash_does_not_count(directory):
    for update in (2, 4):
        directory.append("metrics.jsonl", {"update": update})
    with open(directory.path / "metrics.jsonl", "a") as file:
        file.write('{"update": 6, "los')
    assert [row["update"] for row in directory.rows("metrics.jsonl")] == [2, 4]
    directory.keep_rows("metrics.jsonl", lambda row: row["update"] <= 2)
    assert (directory.path / "metrics.jsonl").read_text() == '{"update": 2}\n'


@pytest.mark.parametrize("junk", [b"\xff\xfe\x00", b"[1]\n", b"{}\n", b"null\n", b"[" * 100_000])
def test_lines_that_are_no_rows_do_not_count(directory, junk):
    (directory.path / "metrics.jsonl").write_bytes(junk)
    assert directory.rows("metrics.jsonl") == []


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr(failpoints, "_passed", {})
    monkeypatch.setenv("ALLGOALS_FAILPOINT", "replacing_file:2=raise")
    write_text(tmp_path / "file", "old")
    with pytest.raises(OSError, match="failpoint"):
        write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"


def test_a_file_that_cannot_be_written_is_named(directory):
    (directory.path / "metrics.jsonl").mkdir()
    with pytest.raises(SaveError, match="metrics.jsonl"):
        directory.append("metrics.jsonl", {"update": 1})
    with pytest.raises(SaveError, match="metrics.jsonl"):
        directory.write("metrics.jsonl", {})


def test_two_runs_begun_in_the_same_second_have_two_directories(tmp_path):
    assert len({new_path(tmp_path, "same name/with:signs") for _ in range(20)}) == 20
    assert all(os.path.dirname(path) == str(tmp_path) for path in tmp_path.iterdir())


def test_a_root_that_is_a_file_is_named(tmp_path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(UsageError, match="runs"):
        new_path(tmp_path / "runs", "name")


def test_one_holder_at_a_time(directory):
    first, second = RunDirectory(directory.path), RunDirectory(directory.path)
    first.lock()
    with pytest.raises(RunInUse, match=f"process {os.getpid()} on"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_a_run_stopped_before_its_configuration_can_be_begun_again(tmp_path):
    (tmp_path / "lock").write_text("process 1 on somewhere\n")
    (tmp_path / "config.json.tmp").write_text("{")
    check_new(tmp_path)
    RunDirectory.create(tmp_path, {"a": 1}).unlock()
    assert RunDirectory.open(tmp_path).config == {"a": 1}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": 2}', '{"format": "1"}', "[" * 9999]
)
def test_a_configuration_of_another_kind_is_refused(directory, text):
    (directory.path / "config.json").write_text(text)
    with pytest.raises(UsageError, match="config.json"):
        _ = directory.config


def test_a_name_too_long_is_told(tmp_path):
    for call in (RunDirectory.open, check_new):
        with pytest.raises(UsageError, match="too long"):
            call(tmp_path / ("x" * 300))


def test_no_file_holds_where_it_lies(finished):
    for file in finished.rglob("*"):
        if file.is_file() and file.name != "environment.json":
            assert str(finished.parent).encode() not in file.read_bytes(), file
    assert json.loads((finished / "config.json").read_text())["format"] == 1


def test_a_disk_that_knows_no_locks_is_told_of(tmp_path, monkeypatch):
    """And not taken for a run that somebody holds, for which others wait."""

    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(SaveError, match="cannot lock .*lock"):
        RunDirectory(tmp_path).lock()


def test_the_commit_is_the_one_of_our_own_source(tmp_path, monkeypatch):
    """Installed within a checkout of something else, there is none to name."""

    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    source = tmp_path / "environment.py"
    source.write_text("")
    monkeypatch.setattr(environment, "__file__", str(source))
    assert environment._commit() is None
    git("init")
    assert environment._commit() is None
    git("add", "environment.py")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "first")
    assert re.fullmatch("[0-9a-f]{12}", environment._commit())
    source.write_text("# changed")
    assert environment._commit().endswith("-dirty")
