"""Both games of Craftax by the command line, as a newcomer types it: trained, judged, filmed."""

import json
import shlex

import imageio.v3 as imageio
import numpy as np
import pytest

from allgoals.render.clip import FPS
from tests.runs.micro import finish, rows, start

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
