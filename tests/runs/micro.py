"""Micro runs: whole experiments that take about a second once compiled."""

import json
import os
import pty
import shlex
import struct
import subprocess
import sys
import time
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from allgoals.algorithms import CONTINUOUS
from allgoals.algorithms.base import Algorithm
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.point_maze import PointUMaze
from allgoals.experiment import EvaluationOptions, Experiment, to_dict
from allgoals.presets import preset
from allgoals.runs.directory import RunDirectory
from tests.algorithms.control import small

SMALL_Q = dict(width=16, layers=1, minibatch_size=16, epochs=1)
SMALL_PPO = dict(width=16, actor_layers=1, critic_layers=1, num_minibatches=2, epochs=1)
CLOCK = {"seconds", "steps_per_second"}  # columns of the metrics that no two runs share

# What to type after `allgoals train` to get micro("leo").
FLAGS = shlex.split("""
    gridworld/leo --env.size 6 --env.max-steps 20 --steps 1280 --num-envs 8 --num-steps 4
    --algorithm.width 16 --algorithm.layers 1 --algorithm.minibatch-size 16 --algorithm.epochs 1
    --log-every 2 --checkpoint-every 8 --evaluation.times 2 --evaluation.num-envs 32
    --evaluation.max-steps 20
""")


def micro(name: str = "leo", updates: int = 40, **changes) -> Experiment:
    """gridworld/NAME on a 6x6 map or point-u-maze/NAME, with 32 steps per update."""
    if name in CONTINUOUS:
        experiment = preset(f"point-u-maze/{name}")
        world = dict(env=PointUMaze(max_steps=20), algorithm=small(name, replay_size=256))
    else:
        experiment = preset(f"gridworld/{name}")
        world = dict(
            env=Gridworld(size=6, max_steps=20), algorithm=_small(name, experiment.algorithm)
        )
    sizes = dict(
        num_envs=8, num_steps=4, steps=updates * 32, log_every=2, checkpoint_every=8,
        evaluation=EvaluationOptions(times=2, num_envs=32, max_steps=20),
    )  # fmt: skip
    return replace(experiment, **(world | sizes | changes))


def _small(name: str, algorithm: Algorithm) -> Algorithm:
    """The algorithm with the smallest networks and minibatches that still learn."""
    if name.startswith("dual_leo_"):
        parts = ("leo", name.removeprefix("dual_leo_"))
        return replace(
            algorithm, **{part: _small(part, getattr(algorithm, part)) for part in parts}
        )
    return replace(algorithm, **(SMALL_PPO if name == "ppo" else SMALL_Q))


def prepare(path: Path, experiment: Experiment) -> Path:
    """A run directory with nothing but its configuration, to be begun with --resume."""
    RunDirectory.create(path, to_dict(experiment)).unlock()
    return path


def start(*words: str | Path, before: tuple[str, ...] = (), **environment: str) -> subprocess.Popen:
    """The command line as a program of its own, its output and errors in one pipe."""
    command = [*before, sys.executable, "-m", "allgoals", *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | environment,
    )  # fmt: skip


def start_in_terminal(*words: str | Path, **environment: str) -> tuple[subprocess.Popen, int]:
    """The command line in a terminal of 40 columns, and where to read what it shows."""
    mine, its = pty.openpty()
    ioctl(its, TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    command = [sys.executable, "-m", "allgoals", *map(str, words)]
    inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(command, stdout=its, stderr=its, env=inherited | environment)
    os.close(its)
    return process, mine


def shown(terminal: int) -> str:
    """All that a terminal showed until its program ended."""
    said = b""
    try:
        while more := os.read(terminal, 4096):
            said += more
    except OSError:  # the other side is closed
        pass
    os.close(terminal)
    return said.decode()


def finish(process: subprocess.Popen, timeout: float = 120) -> tuple[int, str]:
    """How a program ended and what it said."""
    try:
        said, _ = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, said


def train(path: Path, **environment: str) -> tuple[int, str]:
    """Begin or continue a prepared run in a process of its own."""
    return finish(start("train", "--resume", path, **environment))


def rows(path: Path, name: str = "metrics.jsonl") -> list[dict]:
    return RunDirectory(path).rows(name)


def summary(path: Path) -> dict:
    return json.loads((path / "summary.json").read_text())


def wait_until(holds, process: subprocess.Popen, timeout: float = 120) -> None:
    """Wait for something a program does."""
    end = time.monotonic() + timeout
    while not holds():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


def newest_step(path: Path) -> int:
    """The newest checkpoint that counts, 0 if there is none."""
    manifests = path.glob("checkpoints/*/MANIFEST.json")
    return max((int(manifest.parent.name) for manifest in manifests), default=0)


def last_update(path: Path) -> int:
    """The newest update that was logged, 0 if none was."""
    return max((row["update"] for row in rows(path)), default=0)


def timeless(path: Path) -> list[dict]:
    """The metrics without what the clock wrote."""
    return [{k: v for k, v in row.items() if k not in CLOCK} for row in rows(path)]


def check_same_end(path: Path, reference: Path) -> None:
    """The same parameters to the last bit, and the same rows: no gap, no repetition."""
    assert summary(path)["parameters_sha256"] == summary(reference)["parameters_sha256"]
    assert timeless(path) == timeless(reference)
    assert rows(path, "evaluations.jsonl") == rows(reference, "evaluations.jsonl")
