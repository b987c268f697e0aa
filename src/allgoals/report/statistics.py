"""Few seeds, honestly summed up: means, how far to trust them, and how two algorithms compare.

Scores of one algorithm are [seeds, goals]. Intervals of what is drawn from all of them come from a
stratified bootstrap: the seeds of every goal are drawn anew, each goal for itself (Agarwal et al.,
"Deep Reinforcement Learning at the Edge of the Statistical Precipice", 2021).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

CONFIDENCE = 0.95
RESAMPLES = 10_000


def standard_error(values: ArrayLike) -> float:
    """The standard error of the mean; not a number for fewer than two values."""
    values = np.asarray(values, float)
    if values.size < 2:
        return math.nan
    return float(values.std(ddof=1) / math.sqrt(values.size))


def bootstrap_interval(values: ArrayLike, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean; not a number for under two values."""
    values = np.asarray(values, float)
    if values.size < 2:
        return math.nan, math.nan
    drawn = np.random.default_rng(seed).integers(values.size, size=(RESAMPLES, values.size))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values[drawn].mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


def interquartile_mean(scores: ArrayLike) -> float:
    """The mean of the middle half of all scores, whatever their shape."""
    scores = np.sort(np.asarray(scores, float), axis=None)
    if scores.size == 0:
        return math.nan
    cut = scores.size // 4
    return float(scores[cut : scores.size - cut].mean())


STRATIFIED_RESAMPLES = 2_000


def stratified_interval(
    statistic: Callable[..., ArrayLike], *scores: ArrayLike, seed: int = 0
) -> np.ndarray:
    """The 95 % interval [2, ...] of a statistic [...] of one or more arrays [seeds, goals].

    Not a number where an array has fewer than two seeds.
    """
    arrays = [np.asarray(one, float) for one in scores]
    if min(len(one) for one in arrays) < 2:
        return np.full((2, *np.shape(statistic(*arrays))), math.nan)
    random = np.random.default_rng(seed)
    drawn = [
        statistic(*(_resampled(one, random) for one in arrays)) for _ in range(STRATIFIED_RESAMPLES)
    ]
    tail = (1 - CONFIDENCE) / 2
    return np.quantile(drawn, [tail, 1 - tail], axis=0)


def _resampled(scores: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """As many seeds, drawn with repetition, for each goal by itself."""
    rows = random.integers(len(scores), size=scores.shape)
    return np.take_along_axis(scores, rows, axis=0)


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> np.ndarray:
    """The share of all scores above each threshold. [T]"""
    scores = np.asarray(scores, float).reshape(-1)
    return (scores > np.asarray(thresholds, float)[:, None]).mean(axis=1)


def probability_of_improvement(one: ArrayLike, other: ArrayLike) -> float:
    """How likely a seed of one is above a seed of the other on a goal drawn at random; a tie
    counts half."""
    one, other = np.asarray(one, float)[:, None], np.asarray(other, float)[None]
    return float((np.sign(one - other).mean() + 1) / 2)


def paired_interval(
    one: ArrayLike, other: ArrayLike, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The interval of the mean difference of two values that each seed has (Student's t).

    Not a number for fewer than two seeds, or where all differ alike.
    """
    apart = np.asarray(one, float) - np.asarray(other, float)
    error = standard_error(apart)
    if not error > 0:
        return math.nan, math.nan
    half = _quantile(apart.size - 1, confidence) * error
    return float(apart.mean() - half), float(apart.mean() + half)


def _quantile(freedom: float, confidence: float) -> float:
    """Student's t that a value exceeds, either way, with what confidence leaves."""
    return float(stdtrit(freedom, 1 - (1 - confidence) / 2))


def welch_interval(
    one: ArrayLike, other: ArrayLike, *more: ArrayLike, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The interval of the difference of two means, whose deviations may differ (Welch).

    Of four, of (one - other) - (third - fourth). Not a number where any has fewer than two values,
    or where none varies: seeds that agree to the last digit are those of a goal judged by few
    episodes, and say nothing of others.
    """
    samples = [np.asarray(values, float) for values in (one, other, *more)]
    if min(x.size for x in samples) < 2:
        return math.nan, math.nan
    variances = [x.var(ddof=1) / x.size for x in samples]
    total = sum(variances)
    signs = (1, -1, -1, 1)
    difference = sum(sign * float(x.mean()) for sign, x in zip(signs, samples, strict=False))
    if total == 0:
        return math.nan, math.nan
    freedom = total**2 / sum(v**2 / (x.size - 1) for v, x in zip(variances, samples, strict=True))
    half = _quantile(freedom, confidence) * math.sqrt(total)
    return difference - half, difference + half
