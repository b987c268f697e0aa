"""The command line as people use it: numbers, help, lists, pipes, narrow terminals, odd names."""

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from allgoals import api
from allgoals.cli import COMMANDS, main
from allgoals.cli.display import Display
from allgoals.cli.train import summary
from allgoals.envs.gridworld import Gridworld
from allgoals.envs.point_maze import PointUMaze
from allgoals.experiment import GoalOptions, MazeGoalOptions, parse_count, to_dict
from allgoals.experiments import STUDIES
from allgoals.goals.maze import MazeGoals
from allgoals.presets import preset
from allgoals.validation import build_task
from tests.runs.micro import FLAGS, check_same_end, micro, shown, start, start_in_terminal

SHORT = [*FLAGS, "--steps", "64", "--evaluation.times", "1"]  # the last of two words counts
HELP = [
    ["--help"],
    ["-h"],
    ["help"],
    ["--version"],
    ["train", "--help"],
    ["train", "gridworld/dual_leo_ppo", "--help"],
    ["bench", "goals", "--help"],
    *([command, "--help"] for command in COMMANDS if command != "train"),
]


@pytest.mark.parametrize(
    ("text", "number"),
    [("2e6", 2_000_000), ("200M", 200_000_000), ("1_000_000", 1_000_000), ("3k", 3000),
     ("1B", 10**9), ("1.001k", 1001), ("2.3M", 2_300_000), ("0", 0), ("-1", -1)],
)  # fmt: skip
def test_numbers_as_people_write_them(text, number):
    assert parse_count(text) == number and type(parse_count(text)) is int


@pytest.mark.parametrize(
    "text",
    ["", " ", "k", "1.5", "1.5e0", "0.1k5", "nan", "inf", "-inf", "1e400", "1e999999999",
     "9" * 5000, "1e-3", "0x10", "1,000", "1 000", "2K M", "²", "true", "None"],
)  # fmt: skip
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="whole number"):
        parse_count(text)


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_is_there(call, words):
    end = call(*words)
    assert end.code == 0 and "allgoals" in end.out


def test_goals_as_csv(call):
    end = call("goals", "gridworld", "--csv")
    header, *rows = csv.reader(io.StringIO(end.out))
    assert header == ["id", "name"]
    assert [int(number) for number, _ in rows] == list(range(len(rows))) and len(rows) > 100
    assert all(name.startswith("position/") for _, name in rows)


@pytest.mark.parametrize("task", ["craftax_classic", "craftax"])
def test_goals_of_craftax_as_csv_are_the_papers(call, task):
    end = call("goals", task.replace("_", "-"), "--csv")
    paper = (Path(__file__).parent.parent / "data" / f"goals_{task}.csv").read_text()
    expected = [row[:2] for row in csv.reader(io.StringIO(paper))][1:]
    assert list(csv.reader(io.StringIO(end.out)))[1:] == expected


def test_a_benchmark_is_plain_data(call, tmp_path):
    sizes = "--num-envs 8 --num-steps 4 --minibatch-size 16 --epochs 1 --width 16 --layers 1"
    words = f"bench throughput gridworld/pqn gridworld/leo {sizes} --repeats 2 --json"
    end = call(*words.split(), "--out", tmp_path / "speed.png")
    found = json.loads(end.out)
    assert [one["algorithm"] for one in found["results"]] == ["pqn", "leo"]
    assert found["results"][0]["of_plain"] == {"median": 1.0, "low": 1.0, "high": 1.0}
    assert 2**26 < found["peak_bytes"] < 2**40
    assert found["sizes"]["num_envs"] == 8 and (tmp_path / "speed.png").stat().st_size > 1000


def test_studies_are_listed_within_the_terminal(call):
    lines = call("reproduce", "--list").out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(STUDIES)
    assert max(map(len, lines)) <= 80  # what the test's terminal is


def test_goals_are_found_by_a_part_of_their_name(call):
    end = call("goals", "gridworld", "--search", "position/8-", "--csv")
    names = [name for _, name in csv.reader(io.StringIO(end.out))][1:]
    assert names and all(name.startswith("position/8-") for name in names)


def test_the_words_that_make_a_micro_run(call, tmp_path, finished):
    """What is typed becomes the experiment, whole, and a name may hold spaces and any letters."""
    path = tmp_path / "ein Lauf, größer – 走る 🏃"
    end = call("train", *FLAGS, "--out", path)
    assert end.code == 0 and str(path) in end.out and "\x1b" not in end.said
    assert json.loads((path / "config.json").read_text())["experiment"] == to_dict(micro())
    check_same_end(path, finished)
    end = call("evaluate", path, "--episodes", "1", "--out", tmp_path / "größe.json")
    assert end.code == 0 and "\x1b" not in end.said
    results = json.loads((tmp_path / "größe.json").read_text())
    assert len(results["goals"]) == len(results["success"]["agent"])


def test_an_evaluation_shows_how_far_it_is(call, finished, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    end = call("evaluate", finished, "--episodes", "2", "--num-envs", "7")
    assert end.code == 0 and "evaluating" in end.err and "100%" in end.err
    assert end.out.startswith("goal ") and "evaluating" not in end.out  # the table and nothing else


def test_a_clip_tells_of_each_episode_and_where_it_is(call, finished, tmp_path):
    clip = tmp_path / "clip.gif"
    end = call("watch", finished, "--goal", "position/3-1", "--max-steps", "2", "--out", clip)
    assert end.code == 0 and clip.stat().st_size > 0
    assert re.fullmatch(rf"position/3-1: .*step.*\nwrote {clip}\n", end.out)
    assert end.err == "compiling the game and the agent\n"


def test_options_that_are_not_given_need_no_word_for_that(call):
    for command in ("play", "reproduce", "bench goals", "bench throughput", "evaluate"):
        assert "{None}|STR" not in (said := call(*command.split(), "--help").said)
        assert "{None}|PATH" not in said


MAZE_FLAGS = """
    --env.max-steps 50 --goals.frozen --goals.maze.commanded anywhere --goals.maze.reward dense
    --goals.maze.no-ends --goals.maze.spacing 0.5 --goals.maze.grid-reach 0.14
    --algorithm.updates 7 --algorithm.replay-size 6400 --algorithm.warm-up 64
    --algorithm.agent.offset --algorithm.agent.goals-per-update 8 --algorithm.agent.late-action
    --algorithm.agent.policy-update advantage --algorithm.agent.gamma 0.9
"""


def test_the_words_that_make_a_run_in_a_maze(call, monkeypatch, finished):
    """Every field of worlds, goals, replay and LEO's modes can be typed."""
    trained = []
    monkeypatch.setattr(api, "train", lambda one, **_: trained.append(one) or api.Run(finished))
    assert call("train", "point-u-maze/leo_sac", *MAZE_FLAGS.split()).code == 0
    plain = preset("point-u-maze/leo_sac")
    maze = MazeGoals("anywhere", "dense", ends=False, spacing=0.5, grid_reach=0.14)
    agent = replace(
        plain.algorithm.agent, offset=True, goals_per_update=8, late_action=True,
        policy_update="advantage", gamma=0.9,
    )  # fmt: skip
    replay = dict(updates=7, replay_size=6400, warm_up=64)
    assert trained == [
        replace(
            plain, env=PointUMaze(max_steps=50), goals=MazeGoalOptions(maze=maze, frozen=True),
            algorithm=replace(plain.algorithm, agent=agent, **replay),
        )
    ]  # fmt: skip


def test_a_run_without_a_place_gets_one(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("train", *SHORT).code == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("gridworld-leo-seed0-") and (run / "summary.json").exists()


def test_a_list_cut_short_by_its_reader_is_no_error():
    command = f"{sys.executable} -m allgoals goals gridworld | head -1; echo ${{PIPESTATUS[0]}}"
    end = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert end.stderr == ""
    assert len(end.stdout.splitlines()) == 2 and end.stdout.splitlines()[1] == "0"


def test_a_run_outlives_its_reader(tmp_path):
    """`allgoals train ... | head -1`, in ASCII and without colours."""
    path = tmp_path / "größer"
    process = start("train", *SHORT, "--out", path, PYTHONIOENCODING="ascii", NO_COLOR="1")
    first = process.stdout.readline()
    process.stdout.close()
    process.wait(timeout=120)
    assert first.startswith("allgoals") and process.returncode == 0
    assert (path / "summary.json").exists()


def test_a_dumb_narrow_terminal_gets_plain_lines(tmp_path):
    words = ("train", *SHORT, "--out", tmp_path / "run")
    process, terminal = start_in_terminal(*words, TERM="dumb")
    said = shown(terminal)
    assert process.wait(timeout=120) == 0, said
    assert "\x1b" not in said and "parameters" in said


@pytest.mark.parametrize("width", [1, 10, 40, 200])
def test_the_live_line_fits_any_terminal(width):
    display = Display()
    screen = io.StringIO()
    display.console = Console(file=screen, force_terminal=True, width=width)
    display.live = Live(console=display.console, auto_refresh=False)
    row = {"update": 2, "steps": 64, "steps_per_second": 1e4, "goals/success": 0.5, "leo/loss": 1.0}
    with display:
        display.compiling(build_task(micro()), total_steps=1280)
        display.started(0)
        display.logged(row)
        display.evaluating(1, 2)
        display.evaluated({"steps": 64, "mean_reachable": {"agent": 0.5}})
    assert all(len(line) < 400 for line in screen.getvalue().splitlines())


def test_a_run_whose_only_goal_cannot_be_reached(tmp_path, capsys, monkeypatch):
    """Its mean over reachable goals does not exist, and every command says so calmly."""
    monkeypatch.chdir(tmp_path)
    walled_in = GoalOptions(subset=1, include=("position/7-0",))
    run = api.train(replace(micro(updates=4), env=Gridworld(), goals=walled_in), out="run")
    main(["evaluate", "run"])
    main(["report", "run"])
    assert summary(run).splitlines()[1] == "mean success over reachable goals: -"
    assert capsys.readouterr().out.splitlines()[-2].split() == [
        "mean",
        "over",
        "reachable",
        "goals",
        "-",
    ]
    assert run.summary["evaluation"] == {"agent": None}


@pytest.mark.parametrize(
    "error",
    [RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.\nAnd more."),
     MemoryError("Unable to allocate 9 GiB")],
)  # fmt: skip
def test_memory_that_runs_out_meanwhile_is_said(call, monkeypatch, error):
    def evaluate(*_):
        raise error

    monkeypatch.setattr("allgoals.cli.evaluate.run", evaluate)
    end = call("evaluate", "run")
    assert end.code == 3 and str(error).splitlines()[0] in end.said
    assert "--num-envs" in end.said and "Traceback" not in end.said


def test_other_errors_of_the_same_kind_are_bugs(call, monkeypatch):
    def evaluate(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("allgoals.cli.evaluate.run", evaluate)
    with pytest.raises(RuntimeError, match="a bug"):
        call("evaluate", "run")


def test_a_run_of_under_a_step_in_twenty_seconds_is_shown(capsys):
    display = Display()
    display.total_steps = 100
    row = {"steps": 10, "steps_per_second": 0.0, "goals/success": 0.5, "leo/loss": 0.1}
    display.logged(row)
    assert "0/s" in capsys.readouterr().out
