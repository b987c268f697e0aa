"""A run killed at any moment and continued ends with the same bits."""

import random
import signal
import time
from pathlib import Path

import pytest

from allgoals.experiment import EvaluationOptions
from tests.runs import micro as micro_runs
from tests.runs.micro import check_same_end, last_update, micro, newest_step, prepare

KILLS = {
    "ppo": 3, "pqn": 3, "pqn_her": 3, "leo": 4, "dual_leo_pqn": 3, "dual_leo_ppo": 4,
    "sac_her": 2, "dual_leo_sac": 2,
}  # fmt: skip
FAILPOINTS = {
    "leo": ["before_write:2", "mid_write:2", "before_manifest:2"],
    "pqn": ["replacing_MANIFEST.json:2", "before_clean:3", "mid_remove:3"],
    "leo_sac": ["mid_write:2"],
}
SLOW = [pytest.param("leo_sac", marks=pytest.mark.slow)]


@pytest.mark.parametrize("name", ["leo", "pqn", *SLOW])
def test_killed_while_saving(name, tmp_path, reference, finished_once):
    """kill -9 at each stage of a save costs at most the interval under way, and no bit."""
    experiment = micro(name)
    path = prepare(tmp_path / "killed", experiment)
    for failpoint in FAILPOINTS[name]:
        code, said = micro_runs.train(path, ALLGOALS_FAILPOINT=f"{failpoint}=kill")
        assert code == -signal.SIGKILL, said
        assert last_update(path) - newest_step(path) <= 2 * experiment.checkpoint_every
    assert newest_step(path) > 0
    code, said = micro_runs.train(path)
    assert code == 0, said
    check_same_end(path, finished_once if experiment == micro() else reference(experiment))
    assert not list(path.rglob("*.tmp"))
    assert len(list((path / "checkpoints").iterdir())) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kills"), KILLS.items())
def test_killed_at_random_moments(name, kills, tmp_path, reference, record_property):
    """kill -9 at 24 random moments in all: loading, training, saving, at the end."""
    experiment = micro(
        name, updates=1500, log_every=10, checkpoint_every=50,
        evaluation=EvaluationOptions(times=3, num_envs=32, max_steps=20),
    )  # fmt: skip
    uninterrupted = reference(experiment)
    chance = random.Random(f"{name} 0")
    done, attempt = [], 0
    while len(done) < kills:
        attempt += 1
        path = prepare(tmp_path / f"killed {attempt}", experiment)
        while len(done) < kills and not (path / "summary.json").exists():
            done += _kill_once(path, chance)
        code, said = micro_runs.train(path)
        assert code == 0, said
        check_same_end(path, uninterrupted)
    record_property("kills", done)
    print(f"{name}: killed {done}")


def _kill_once(path: Path, chance: random.Random) -> list[str]:
    """Kill after a random time, mostly once training goes on; says when, if it was not too late."""
    saved, old = newest_step(path), _inode(path / "metrics.jsonl")
    goes_on = lambda: _inode(path / "metrics.jsonl") != old and last_update(path) > saved
    process = micro_runs.start("train", "--resume", path)
    if chance.random() < 0.2:
        time.sleep(chance.uniform(0.3, 3))
    else:
        micro_runs.wait_until(lambda: goes_on() or process.poll() is not None, process)
        time.sleep(chance.uniform(0, 2.5))
    process.kill()
    code, _ = micro_runs.finish(process)
    told = f"at {last_update(path)}, saved {newest_step(path)}"
    return [told] if code == -signal.SIGKILL else []


def _inode(file: Path) -> int:
    """Changes when a resumed run puts its rows in order."""
    return file.stat().st_ino if file.exists() else 0
