"""Craftax-Classic by the command line, as a newcomer types it: trained, judged, filmed."""

import json
import shlex

import imageio.v3 as imageio
import pytest

from tests.runs.micro import finish, start

pytestmark = pytest.mark.slow

TRAIN = """train craftax-classic/leo --steps 128 --num-envs 8 --num-steps 4 --env.max-steps 8
    --algorithm.width 16 --algorithm.layers 1 --algorithm.minibatch-size 16 --log-every 1
    --evaluation.times 0"""


def run(words: str) -> str:
    code, said = finish(start(*shlex.split(words)), timeout=600)
    assert code == 0, said
    return said


def test_trained_judged_and_filmed(tmp_path):
    run(f"{TRAIN} --out {tmp_path}/run")
    run(f"evaluate {tmp_path}/run --episodes 1 --max-steps 4 --out {tmp_path}/success.json")
    judged = json.loads((tmp_path / "success.json").read_text())
    assert len(judged["goals"]) == 136
    assert all(0 <= rate <= 1 for rate in judged["success"]["agent"])
    run(f"watch {tmp_path}/run --goal inventory/stone_5 --max-steps 4 --out {tmp_path}/clip.mp4")
    frames = imageio.imread(tmp_path / "clip.mp4")
    assert len(frames) >= 5 and frames[0].std() > 10  # a step each, and a game to be seen
