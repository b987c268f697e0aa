"""Progress on the screen: a live line in a terminal, plain lines elsewhere."""

import sys
import time
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from allgoals.cli.output import rate, say
from allgoals.runs.memory import gib
from allgoals.runs.train import Observer
from allgoals.types import Box, Discrete, Task

PLAIN_INTERVAL = 5.0  # seconds between plain lines
SLOWEST = 0.05  # steps per second that are not rounded to none


class Display(Observer):
    """Shows steps, speed, time left, success and loss."""

    def __init__(self):
        self.console = Console(file=sys.stdout)
        self.live = Live(console=self.console, auto_refresh=False) if _is_terminal() else None
        self.total_steps = 0
        self.last_line = 0.0

    def __enter__(self) -> "Display":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self.live:
            self.live.stop()

    def compiling(self, task: Task, total_steps: int) -> None:
        self.total_steps = total_steps
        reachable = task.goals.reachable
        text = f"{task.num_goals} goals, {_described(task.env.actions)}"
        if reachable is not None and not reachable.all():
            text += f"; {int((~reachable).sum())} of the goals cannot be reached"
        self._say(text)
        self._show("compiling")

    def warned(self, text: str) -> None:
        self._say(f"warning: {text}")

    def compiled(self, memory: int) -> None:
        self._say(f"training takes {gib(memory)} of memory")

    def started(self, update: int) -> None:
        if update:
            self._say(f"continuing after update {update}")

    def logged(self, row: dict[str, Any]) -> None:
        share = row["steps"] / self.total_steps
        speed = max(row["steps_per_second"], SLOWEST)
        left = (self.total_steps - row["steps"]) / speed
        losses = [f"{v:.2g}" for k, v in row.items() if k.endswith("/loss")]
        parts = [
            f"{share:4.0%}",
            f"{row['steps']:,} steps",
            f"{row['steps_per_second']:,.0f}/s",
            f"{_duration(left)} left",
            f"live success {row['goals/success']:.2f}",
            f"loss {' '.join(losses)}",
        ]
        self._show("  ".join(parts), final=row["steps"] >= self.total_steps)

    def evaluating(self, done: int, total: int) -> None:
        if self.live:
            self._show(f"evaluating {done:,}/{total:,} episodes")

    def evaluated(self, row: dict[str, Any]) -> None:
        means = "  ".join(f"{name} {rate(mean)}" for name, mean in row["mean_reachable"].items())
        self._say(f"{row['steps']:>12,} steps  success over reachable goals: {means}")

    def _say(self, text: str) -> None:
        """A line that stays."""
        if self.live:
            self.console.print(Text(text))
        else:
            say(text)

    def _show(self, text: str, final: bool = False) -> None:
        """A line that the next one replaces; elsewhere than in a terminal, now and then."""
        if self.live:
            self.live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)
        elif final or time.monotonic() - self.last_line > PLAIN_INTERVAL:
            self.last_line = time.monotonic()
            say(text)


def _is_terminal() -> bool:
    return Console().is_terminal and not Console().is_dumb_terminal


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _described(actions: Discrete | Box) -> str:
    return (
        f"{actions.n} actions"
        if isinstance(actions, Discrete)
        else f"actions of {actions.size} numbers"
    )
