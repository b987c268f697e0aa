"""An ant through the whole loop: trained, killed, continued to the same bits, evaluated, filmed."""

import signal
from dataclasses import replace

import pytest

from allgoals import api
from allgoals.experiment import EvaluationOptions
from allgoals.presets import preset
from tests.algorithms.control import small
from tests.runs import micro as micro_runs
from tests.runs.micro import check_same_end, newest_step, prepare, rows, start

pytestmark = pytest.mark.slow
pytest.importorskip("brax")


@pytest.fixture(scope="module")
def experiment():
    whole = preset("ant-u-maze/leo_sac")
    return replace(
        whole, algorithm=small("leo_sac", replay_size=64), env=replace(whole.env, max_steps=8),
        num_envs=4, num_steps=4, steps=96, log_every=1, checkpoint_every=2,
        evaluation=EvaluationOptions(times=1, episodes=1, num_envs=4, max_steps=8),
    )  # fmt: skip


def test_killed_and_continued_it_ends_with_the_same_bits(experiment, tmp_path):
    reference = api.train(experiment, out=tmp_path / "reference").path
    assert [row["update"] for row in rows(reference)] == [1, 2, 3, 4, 5, 6]

    path = prepare(tmp_path / "killed", experiment)
    code, said = micro_runs.train(path, ALLGOALS_FAILPOINT="before_write:2=kill")
    assert code == -signal.SIGKILL, said
    assert newest_step(path) == 2
    code, said = micro_runs.train(path)
    assert code == 0, said
    check_same_end(path, reference)

    clip = tmp_path / "clip.mp4"
    watch = ("watch", path, "--goal", "cell/1-2", "--max-steps", "8", "--out", clip)
    code, said = micro_runs.finish(start(*watch))
    assert code == 0 and clip.stat().st_size > 1000, said
