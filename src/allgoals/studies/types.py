"""What a study is: runs that are compared, the pictures drawn of them, the claims they bear on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from allgoals.experiment import Experiment
from allgoals.report.claims import Claim
from allgoals.report.pictures import Picture
from allgoals.runs.signals import Signals
from allgoals.runs.train import Observer

Budget = Literal["smoke", "laptop", "paper"]
BUDGETS: tuple[Budget, ...] = ("smoke", "laptop", "paper")
SEEDS: dict[Budget, int] = {"smoke": 2, "laptop": 3, "paper": 5}


@dataclass(frozen=True)
class Desk:
    """Where a study is carried out, at which size, and who is told."""

    out: Path
    budget: Budget
    seeds: int
    command: str  # that does all this again
    say: Callable[[str], None]
    observer: Observer
    signals: Signals
    together: bool | None = None  # seeds of one case as one program; by default not on a processor
    storage: str | None = None  # the database of a sweep; a file beside its trials by default

    @property
    def runs(self) -> Path:
        """Runs are shared by all studies of a budget: what one has trained another need not."""
        return self.out / self.budget / "runs"

    def folder(self, name: str) -> Path:
        """What belongs to one study alone."""
        return self.out / self.budget / name

    def heed(self) -> None:
        """Between two runs: stop if that was asked for while the last was being finished."""
        if self.signals.received:
            raise self.signals.interruption("stopped between two runs; the same command continues")


class Study(Protocol):
    """One figure or table of the paper."""

    @property
    def name(self) -> str: ...

    @property
    def paper(self) -> str: ...  # where the paper has it

    @property
    def about(self) -> str: ...  # what is done and what is drawn

    def check(self, desk: Desk) -> None:
        """What stands in the way is told before any work."""

    def work(self, desk: Desk) -> None:
        """Does whatever is missing; any number of workers may at once."""

    def write(self, desk: Desk) -> Path:
        """The report on all there is."""


@dataclass(frozen=True)
class Case:
    """One configuration, trained with every seed."""

    label: str  # the same label has the same colour in every panel
    experiment: Experiment
    variation: str = ""  # what tells its runs from others of its task and algorithm
    x: float = 0.0  # where it stands, in pictures over a parameter
    sampled: str = ""  # how its goals were, where that tells panels apart

    @property
    def panel(self) -> str:
        return self.experiment.task + (f", {self.sampled}" if self.sampled else "")

    def with_seed(self, seed: int) -> Experiment:
        """A random subset of the goals is another one for every seed."""
        goals = self.experiment.goals
        goals = goals if goals.subset is None else replace(goals, subset_seed=seed)
        return replace(self.experiment, seed=seed, goals=goals)

    @property
    def folder(self) -> str:
        """A name for its runs."""
        parts = (self.experiment.task, self.experiment.name, self.variation)
        return "-".join(part for part in parts if part)


def nothing(budget: Budget) -> tuple[()]:
    del budget
    return ()


@dataclass(frozen=True)
class Declared:
    """What a study of runs says of itself, by budget."""

    cases: Callable[[Budget], Sequence[Case]]
    pictures: Callable[[Budget], Sequence[Picture]]
    claims: Callable[[Budget], Sequence[Claim]] = nothing
