"""Claims about the goals of one case: at which of them one part of its agent is ahead."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allgoals.report.claims import Judgement, Side, above, difference, find
from allgoals.report.scores import Trained, goal_names


@dataclass(frozen=True)
class Parts:
    """Two components of an agent at every goal."""

    label: str
    upper: str  # component
    lower: str
    panel: str
    through: float = 1.0  # of the training

    def find(self, cases: Sequence[Trained]) -> Judgement | tuple[np.ndarray, np.ndarray]:
        """Success of both [seeds, goals], where either is above a random policy's."""
        sides = [Side(self.label, component=c, through=self.through) for c in self.names]
        compared = find(sides, cases, self.panel)
        if isinstance(compared, Judgement):
            return compared
        (case, _), tables = compared
        reachable = next(run.goals.reachable for run in case.runs if run.goals)
        names = [name for name, can in zip(goal_names(case.runs), reachable, strict=True) if can]
        chance = np.array([case.by_chance.get(name, 0.0) for name in names])
        learnt = better(tables) > chance
        return tables[0][:, learnt], tables[1][:, learnt]

    @property
    def names(self) -> tuple[str, str]:
        return self.upper, self.lower


def better(tables: Sequence[np.ndarray]) -> np.ndarray:
    """What the better of both reaches at each goal, over seeds. [G]"""
    return np.maximum(*(table.mean(axis=0) for table in tables))


NO_GOALS = Judgement("cannot say", "there are no such goals")


@dataclass(frozen=True)
class Among:
    """One component is ahead at more goals than the other, of those of high or of low success."""

    text: str
    parts: Parts
    high: bool  # goals at which the better of both is at 0.5 or more; else below

    def judge(self, cases: Sequence[Trained]) -> Judgement:
        found = self.parts.find(cases)
        if isinstance(found, Judgement):
            return found
        chosen = (better(found) >= 0.5) == self.high
        if not chosen.any():
            return NO_GOALS
        one, other = (table[:, chosen] for table in found)
        wins = [(one > other).astype(float), (other > one).astype(float)]
        shares = difference(wins, self.parts.names, paired=True)
        evidence = (
            f"ahead at a share of {chosen.sum()} goals: {shares.evidence}; their mean success"
            f" {one.mean():.3f} and {other.mean():.3f}"
        )
        return Judgement(above(0.0, shares.low, shares.high), evidence)


@dataclass(frozen=True)
class Alone:
    """At the goals of the lowest success that is not chance, one component succeeds alone.

    Contradicted if the other is alone at more of them. Such goals are reached in an episode or two,
    which can be luck: where it is not one-sided over the seeds, nothing is said.
    """

    text: str
    parts: Parts
    count: int  # of goals

    def judge(self, cases: Sequence[Trained]) -> Judgement:
        found = self.parts.find(cases)
        if isinstance(found, Judgement):
            return found
        rates = better(found)
        if len(rates) < self.count:
            return NO_GOALS
        rarest = rates <= np.sort(rates)[self.count - 1]  # of those that are equal, all
        one, other = (table[:, rarest] > 0 for table in found)
        shares = difference([one & ~other, other & ~one], self.parts.names, paired=True)
        strangers = int(other.any(axis=0).sum())
        evidence = (
            f"alone at a share of {rarest.sum()} goals: {shares.evidence};"
            f" {self.parts.lower} reaches {strangers} of them in some seed"
        )
        verdict = above(0.0, shares.low, shares.high)
        only = verdict != "supported" or not strangers
        return Judgement(verdict if only else "cannot say", evidence)
