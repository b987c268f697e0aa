"""A sweep of 100 trials that really train, whose workers are killed at random.

Run as a script this module is one worker: python tests/slow/test_killed_sweep.py FOLDER
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from allgoals.runs.cache import enable_compile_cache
from allgoals.runs.signals import Signals
from allgoals.runs.train import Observer
from allgoals.studies.budgets import craftax
from allgoals.studies.sweep import Sweep
from allgoals.studies.types import Budget, Desk

pytestmark = pytest.mark.slow
pytest.importorskip("optuna")

TRIALS, WORKERS, KILLS = 100, 2, 10
VALUES = 500  # of each hyperparameter: a hundred draws of both are distinct


def base(budget: Budget):
    experiment = craftax(budget, "gridworld", "pqn")
    algorithm = replace(experiment.algorithm, width=8, minibatch_size=32)
    once = replace(experiment.evaluation, times=1, max_steps=8)
    return replace(
        experiment, algorithm=algorithm, evaluation=once, steps=512, num_envs=8, num_steps=8,
        log_every=2, checkpoint_every=2,
    )  # fmt: skip


MICRO = Sweep(
    name="micro", paper="none", about="Trials of a second each.", base=base,
    space={  # traced, so that all trials share what is compiled
        "algorithm.learning_rate": tuple(1e-4 * (10 + i) for i in range(VALUES)),
        "algorithm.epsilon_decay": tuple((1 + i) / (2 * VALUES) for i in range(VALUES)),
    },
    best={}, trials={"smoke": TRIALS},
)  # fmt: skip


def desk(out: Path) -> Desk:
    def say(text: str) -> None:
        print(text, flush=True)

    return Desk(out, "smoke", 1, "none", say, Observer(), Signals())


def worker(out: Path, log: Path) -> subprocess.Popen:
    command = [sys.executable, __file__, str(out)]
    with open(log, "a") as file:
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)


def killed_at_random(out: Path) -> Path:
    """Workers go on until all is done; after every few trials, at some moment of the next, one dies
    and another takes its place."""
    log, chance, kills = out / "log", random.Random(0), 0
    workers = [worker(out, log) for _ in range(WORKERS)]
    while any(one.poll() is None for one in workers):
        time.sleep(0.2)
        done = len(list(out.glob(f"smoke/{MICRO.name}/trials/*/summary.json")))
        if kills < KILLS and done > kills * TRIALS / (KILLS + 2):
            time.sleep(chance.uniform(0, 3))
            i = chance.randrange(WORKERS)
            workers[i].kill()
            workers[i].wait()
            kills += 1
            workers[i] = worker(out, log)
    assert [one.returncode for one in workers] == [0] * WORKERS, log.read_text()
    assert kills == KILLS
    return log


def hash_of(run: Path) -> str:
    return json.loads((run / "summary.json").read_text())["parameters_sha256"]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_hundred_trials_that_train_survive_killed_workers(tmp_path):
    out, calm = desk(tmp_path / "killed"), desk(tmp_path / "calm")
    for one in (out, calm):
        one.folder(MICRO.name).mkdir(parents=True)  # and no database: workers make it at once
    log = killed_at_random(out.out)

    study = MICRO._trials(out).study
    states = Counter(t.state.name for t in study.trials if "index" in t.user_attrs)
    complete = [t for t in study.trials if t.state.name == "COMPLETE"]
    assert sorted(t.user_attrs["index"] for t in complete) == list(range(TRIALS))
    assert states["RUNNING"] == states["WAITING"] == 0, states
    # what was begun: each trial once, and again only where its worker had been killed
    assert TRIALS <= log.read_text().count("trial ") <= TRIALS + KILLS

    # an undisturbed sweep chooses the same, and what it trains is the same to the last bit
    MICRO._trials(calm).work(lambda index, chosen: 0.0)
    done, other = MICRO._trials(out).finished(), MICRO._trials(calm).finished()
    assert [one.parameters for one in done] == [one.parameters for one in other]
    assert len({tuple(one.parameters.items()) for one in done}) == TRIALS
    failed = {t.user_attrs["index"] for t in study.trials if t.state.name == "FAIL"}
    for index in {*sorted(failed)[:3], 0, 99}:
        assert MICRO.evaluate(calm, index, done[index].parameters) == done[index].value
        assert hash_of(MICRO._path(calm, index)) == hash_of(MICRO._path(out, index))


if __name__ == "__main__":
    enable_compile_cache()
    MICRO.work(desk(Path(sys.argv[1])))
