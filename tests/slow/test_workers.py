"""Workers of a study die and come back; machines without a common disk share a sweep."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.slow.test_reproduce import read

pytestmark = pytest.mark.slow


def reproduce(out: Path, name: str, *words: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "allgoals", "reproduce", name, "--budget", "smoke"]
    return subprocess.Popen(
        [*command, "--out", str(out), *words], stdout=subprocess.PIPE, text=True
    )


def hashes(out: Path) -> dict[str, str]:
    found = {}
    for path in sorted((out / "smoke" / "runs").glob("*/seed-*/summary.json")):
        name = str(path.parent.relative_to(out))
        found[name] = json.loads(path.read_text())["parameters_sha256"]
    return found


def kill_a_worker(command: subprocess.Popen, out: Path, chance: random.Random) -> bool:
    """One of those at work, in the midst of a run; whether there was one."""
    while command.poll() is None:
        workers = psutil.Process(command.pid).children()
        begun = len(list((out / "smoke" / "runs").glob("*/seed-*/config.json")))
        if len(workers) > 1 and begun > len(hashes(out)):
            chance.choice(workers).send_signal(signal.SIGKILL)
            return True
        time.sleep(0.05)
    return False


def test_a_study_whose_workers_are_killed_ends_in_the_same_runs(tmp_path):
    """One is killed at work, then all that is left at once; the same command finishes it."""
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    assert reproduce(calm, "many-goals").wait(1200) == 0
    expected = hashes(calm)
    assert len(expected) == 8  # two methods, two shares of heads, two seeds

    chance = random.Random(0)
    command = reproduce(killed, "many-goals", "--workers", "2")
    assert kill_a_worker(command, killed, chance)
    time.sleep(chance.uniform(0, 2))
    group = psutil.Process(command.pid)
    for one in [*group.children(recursive=True), group]:
        one.kill()
    command.wait()
    assert len(hashes(killed)) < len(expected)

    command = reproduce(killed, "many-goals", "--workers", "2")
    assert command.wait(1200) == 0
    assert hashes(killed) == expected
    tables = [read(out / "smoke" / "many-goals" / "success.csv") for out in (calm, killed)]
    assert tables[0] == tables[1]


def test_machines_without_a_common_disk_share_a_sweep(tmp_path):
    """The second finds all trials done, trains none, and reports the same."""
    storage = ("--storage", f"sqlite:///{tmp_path}/shared.db")
    here, there = tmp_path / "here", tmp_path / "there"
    assert reproduce(here, "sweep-dual-leo-pqn", *storage).wait(1200) == 0
    assert reproduce(there, "sweep-dual-leo-pqn", *storage).wait(1200) == 0
    assert not list(there.rglob("summary.json"))
    ours, theirs = (read(out / "smoke/sweep-dual-leo-pqn/trials.csv") for out in (here, there))
    for one, other in zip(ours, theirs, strict=True):
        assert {k: one[k] for k in ("trial", "success", "algorithm.alpha")} == {
            k: other[k] for k in ("trial", "success", "algorithm.alpha")
        }
