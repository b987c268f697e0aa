"""What the paper says, and whether the runs of a study bear it out.

A claim compares means over seeds. It is judged by the 95 % interval of their difference (Welch's,
as seeds are few): on the one side of a margin it is supported, on the other contradicted. Of many
comparisons in one claim, what contradicts is a wider interval.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from allgoals.report.scores import Goals, Trained, scores
from allgoals.report.statistics import CONFIDENCE, paired_interval, welch_interval

Verdict = Literal["supported", "contradicted", "cannot say"]


def above(bound: float, low: float, high: float) -> Verdict:
    """Whether what lies between low and high lies above a bound."""
    if low > bound:
        return "supported"
    return "contradicted" if high < bound else "cannot say"


def among(rivals: int) -> float:
    """The confidence with which one of several rivals is above by more than luck (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / max(1, rivals)


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    evidence: str


class Claim(Protocol):
    @property
    def text(self) -> str: ...

    def judge(self, cases: Sequence[Trained]) -> Judgement: ...


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a case, or a part of its agent, at some point of training."""

    label: str
    x: float | None = None  # the parameter, where cases differ by one
    component: str = "agent"
    through: float = 1.0  # of the training: 1 for its end
    throughout: bool = False  # the mean over all evaluations instead
    panel: str = ""  # where it differs from the claim's

    def case(self, cases: Sequence[Trained], panel: str) -> Trained | None:
        """The case that is meant, if there is one."""
        panel = self.panel or panel
        for case in cases:
            if case.label != self.label or (panel and case.panel != panel):
                continue
            if self.x is None or case.x == self.x:
                return case
        return None

    def scores(self, case: Trained, goals: Goals) -> np.ndarray | None:
        """[seeds, goals], if it was trained."""
        by_step = scores(case.runs, goals, self.component)
        if self.throughout:  # where every seed was evaluated
            whole = [table for table in by_step.values() if len(table) == len(case.runs)]
            return np.mean(whole, axis=0) if whole else None
        steps = [step for step in by_step if step >= self.through * max(by_step)]
        return by_step[min(steps)] if steps else None

    def __str__(self) -> str:
        parts = [self.label, self.component if self.component != "agent" else "", self.panel]
        parts.append("" if self.x is None else f"{self.x:g}")
        first = f"first evaluated after {self.through:.0%} of the steps"
        parts.append("" if self.through == 1 else first)
        parts.append("over all of training" if self.throughout else "")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Difference:
    """How far one side is above another: the mean over seeds, and its interval."""

    mean: float
    other: float  # the mean of what it is compared with
    low: float
    high: float
    evidence: str
    nothing: bool  # neither has learnt anything worth comparing


def difference(
    tables: Sequence[np.ndarray], names: Sequence[object], paired: bool, chance: float = 0.0,
    margin: float = 0.0, confidence: float = CONFIDENCE,
) -> Difference:  # fmt: skip
    """Of two tables [seeds, goals]; paired where both are of the same runs.

    Nothing is learnt up to what a random policy reaches, or what is near enough to nothing.
    """
    one, other = (table.mean(axis=1) for table in tables)
    interval = paired_interval if paired else welch_interval
    low, high = interval(one, other, confidence=confidence)
    mean = float(one.mean() - other.mean())
    upper, lower = names
    evidence = f"{upper} {one.mean():.3f}, {lower} {other.mean():.3f}; difference {mean:+.3f}"
    known = _interval(low, high, one, other, confidence=confidence)
    counts = "" if len(one) == len(other) else f", {len(one)} and {len(other)} seeds"
    floor = max(chance, margin)
    nothing = max(one.mean(), other.mean()) <= floor
    why = "takes no learning" if chance >= margin else "is near enough to nothing"
    vain = f"; neither is above {floor:.3f}, which {why}" if nothing and floor else ""
    return Difference(
        mean, float(other.mean()), low, high, f"{evidence} {known}{counts}{vain}", nothing
    )


def _interval(low: float, high: float, *means: np.ndarray, confidence: float = CONFIDENCE) -> str:
    """Of a difference of means over seeds, or why there is none."""
    if np.isnan(low):
        return "of a single seed" if min(map(len, means)) < 2 else "of seeds that all agree"
    return f"({100 * confidence:.3g} %: {low:+.3f} to {high:+.3f})"


NOT_TRAINED = Judgement("cannot say", "not trained at this budget")


def find(
    sides: Sequence[Side], cases: Sequence[Trained], panel: str = "", goals: Goals = ""
) -> Judgement | tuple[list[Trained], list[np.ndarray]]:
    """The cases that are compared and their tables [seeds, goals], or why that cannot be."""
    of = [side.case(cases, panel) for side in sides]
    if not all(of):
        return NOT_TRAINED
    tables = [side.scores(case, goals) for side, case in zip(sides, of, strict=True)]
    if any(table is None for table in tables):
        return NOT_TRAINED
    missing = "; ".join(dict.fromkeys(case.missing for case in of if case.missing))
    return Judgement("cannot say", missing) if missing else (of, tables)


def by_chance(cases: Sequence[Trained], goals: Goals = "") -> float:
    """What a random policy reaches in the easiest of these cases; 0 if that is not known."""
    return float(np.nan_to_num([case.chance(goals) for case in cases]).max())


@dataclass(frozen=True)
class Comparison(ABC):
    """What two sides have to do with each other."""

    text: str
    one: Side
    other: Side
    panel: str = ""
    goals: Goals = ""
    margin: float = 0.0
    confidence: float = CONFIDENCE

    def judge(self, cases: Sequence[Trained]) -> Judgement:
        sides = (self.one, self.other)
        compared = find(sides, cases, self.panel, self.goals)
        if isinstance(compared, Judgement):
            return compared
        of, tables = compared
        chance = by_chance(of, self.goals)
        found = difference(tables, sides, of[0] is of[1], chance, self.margin, self.confidence)
        unknown = found.nothing or np.isnan(found.low)
        verdict = "cannot say" if unknown else self.verdict(found)
        return Judgement(verdict, found.evidence + self.allowance)

    @abstractmethod
    def verdict(self, found: Difference) -> Verdict:
        """By the interval of the difference."""

    @property
    @abstractmethod
    def allowance(self) -> str:
        """What may be off before the claim is, in words."""


class Above(Comparison):
    """One side's mean success is above the other's, or not below it by more than a margin."""

    def verdict(self, found: Difference) -> Verdict:
        return above(-self.margin, found.low, found.high)

    @property
    def allowance(self) -> str:
        return f"; {self.margin:g} below is near enough" if self.margin else ""


@dataclass(frozen=True)
class Alike(Comparison):
    """Both sides differ by no more than a share of the other's success, either way."""

    share: float = 0.2

    def verdict(self, found: Difference) -> Verdict:
        margin = self.share * found.other
        if -margin < found.low and found.high < margin:
            return "supported"
        return "contradicted" if found.low > margin or found.high < -margin else "cannot say"

    @property
    def allowance(self) -> str:
        return f"; {self.share:.0%} of the latter is near enough"


@dataclass(frozen=True)
class Wider:
    """One side is further above another than a third above a fourth."""

    text: str
    sides: tuple[Side, Side, Side, Side]

    def judge(self, cases: Sequence[Trained]) -> Judgement:
        compared = find(self.sides, cases)
        if isinstance(compared, Judgement):
            return compared
        means = [table.mean(axis=1) for table in compared[1]]
        low, high = welch_interval(*means)
        learnt = max(np.mean(mean) for mean in means) > by_chance(compared[0])
        here, there = (float(np.mean(means[i]) - np.mean(means[i + 1])) for i in (0, 2))
        interval = _interval(low, high, *means)
        evidence = f"{here:+.3f} against {there:+.3f}; difference {here - there:+.3f} {interval}"
        return Judgement(above(0.0, low, high) if learnt else "cannot say", evidence)


@dataclass(frozen=True)
class Best:
    """One label's mean success is above every other's of its panel.

    One of many rivals is above by luck more often than one of one: what contradicts is an interval
    as much wider. What supports is that all are below, for which luck is no excuse.
    """

    text: str
    label: str
    panel: str

    def judge(self, cases: Sequence[Trained]) -> Judgement:
        trained = [c.label for c in cases if c.panel == self.panel and c.runs]
        rivals = [label for label in trained if label != self.label]
        if not rivals or self.label not in trained:
            return NOT_TRAINED
        found = [self._beside(rival, among(len(rivals)), cases) for rival in rivals]
        strength = ("contradicted", "cannot say", "supported")
        weakest = min(found, key=lambda one: strength.index(one.verdict))
        return replace(weakest, evidence=f"{weakest.evidence}; one of {len(rivals)} comparisons")

    def _beside(self, rival: str, confidence: float, cases: Sequence[Trained]) -> Judgement:
        compared = Above("", Side(self.label), Side(rival), self.panel)
        judged = compared.judge(cases)
        if judged.verdict == "supported":
            return judged
        return replace(compared, confidence=confidence).judge(cases)
