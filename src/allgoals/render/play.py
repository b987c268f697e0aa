"""A person in place of the agent: keys, worlds one after another, and the goals achieved."""

from collections.abc import Iterable

import jax
import numpy as np
from rich.text import Text

from allgoals.envs.craftax import Craftax, CraftaxClassic
from allgoals.envs.gridworld import Gridworld
from allgoals.errors import UsageError
from allgoals.render.cells import VIEWS
from allgoals.types import Environment, Step, Task

Keys = dict[str, str]  # what each key does, in the order of the actions

MAZE_KEYS: Keys = {"w": "up", "s": "down", "a": "left", "d": "right"}
COMMON_KEYS: Keys = {
    ".": "wait", "a": "left", "d": "right", "w": "up", "s": "down", " ": "do", "\t": "sleep",
    "r": "place stone", "t": "place table", "f": "place furnace", "p": "place plant",
    "1": "make wood pickaxe", "2": "make stone pickaxe", "3": "make iron pickaxe",
}  # fmt: skip
CLASSIC_KEYS: Keys = COMMON_KEYS | {
    "4": "make wood sword", "5": "make stone sword", "6": "make iron sword",
}  # fmt: skip
CRAFTAX_KEYS: Keys = COMMON_KEYS | {
    "5": "make wood sword", "6": "make stone sword", "7": "make iron sword", "e": "rest",
    ">": "descend", "<": "ascend", "4": "make diamond pickaxe", "8": "make diamond sword",
    "y": "make iron armour", "u": "make diamond armour", "i": "shoot arrow", "o": "make arrow",
    "g": "cast fireball", "h": "cast iceball", "j": "place torch", "z": "drink red potion",
    "x": "drink green potion", "c": "drink blue potion", "v": "drink pink potion",
    "b": "drink cyan potion", "n": "drink yellow potion", "m": "read book", "k": "enchant sword",
    "l": "enchant armour", "[": "make torch", "]": "level up dexterity",
    "-": "level up strength", "=": "level up intelligence", ";": "enchant bow",
}  # fmt: skip
KEYS: dict[type, Keys] = {
    Gridworld: MAZE_KEYS, CraftaxClassic: CLASSIC_KEYS, Craftax: CRAFTAX_KEYS,
}  # fmt: skip
SPOKEN = {" ": "space", "\t": "tab"}

NEW = "bold green"
FAINT = "dim"
PANEL_ROWS, NOW_ROWS = 12, 5
LEAST_WIDTH = 20


class Game:
    """Worlds of a task played key by key, and when each goal was first achieved.

    As in evaluation, only what an action leads to achieves a goal, not the first observation.
    """

    def __init__(self, task: Task, seed: int):
        self.task = task
        self.keys = KEYS[type(task.env)]
        self.world = 0
        self.steps = 0  # of all worlds
        self.achieved: dict[str, int] = {}  # goal -> how many steps it took; the newest last
        self.last_end = ""
        self._reset, self._step = jax.jit(task.env.reset), jax.jit(task.env.step)
        self._key_worlds, self._key_steps = jax.random.split(jax.random.key(seed))
        self._begin()
        self._act(0)  # compiles

    def press(self, key: str) -> None:
        """One action; an episode's end begins a new world."""
        now = self._act(list(self.keys).index(key))
        self.state, self.obs = now.state, now.obs
        self.steps += 1
        self.age += 1
        for goal in self.now:
            self.achieved.setdefault(goal, self.steps)
        if now.terminated or now.truncated:
            self.last_end = f"world {self.world}: {_reason(self.task.env, now)}"
            self._begin()

    @property
    def now(self) -> list[str]:
        """The goals that hold, in the task's order."""
        done = np.asarray(self.task.goals.outcome(self.obs).done)
        return [self.task.goals.names[i] for i in np.flatnonzero(done)]

    def _begin(self) -> None:
        self.world += 1
        self.age = 0
        first = self._reset(jax.random.fold_in(self._key_worlds, self.world))
        self.state, self.obs = jax.device_get(first)

    def _act(self, action: int) -> Step:
        key = jax.random.fold_in(self._key_steps, self.steps)
        return jax.device_get(self._step(self.state, np.int32(action), key))


def check_keys(env: Environment, text: str) -> None:
    """Every key of a text must do something."""
    keys = KEYS[type(env)]
    if wrong := [key for key in text if key not in keys]:
        raise UsageError(f"unknown key {wrong[0]!r}\nvalid: {' '.join(map(spoken, keys))}")


def after(steps: int) -> str:
    return "after 1 step" if steps == 1 else f"after {steps} steps"


def spoken(key: str) -> str:
    return SPOKEN.get(key, key)


def _reason(env: Environment, end: Step) -> str:
    if not end.terminated:
        return "time limit"
    return "won" if isinstance(env, Craftax) and end.state.player_health > 0 else "died"


def screen(game: Game, wanted: list[str], width: int) -> Text:
    """The view beside the goals, then what the player has and what the letters mean."""
    view = VIEWS[type(game.task.env)](game.task.env, game.obs, wanted)
    rows = [Text.assemble(*(cell.text for cell in row)) for row in view.rows]
    aside = 2 * len(view.rows[0]) + 2
    legend = [Text.assemble(cell.text, f" {cell.name}") for cell in view.kinds]
    lines = [
        Text(_header(game), "bold"),
        *_beside(rows, _goals(game, max(width - aside, LEAST_WIDTH)), aside),
        *flow([_mark(game, goal) for goal in wanted], width, 2),
    ]
    for numbers in view.numbers:
        lines += flow([Text(f"{name} {value}") for name, value in numbers.items()], width, 2)
    lines += flow(legend, width, 3)
    return _stacked(lines, width)


def help_screen(keys: Keys, width: int) -> Text:
    """What every key does."""
    entries = [*keys.items(), ("?", "these keys"), ("q", "quit")]
    column = max(len(does) for _, does in entries) + 8
    columns = max(1, min(width // column, 3))
    rows = -(-len(entries) // columns)
    lines = ["".join(f"{spoken(k):>6}  {d:{column - 8}}" for k, d in entries[i::rows])
             for i in range(rows)]  # fmt: skip
    return _stacked([Text(line) for line in lines], width)


def flow(words: Iterable[Text], width: int, most: int) -> list[Text]:
    """Words side by side in at most so many lines; the last tells how many did not fit."""
    lines: list[Text] = []
    words = list(words)
    for i, word in enumerate(words):
        room = width - 5 if len(lines) == most and i + 1 < len(words) else width
        if lines and len(lines[-1]) + 2 + len(word) <= room:
            lines[-1].append("  ").append_text(word)
        elif len(lines) < most:
            lines.append(word.copy())
        else:
            lines[-1].append(f"  +{len(words) - i}", FAINT)
            break
    return lines


def _header(game: Game) -> str:
    new = f"  ({game.last_end})" if game.last_end else ""
    return f"{game.task.name}  world {game.world}  step {game.age}{new}  ? keys  q quit"


def _goals(game: Game, width: int) -> list[Text]:
    """How many goals were achieved, those that hold now, and the others; the newest first."""
    now, newest = game.now, list(game.achieved)[::-1]
    holding = sorted(now, key=lambda goal: -game.achieved.get(goal, 0))
    earlier = [goal for goal in newest if goal not in now]
    lines = [
        Text(f"{len(newest)} of {game.task.num_goals} goals achieved", "bold"),
        Text("now", "bold"),
        *flow([_name(game, goal) for goal in holding], width, NOW_ROWS),
        Text("earlier", "bold"),
    ]
    lines += flow([Text(goal, FAINT) for goal in earlier], width, PANEL_ROWS - len(lines))
    return lines + [Text()] * (PANEL_ROWS - len(lines))


def _name(game: Game, goal: str) -> Text:
    return Text(goal, NEW if game.achieved.get(goal) == game.steps else "")


def _mark(game: Game, goal: str) -> Text:
    """A wanted goal, and whether it was achieved."""
    if goal in game.achieved:
        return Text(f"[x] {goal} {after(game.achieved[goal])}", NEW)
    return Text(f"[ ] {goal}")


def _beside(left: list[Text], right: list[Text], column: int) -> list[Text]:
    lines = []
    for i in range(max(len(left), len(right))):
        line = left[i].copy() if i < len(left) else Text()
        line.pad_right(column - len(line))
        lines.append(line.append_text(right[i]) if i < len(right) else line)
    return lines


def _stacked(lines: list[Text], width: int) -> Text:
    """Lines one below another, none wider than the terminal."""
    for line in lines:
        line.truncate(width, overflow="crop")
    return Text("\n", no_wrap=True, overflow="crop").join(lines)
