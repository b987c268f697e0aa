"""Few seeds, honestly summed up: a mean, how far to trust it, and a mean without the extremes."""

import math

import numpy as np
from numpy.typing import ArrayLike

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
