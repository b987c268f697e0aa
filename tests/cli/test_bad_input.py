"""Wrong words are answered at once, on one screen, by name, and nothing is written."""

import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs.micro import micro, prepare

MOST_LINES = 24
TRAIN = "train gridworld/leo"

# A command line and a word that the answer must hold. RUN is a finished run, FILE a file,
# FOLDER a folder that is not empty, SPARE a folder that is, NEW a run that has not begun.
WRONG_COMMANDS = [
    ("", "no command"),
    ("trian", "did you mean: train"),
    ("Train", "did you mean: train"),
    ("--nonsense", "'--nonsense'"),
    ("'train gridworld/leo'", "'train gridworld/leo'"),
]
WRONG_EXPERIMENTS = [
    ("train", "which experiment"),
    ("train ''", "''"),
    ("train gridworld", "gridworld/leo"),
    ("train gridwrld/leo", "did you mean: gridworld"),
    ("train gridworld/leoo", "did you mean: leo"),
    ("train gridworld/LEO", "did you mean: leo"),
    ("train leo/gridworld", "'leo'"),
    ("train gridworld/../../x", "'..'"),
    ("train ../../x/leo", "'..'"),
    ("train --steps 10", "--steps"),
    ("train gridworld/leo extra", "extra"),
]
WRONG_FLAGS = [
    ("--stepss 10", "--steps"),
    ("--algorithm.clip 0.1", "--algorithm.clip"),
    ("--steps", "--steps"),
    ("--steps ''", "--steps"),
    ("--steps many", "'many'"),
    ("--steps 2.5", "'2.5'"),
    ("--steps nan", "'nan'"),
    ("--steps inf", "'inf'"),
    ("--steps 1e400", "'1e400'"),
    ("--steps 1e999999999", "'1e999999999'"),
    ("--steps 0", "--steps must be 1 or more"),
    ("--steps -5", "--steps must be 1 or more"),
    ("--steps 1e17", "--steps 100000000000000000"),
    ("--num-envs 0", "--num-envs"),
    ("--num-envs 1e9 --num-steps 1e6", "--num-envs"),
    ("--num-steps -1", "--num-steps"),
    ("--log-every 0", "--log-every"),
    ("--checkpoint-every 0", "--checkpoint-every"),
    ("--seed -1", "--seed"),
    ("--seed 1e10", "--seed"),
    ("--evaluation.times -1", "--evaluation.times"),
    ("--evaluation.num-envs 0", "--evaluation.num-envs"),
    ("--evaluation.episodes 0", "--evaluation.episodes"),
    ("--evaluation.max-steps 1e10", "--evaluation.max-steps"),
    ("--env.size 1", "env.size"),
    ("--env.size 1000", "env.size"),
    ("--env.size big", "--env.size"),
    ("--env.wall-probability 2", "env.wall-probability"),
    ("--env.wall-probability nan", "env.wall-probability"),
    ("--env.map-seed -1", "env.map-seed"),
    ("--env.max-steps 0", "env.max-steps"),
    ("--env.max-steps 9999999999", "env.max-steps"),
    ("--algorithm.gamma 2", "--algorithm.gamma"),
    ("--algorithm.epsilon-start -1", "--algorithm.epsilon-start"),
    ("--algorithm.epsilon-decay 0", "--algorithm.epsilon-decay"),
    ("--algorithm.learning-rate 0", "--algorithm.learning-rate"),
    ("--algorithm.learning-rate nan", "--algorithm.learning-rate"),
    ("--algorithm.learning-rate inf", "--algorithm.learning-rate"),
    ("--algorithm.learning-rate fast", "--algorithm.learning-rate"),
    ("--algorithm.learning-rate-decay maybe", "maybe"),
    ("--algorithm.goal-fraction 0", "--algorithm.goal-fraction"),
    ("--algorithm.width 0", "--algorithm.width"),
    ("--algorithm.layers 1.5", "--algorithm.layers"),
    ("--algorithm.minibatch-size 100", "--algorithm.minibatch-size 100"),
    ("--algorithm.minibatch-size 1000000007", "--algorithm.minibatch-size"),
    ("--goals.sampler best", "--goals.sampler"),
    ("--goals.subset 0", "--goals.subset"),
    ("--goals.subset few", "--goals.subset"),
    ("--goals.subset 1000", "--goals.subset 1000"),
    ("--goals.include position/8-8", "--goals.subset"),
    ("--goals.subset 3 --goals.include Position/8-8", "did you mean: position/8-8"),
    ("--goals.subset 3 --goals.include position/99-99", "'position/99-99'"),
    ("--goals.subset 3 --goals.include ''", "''"),
    ("--goals.subset 3 --goals.include position/8-8 position/8-8", "position/8-8 twice"),
    ("--goals.subset 1 --goals.include position/8-8 position/8-9", "--goals.subset 1"),
    ("--out FILE", "is a file"),
    ("--out FILE/below", "cannot write in"),
    ("--out FOLDER", "is not empty"),
    ("--out RUN", "train --resume"),
    (f"--out SPARE/{'x' * 300}", "too long"),
    ("--resume RUN", "--resume RUN"),
]
WRONG_PARTS = [
    ("train gridworld/ppo --algorithm.num-minibatches 7", "--algorithm.num-minibatches 7"),
    ("train gridworld/ppo --algorithm.clip 0", "--algorithm.clip"),
    ("train gridworld/pqn --algorithm.relabel some", "--algorithm.relabel"),
    ("train gridworld/dual_leo_ppo --algorithm.ppo.gamma -1", "--algorithm.ppo.gamma"),
    ("train gridworld/dual_leo_ppo --algorithm.ppo.num-minibatches 7", "ppo.num-minibatches 7"),
    ("train gridworld/dual_leo_pqn --algorithm.alpha 1.5", "--algorithm.alpha"),
    ("train gridworld/dual_leo_pqn --algorithm.leo.minibatch-size 3", "leo.minibatch-size 3"),
    ("train point-u-maze/leo", "point-u-maze"),
    ("train gridworld/sac", "gridworld"),
    ("train point-u-maze/sac --algorithm.replay-size 1000", "--algorithm.replay-size 1000"),
    ("train point-u-maze/sac --algorithm.replay-size 51201", "51200 is"),
    ("train point-u-maze/sac --algorithm.warm-up 9e9", "--algorithm.warm-up"),
    ("train point-u-maze/sac --algorithm.agent.hindsight 2", "--algorithm.agent.hindsight"),
    ("train point-u-maze/sac --algorithm.agent.relabel past", "--algorithm.agent.relabel"),
    ("train point-u-maze/leo_sac --algorithm.agent.goals-per-update -1", "goals-per-update"),
    ("train point-u-maze/leo_sac --algorithm.agent.policy-update none", "policy-update"),
    ("train point-u-maze/leo_sac --goals.maze.spacing 9", "goals.maze.spacing"),
    ("train point-u-maze/leo_sac --goals.maze.grid-reach 0", "goals.maze.grid-reach"),
    ("train point-u-maze/leo_sac --goals.maze.reward none", "--goals.maze.reward"),
    ("train point-u-maze/crl --algorithm.agent.energy cosines", "--algorithm.agent.energy"),
    ("train point-u-maze/crl --algorithm.agent.loss binary", "energy"),
    ("train ant-u-maze/sac --env.walls none", "--env.walls"),
]
WRONG_RUNS = [
    ("train --resume", "--resume"),
    ("train --resume nowhere", "no such run: nowhere"),
    ("train --resume ''", "config.json"),
    ("train --resume FOLDER", "config.json"),
    ("train --resume FILE", "config.json"),
    ("train --resume RUN --steps 10", "--resume"),
    ("evaluate", "a run directory"),
    ("evaluate nowhere", "no such run: nowhere"),
    ("evaluate FILE", "config.json"),
    ("evaluate FOLDER", "config.json"),
    ("evaluate NEW", "no checkpoint yet"),
    ("watch NEW", "no checkpoint yet"),
    ("evaluate RUN --episodes 0", "--episodes"),
    ("evaluate RUN --episodes -3", "--episodes"),
    ("evaluate RUN --max-steps 0", "--max-steps"),
    ("evaluate RUN --max-steps 1e10", "--max-steps"),
    ("evaluate RUN --num-envs none", "--num-envs"),
    ("evaluate RUN --out FOLDER", "--out"),
    ("evaluate RUN --out nowhere/results.json", "nowhere/results.json"),
    ("evaluate RUN RUN", "RUN"),
    ("reproduce", "NAME"),
    ("reproduce nain", "did you mean: main"),
    ("reproduce --budget smoke", "NAME"),
    ("reproduce main --budget huge", "huge"),
    ("reproduce main --seeds 0", "--seeds"),
    ("reproduce main --seeds many", "'many'"),
    ("reproduce main --workers 0", "--workers"),
    ("reproduce main --out FILE", "is a file"),
    ("reproduce main --goal inventory/coal_1", "main is not about one goal"),
    ("reproduce components --goal inventory/cola_1", "did you mean: inventory/coal_1"),
    ("reproduce main --storage sqlite:///x", "--storage is for sweeps"),
    ("reproduce speed --seeds 3", "speed has none"),
    ("reproduce speed --workers 2", "measured by one process"),
    ("reproduce speed --together True", "speed has no seeds to train together"),
    ("reproduce sweep-leo --together False", "sweep-leo has no seeds to train together"),
    ("reproduce sweep-leo --storage nonsense --out SPARE", "--storage nonsense"),
    ("track", "which runs"),
    ("track nowhere", "no such run: nowhere"),
    ("track RUN --to excel", "excel"),
    ("report", "which runs"),
    ("report nowhere", "no such run: nowhere"),
    ("report RUN FOLDER", "config.json"),
    ("report RUN --out FOLDER", "--out"),
    ("report RUN --out nowhere/report.html", "nowhere/report.html"),
    ("report RUN --outt x", "--out"),
    ("watch", "a run directory"),
    ("watch nowhere", "no such run: nowhere"),
    ("watch RUN --out clip.avi", "'.avi'"),
    ("watch RUN --out clip", "''"),
    ("watch RUN --out nowhere/clip.gif", "nowhere/clip.gif"),
    ("watch RUN --goal position/99-99", "'position/99-99'"),
    ("watch RUN --goal Position/3-3", "did you mean: position/3-3"),
    ("watch RUN --goal ''", "''"),
    ("watch RUN --max-steps 0", "--max-steps"),
    ("watch RUN --max-steps 1e10", "--max-steps"),
    ("watch RUN --seed -1", "--seed"),
]
WRONG_OTHERS = [
    ("goals", "a task's name"),
    ("goals gridwrld", "did you mean: gridworld"),
    ("goals ''", "''"),
    ("goals gridworld --search zzz", "'zzz'"),
    ("goals gridworld --search POSITION/8-8", "did you mean: position/8-8"),
    ("goals gridworld extra", "extra"),
    ("bench", "which benchmark? usage: allgoals bench NAME [options] goals"),
    ("bench speed", "'speed'"),
    ("bench goals --sizes 0", "--sizes"),
    ("bench goals --sizes many", "--sizes"),
    ("bench goals --sizes 1e9", "65536"),
    ("bench goals --repeats -1", "1 or more"),
    ("bench goals --out figure.pdf", "figure.pdf"),
    ("bench goals --task maze", "'maze'"),
    ("bench goals --task point-u-maze", "throughput point-u-maze"),
    ("bench goals --task craftax-classic --sizes 137", "1 to 136"),
    ("bench throughput mazes", "'mazes'"),
    ("bench throughput gridworld/leoo", "did you mean: leo"),
    ("bench throughput --minibatch-size 500", "--minibatch-size"),
    ("bench throughput --epochs 0", "1 or more"),
    ("evaluate --random mazes", "'mazes'"),
    ("train craftax/leo/huge", "valid: laptop, paper"),
    ("train craftax-classic/leo --env.max-steps 0", "env.max-steps"),
    ("goals craftax --search stone_pickax3", "tools/stone_pickaxe"),
    ("doctor now", "now"),
]
TABLE = [
    *WRONG_COMMANDS, *WRONG_EXPERIMENTS, *((f"{TRAIN} {line}", word) for line, word in WRONG_FLAGS),
    *WRONG_PARTS, *WRONG_RUNS, *WRONG_OTHERS,
]  # fmt: skip


@pytest.fixture
def places(tmp_path, finished) -> dict[str, Path]:
    """What the table speaks of."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "spare").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "file").write_text("")
    prepare(tmp_path / "new", micro())
    there = {name.upper(): tmp_path / name for name in ("file", "folder", "spare", "new")}
    return there | {"RUN": finished}


def words_of(line: str, places: dict[str, Path]) -> list[str]:
    words = shlex.split(line)
    for name, path in places.items():
        words = [
            str(path) + word.removeprefix(name) if word.split("/")[0] == name else word
            for word in words
        ]
    return words


def snapshot(*folders: Path) -> dict[Path, int]:
    return {p: p.stat().st_mtime_ns for folder in folders for p in [folder, *folder.rglob("*")]}


@pytest.mark.parametrize(("line", "named"), TABLE, ids=[line[:70] for line, _ in TABLE])
def test_bad_input_is_answered_and_writes_nothing(line, named, places, call, monkeypatch):
    monkeypatch.chdir(places["SPARE"])
    before = snapshot(places["SPARE"].parent, places["RUN"])
    end = call(*words_of(line, places))
    assert end.code == 2, end.said
    assert "Traceback" not in end.said
    told = " ".join(end.said.split())
    assert named.replace("RUN", str(places["RUN"])) in told or named in told, end.said
    assert len(end.said.splitlines()) <= MOST_LINES, end.said
    assert snapshot(places["SPARE"].parent, places["RUN"]) == before


def test_the_table_is_long_enough():
    assert len(TABLE) >= 100 and len({line for line, _ in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("trian", "train"),
        (f"{TRAIN} --steps many", "--steps"),
        (f"{TRAIN} --algorithm.minibatch-size 100", "--algorithm.minibatch-size"),
        ("evaluate nowhere", "nowhere"),
    ],
)
def test_a_real_program_answers_in_seconds(line, named, tmp_path):
    """Seconds of work, which a busy machine stretches less than those of the clock."""
    before = _work_of_children()
    command = [sys.executable, "-m", "allgoals", *line.split()]
    end = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert end.returncode == 2 and named in end.stderr and "Traceback" not in end.stderr
    assert not list(tmp_path.iterdir())
    assert _work_of_children() - before < 4


def _work_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
