"""Both games of Craftax by the command line, as a newcomer types it: trained, judged, filmed."""

import json
import shlex
import subprocess
import sys

import imageio.v3 as imageio
import numpy as np
import pytest

from allgoals import api
from allgoals.render.clip import FPS
from allgoals.runs.directory import RunDirectory
from allgoals.runs.setup import build_checkpoints, build_trainer
from allgoals.validation import build_task
from tests.runs.micro import CLOCK, finish, rows, start

pytestmark = pytest.mark.slow

SIZES = """--steps 128 --num-envs 8 --num-steps 4 --env.max-steps 8 --log-every 1
    --evaluation.times 0"""
SMALL = "--algorithm.width 16 --algorithm.layers 1 --algorithm.minibatch-size 16"
SMALL_PARTS = """--algorithm.leo.width 16 --algorithm.leo.layers 1 --algorithm.leo.minibatch-size 16
    --algorithm.ppo.width 16 --algorithm.ppo.actor-layers 1 --algorithm.ppo.critic-layers 1
    --algorithm.ppo.num-minibatches 2"""


def run(words: str) -> str:
    code, said = finish(start(*shlex.split(words)), timeout=600)
    assert code == 0, said
    return said


def check_worlds(path, used):
    """So many were handed out; those being played and those left in the pool are all different."""
    run = api.Run(path)
    task = build_task(run.experiment)
    checkpoints = build_checkpoints(RunDirectory(path), run.experiment, task)
    _, state = checkpoints.restore(build_trainer(run.experiment, task).shapes)
    checkpoints.close()
    envs = state.actor.envs
    assert envs.pool.used == used and 0 <= envs.pool.generated - used < 16
    left = np.asarray(envs.pool.worlds.state.map)[used % 16 :] if used % 16 else []
    worlds = [np.asarray(world).tobytes() for world in (*envs.state.map, *left)]
    assert len(set(worlds)) == len(worlds) >= 8


@pytest.mark.parametrize(
    ("name", "sizes", "learners", "judges", "goals"),
    [
        ("craftax-classic/leo", SMALL, {"leo"}, ["agent"], 136),
        ("craftax-classic/pqn_her", SMALL, {"pqn"}, ["agent"], 136),
        ("craftax/dual_leo_ppo", SMALL_PARTS, {"leo", "ppo"}, ["agent", "leo", "uvfa"], 512),
    ],
)
def test_trained_judged_and_filmed(name, sizes, learners, judges, goals, tmp_path):
    run(f"train {name} {SIZES} {sizes} --out {tmp_path}/run")
    metrics = rows(tmp_path / "run")
    assert [row["update"] for row in metrics] == [1, 2, 3, 4]
    assert all(np.isfinite([*row.values()]).all() for row in metrics)
    assert all(row[f"{one}/gradient_norm"] > 0 for row in metrics for one in learners)
    assert sum(row["worlds/used"] for row in metrics) >= 8  # all of the first have ended
    check_worlds(tmp_path / "run", 8 + round(sum(row["worlds/used"] for row in metrics)))

    run(f"evaluate {tmp_path}/run --episodes 1 --max-steps 4 --out {tmp_path}/success.json")
    judged = json.loads((tmp_path / "success.json").read_text())
    assert len(set(judged["goals"])) == goals
    assert list(judged["success"]) == judges
    for rates in judged["success"].values():
        assert len(rates) == goals and set(rates) <= {0.0, 1.0}  # of a single episode

    run(f"watch {tmp_path}/run --goal inventory/stone_5 --max-steps 4 --out {tmp_path}/clip.mp4")
    frames = imageio.imread(tmp_path / "clip.mp4")
    assert len(frames) == 5 + FPS  # the first, one for each step, and the last for a second
    assert frames[0].std() > 10  # a game to be seen


TOGETHER = """
import sys
from dataclasses import replace
from pathlib import Path

from allgoals import api
from allgoals.experiment import EvaluationOptions
from allgoals.presets import preset
from allgoals.runs.signals import Signals
from allgoals.runs.together import train_together
from allgoals.runs.train import Observer

experiment = preset("craftax-classic/leo")
experiment = replace(
    experiment, num_envs=32, num_steps=4, steps=512, log_every=1,
    env=replace(experiment.env, max_steps=6), evaluation=EvaluationOptions(times=0),
)
train_together(experiment, [0, 1, 2], Path(sys.argv[1]), Observer(), Signals())
api.train(experiment, seed=1, out=Path(sys.argv[1]) / "alone")
"""


def test_seeds_train_together(tmp_path):
    """As wide as the preset is: networks that begin side by side must not wait for each other."""
    command = [sys.executable, "-c", TOGETHER, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    code, said = finish(process, timeout=300)
    assert code == 0, said
    found = [rows(tmp_path / f"seed-{seed}") for seed in range(3)]
    assert len({row["leo/loss"] for run in found for row in run}) == 12
    for own, alone in zip(found[1], rows(tmp_path / "alone"), strict=True):
        assert own["worlds/used"] == alone["worlds/used"]
        for name in own.keys() - CLOCK:
            assert own[name] == pytest.approx(alone[name], rel=1e-3, abs=1e-4), name
