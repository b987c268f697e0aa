"""What the paper says, and whether the runs of a study bear it out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from allgoals.report.pictures import Trained, scores
from allgoals.report.statistics import stratified_interval

FEWEST = 3  # seeds on either side, for a verdict
Verdict = Literal["supported", "contradicted", "cannot say"]


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    evidence: str


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a case, or a part of its agent, at some point of training."""

    label: str
    x: float | None = None  # the parameter, where cases differ by one
    component: str = "agent"
    through: float = 1.0  # of the training: 1 for its end

    def scores(self, cases: Sequence[Trained], panel: str, goal: str) -> np.ndarray | None:
        """[seeds, goals] of the case that is meant, if it was trained."""
        for case in cases:
            if case.label != self.label or (panel and case.panel != panel):
                continue
            if self.x is not None and case.x != self.x:
                continue
            by_step = scores(case.runs, goal, self.component)
            steps = [step for step in by_step if step >= self.through * max(by_step)]
            return by_step[min(steps)] if steps else None
        return None

    def __str__(self) -> str:
        parts = [self.label, self.component if self.component != "agent" else ""]
        parts.append("" if self.x is None else f"{self.x:g}")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Above:
    """The upper side's mean success is above the lower's, or at least not below by a margin."""

    text: str
    upper: Side
    lower: Side
    panel: str = ""
    goal: str = ""
    margin: float = 0.0

    def judge(self, cases: Sequence[Trained]) -> Judgement:
        upper = self.upper.scores(cases, self.panel, self.goal)
        lower = self.lower.scores(cases, self.panel, self.goal)
        if upper is None or lower is None:
            return Judgement("cannot say", "not trained at this budget")
        seeds = [side.mean(axis=1, keepdims=True) for side in (upper, lower)]
        low, high = stratified_interval(difference, *seeds)
        evidence = (
            f"{self.upper} {upper.mean():.3f}, {self.lower} {lower.mean():.3f};"
            f" difference {difference(upper, lower):+.3f}"
        )
        if min(len(upper), len(lower)) < FEWEST:
            return Judgement("cannot say", f"{evidence}, of fewer than {FEWEST} seeds")
        evidence += f" (95 %: {low:+.3f} to {high:+.3f})"
        if low > -self.margin:
            return Judgement("supported", evidence)
        return Judgement("contradicted" if high < -self.margin else "cannot say", evidence)


def difference(upper: np.ndarray, lower: np.ndarray) -> float:
    return float(upper.mean() - lower.mean())
