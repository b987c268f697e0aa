"""allgoals play: play a task in the terminal and see which goals are achieved."""

import os
import re
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console
from rich.live import Live

from allgoals.cli.parse import MaybeText, parse
from allgoals.errors import UsageError, unknown
from allgoals.experiment import Count
from allgoals.validation import check_fields

if TYPE_CHECKING:
    from allgoals.render.play import Game

ARROWS = {"A": "w", "B": "s", "C": "d", "D": "a"}
KEY = re.compile(r"\x1b[\[O][\d;]*[~A-Za-z]|.", re.DOTALL)
QUIT = {"q", "\x04"}


@dataclass(frozen=True)
class Words:
    task: tyro.conf.Positional[str]  # a task's name
    goal: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """a goal to mark once it is achieved, by name; repeat for several"""
    keys: MaybeText = None  # play these keys without a terminal and show how it ends
    seed: Count = 0


def run(argv: list[str]) -> None:
    words = parse(Words, argv, "allgoals play")
    check_fields(words)
    from allgoals.tasks import TASKS, make_task
    from allgoals.types import Discrete

    if words.task not in TASKS:
        raise unknown("task", words.task, TASKS)
    if not isinstance(TASKS[words.task][0].actions, Discrete):
        raise UsageError(f"play is for tasks with discrete actions; {words.task} has others")
    task = make_task(words.task)
    for goal in words.goal:
        if goal not in task.goals.names:
            raise unknown(f"goal of {words.task}", goal, task.goals.names)
    from allgoals.render.play import Game, check_keys
    from allgoals.runs.cache import enable_compile_cache

    check_keys(task.env, words.keys or "")
    console = Console(file=sys.stdout)
    if words.keys is None and not _is_terminal(console):
        raise UsageError("play needs a terminal; without one, give the keys to press as --keys")
    enable_compile_cache()
    print("compiling the game", file=sys.stderr, flush=True)
    game = Game(task, words.seed)
    if words.keys is None:
        _play(game, list(words.goal), console)
    for key in words.keys or "":
        game.press(key)
    print(_ending(game, list(words.goal), console))


def _is_terminal(console: Console) -> bool:
    return sys.stdin.isatty() and console.is_terminal and not console.is_dumb_terminal


def _play(game: "Game", wanted: list[str], console: Console) -> None:
    """Key by key until the player quits."""
    from allgoals.render.play import help_screen, screen

    shows_help = False
    with Live(console=console, screen=True, auto_refresh=False) as live, _pressed_keys() as keys:
        live.update(screen(game, wanted, console.width), refresh=True)
        for key in keys:
            if key in QUIT:
                return
            shows_help = key == "?" and not shows_help
            if key in game.keys:
                game.press(key)
            shown = help_screen(game.keys, console.width) if shows_help else None
            live.update(shown or screen(game, wanted, console.width), refresh=True)


@contextmanager
def _pressed_keys() -> Iterator[Iterator[str]]:
    """Keys as they are pressed, unseen; the terminal is put back however this ends."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield _read_keys(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read_keys(terminal: int) -> Iterator[str]:
    """An arrow counts as the letter that moves the same way."""
    while pressed := os.read(terminal, 64):
        for key in KEY.findall(pressed.decode(errors="ignore")):
            yield ARROWS.get(key[-1], "") if key.startswith("\x1b") else key


def _ending(game: "Game", wanted: list[str], console: Console) -> str:
    """The last view and every goal achieved, the newest first."""
    from allgoals.render.play import after, screen

    with console.capture() as captured:
        console.print(screen(game, wanted, console.width))
    goals = [f"{goal} {after(steps)}" for goal, steps in reversed(game.achieved.items())]
    return "\n".join([captured.get(), *goals, f"{len(goals)} of {game.task.num_goals} goals"])
