"""Playing by hand: keys become actions, goals are told, and the terminal is left as it was."""

import io
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.goals.craftax import SIDES
from allgoals.render.play import KEYS, Game, help_screen, screen
from allgoals.tasks import make_task
from allgoals.types import GridObs

CLASSIC_PLAY = "aawd.t "
TAB_AND_SPACE = {"space": " ", "tab": "\t"}
GAMES = {CraftaxClassic: "craftax.craftax_classic", Craftax: "craftax.craftax"}


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())


def achieved(said: str) -> dict[str, int]:
    found = re.findall(r"^(\S+/\S+) after (\d+) steps?$", said, re.MULTILINE)
    return {goal: int(steps) for goal, steps in found}


def test_keys_reach_cells_of_the_maze(call):
    end = call("play", "gridworld", "--keys", "wd", "--goal", "position/9-7")
    assert end.code == 0 and "\x1b" not in end.out
    assert achieved(end.out) == {"position/9-7": 2, "position/8-7": 1}
    assert end.out.splitlines()[-1] == "2 of 189 goals"
    assert "[x] position/9-7 after 2 steps" in end.out and "compiling" not in end.out


def test_what_is_not_achieved_is_not_marked(call):
    end = call("play", "gridworld", "--keys", "", "--goal", "position/8-8")
    assert achieved(end.out) == {} and "[ ] position/8-8" in end.out


def test_the_end_of_time_begins_a_new_world(call):
    end = call("play", "gridworld", "--keys", "wd" + "s" * 198 + "w")
    assert end.out.splitlines()[0].startswith("gridworld  world 2  step 1  (world 1: time limit)")


def test_goals_of_craftax_are_those_the_game_shows(call):
    """What stands around the player, by the package's own names of its blocks."""
    from craftax.craftax_classic.constants import BlockType

    game = Game(make_task("craftax-classic"), seed=3)
    around = {}
    for t, key in enumerate(CLASSIC_PLAY, 1):
        game.press(key)
        row, column = game.state.player_position
        for side, (down, right) in SIDES.items():
            block = BlockType(int(game.state.map[row + down, column + right]))
            around.setdefault(f"block_map/{block.name}_{side}", t)
    end = call("play", "craftax-classic", "--seed", "3", "--keys", CLASSIC_PLAY)
    told = achieved(end.out)
    assert {goal: t for goal, t in told.items() if goal.startswith("block_map/")} == around
    assert told == game.achieved and list(told.values()) == sorted(told.values(), reverse=True)
    assert re.search("health [89]  food 9", end.out) and "grass" in end.out


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("", "a task's name"),
        ("gridwrld --keys w", "did you mean: gridworld"),
        ("gridworld --keys wx", "unknown key 'x' valid: w s a d"),
        ("gridworld --keys q", "unknown key 'q'"),
        ("craftax --keys W", "d w s space tab r"),
        ("gridworld --keys w --goal position/99-99", "'position/99-99'"),
        ("craftax-classic --keys w --goal inventory/Stone_5", "did you mean: inventory/stone_5"),
        ("gridworld --keys w --seed -1", "--seed"),
        ("gridworld", "needs a terminal"),
        ("craftax", "needs a terminal"),
    ],
)
def test_wrong_words_are_answered_at_once(call, line, named):
    end = call("play", *shlex.split(line))
    assert end.code == 2 and named in " ".join(end.said.split()), end.said
    assert "compiling" not in end.said and "Traceback" not in end.said


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.__name__)
def test_keys_are_those_the_package_names(game):
    source = Path(find_spec(f"{GAMES[game]}.constants").origin).read_text()
    actions = source.split("class Action(Enum):")[1].split("class ")[0]
    named = re.findall(r"= (\d+)  # (\S+)", actions)
    keys = list(KEYS[game])
    assert len(named) + 1 == len(keys) == game.actions.n
    assert keys[1:] == [TAB_AND_SPACE.get(key, key) for _, key in named]
    assert [int(number) for number, _ in named] == list(range(1, len(keys)))


def crowded(task_name: str) -> SimpleNamespace:
    """A game in which anything may stand anywhere and much was achieved."""
    task = make_task(task_name)
    layout = task.env.layout
    random = np.random.default_rng(0)
    most = [2**layer.size if layer.bits else layer.size for layer in layout.layers]
    entries = [5 if entry.name == "direction" else 10 for entry in layout.entries]
    seen = random.integers(most, size=(*layout.view, len(most)))
    names = list(task.goals.names)
    return SimpleNamespace(
        task=task, keys=KEYS[type(task.env)], world=12, age=34567, steps=99999, now=names[5:40],
        achieved={name: t for t, name in enumerate(names)}, last_end="world 11: time limit",
        obs=GridObs(seen, random.integers(entries)),
    )  # fmt: skip


@pytest.mark.parametrize("width", [1, 10, 40, 80])
@pytest.mark.parametrize("task", ["craftax-classic", "craftax"])
def test_the_screen_fits_any_terminal(task, width):
    game = crowded(task)
    for shown in (screen(game, game.now[:5], width), help_screen(game.keys, width)):
        lines = shown.plain.split("\n")
        assert max(map(len, lines)) <= width
        assert len(lines) <= 24 or width < 80


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_terminal_is_left_as_it_was(interrupted):
    """An arrow moves, ? shows the keys, and both q and Ctrl-C end it."""
    mine, its = pty.openpty()
    ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    before = termios.tcgetattr(its)
    command = [sys.executable, "-m", "allgoals", "play", "gridworld"]
    environment = os.environ | {"TERM": "xterm"}
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment)
    try:
        for awaited, key in [("q quit", "\x1b[A"), ("position/8-7", "?")]:
            read_until(mine, awaited)
            os.write(mine, key.encode())
        read_until(mine, "these keys")
        assert termios.tcgetattr(its) != before
        if interrupted:
            process.send_signal(signal.SIGINT)
        else:
            os.write(mine, b"q")
        said = read_until(mine, "interrupted" if interrupted else "1 of 189 goals")
        assert process.wait(timeout=60) == (130 if interrupted else 0)
        assert "\x1b[?1049l" in said and termios.tcgetattr(its) == before
    finally:
        process.kill()
        os.close(mine)
        os.close(its)


def read_until(terminal: int, awaited: str) -> str:
    said = ""
    while awaited not in said:
        assert select.select([terminal], [], [], 60)[0], f"waited for {awaited!r}, saw {said!r}"
        said += os.read(terminal, 65536).decode(errors="replace")
    return said
