"""Feeds the files of runs to TensorBoard or Weights & Biases, while they are trained or after.

The JSON lines are the stream; training knows of no tracker. A run that was resumed writes the same
rows again, byte for byte, so a row is fed once, by its number of steps.
"""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from allgoals.errors import UsageError
from allgoals.runs.directory import RunDirectory


class Sink(Protocol):
    """Where the numbers of one run go."""

    def write(self, steps: int, numbers: dict[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Event files in the run's own directory."""

    def __init__(self, directory: RunDirectory):
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise UsageError("this needs: pip install 'allgoals[tensorboard]'") from None
        place = directory.path / "tensorboard"
        shutil.rmtree(place, ignore_errors=True)  # all of it is written again
        self.writer = SummaryWriter(str(place))

    def write(self, steps: int, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            self.writer.add_scalar(name, value, steps)
        self.writer.flush()

    def close(self) -> None:
        self.writer.close()


class WeightsAndBiases:
    """A run of the project `allgoals`; an account, or WANDB_MODE=offline, is the user's matter."""

    def __init__(self, directory: RunDirectory):
        try:
            import wandb
        except ImportError:
            raise UsageError("this needs: pip install 'allgoals[wandb]'") from None
        place = directory.path.resolve()
        self.run = wandb.init(
            project="allgoals", name=place.name, config=directory.config, dir=str(place),
            id=hashlib.sha256(str(place).encode()).hexdigest()[:16], resume="allow",
            reinit="create_new",
        )  # fmt: skip

    def write(self, steps: int, numbers: dict[str, float]) -> None:
        self.run.log(numbers, step=steps)

    def close(self) -> None:
        self.run.finish()


SINKS: dict[str, Callable[[RunDirectory], Sink]] = {
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
}


@dataclass
class Feed:
    """One run and how far it has been fed."""

    directory: RunDirectory
    sink: Sink
    fed: dict[str, int] = field(default_factory=dict)  # steps, by file

    def rows(self) -> Iterator[tuple[int, dict[str, float]]]:
        """What is new, in order of steps: the metrics, and the success of each component."""
        new = [*self._new("metrics.jsonl", _metrics), *self._new("evaluations.jsonl", _evaluation)]
        together: dict[int, dict[str, float]] = {}
        for steps, numbers in sorted(new, key=lambda row: row[0]):
            together.setdefault(steps, {}).update(numbers)
        yield from together.items()

    def _new(self, name: str, read: Callable[[dict[str, Any]], dict[str, float]]):
        rows = [row for row in self.directory.rows(name) if row["steps"] > self.fed.get(name, -1)]
        if rows:
            self.fed[name] = rows[-1]["steps"]
        return [(row["steps"], read(row)) for row in rows]

    def pass_on(self) -> None:
        for steps, numbers in self.rows():
            self.sink.write(steps, numbers)

    @property
    def finished(self) -> bool:
        """To its end, or given up in a study."""
        ends = ("summary.json", "failed.json")
        return any((self.directory.path / name).exists() for name in ends)


def _metrics(row: dict[str, Any]) -> dict[str, float]:
    return {name: value for name, value in row.items() if name not in ("update", "steps")}


def _evaluation(row: dict[str, Any]) -> dict[str, float]:
    means = row["mean_reachable"].items()
    return {f"evaluation/{name}": value for name, value in means if value is not None}


def track(paths: Sequence[Path], to: str, follow: bool, every: float = 5.0) -> None:
    """Feed what the runs have written and, if asked, what they are going to."""
    directories = [RunDirectory.open(path) for path in paths]
    feeds = [Feed(directory, SINKS[to](directory)) for directory in directories]
    try:
        while True:
            over = all(feed.finished for feed in feeds)
            for feed in feeds:
                feed.pass_on()
            if over or not follow:
                return
            time.sleep(every)
    finally:
        for feed in feeds:
            feed.sink.close()
