import math

import numpy as np
import pytest
from scipy.stats import trim_mean

from allgoals.report.statistics import bootstrap_interval, interquartile_mean, standard_error


def test_standard_error_by_hand():
    # mean 4, squared deviations 4 + 0 + 4, variance 8 / 2, error 2 / sqrt(3)
    assert standard_error([2, 4, 6]) == pytest.approx(2 / math.sqrt(3))


def test_one_value_has_no_spread():
    assert math.isnan(standard_error([0.5]))
    assert all(math.isnan(end) for end in bootstrap_interval([0.5]))


def test_bootstrap_of_two_seeds_spans_both():
    # a quarter of all resamples holds either value alone, far more than 2.5 %
    assert bootstrap_interval([0.2, 0.6]) == (pytest.approx(0.2), pytest.approx(0.6))


def test_bootstrap_of_few_seeds_by_hand():
    # only zeros come up 8 times in 27, only ones once in 27: both more than 2.5 % of the time
    assert bootstrap_interval([0, 0, 1]) == (0, 1)
    # only zeros come up once in 256, a single one or none 13 times in 256
    assert bootstrap_interval([0, 1, 1, 1]) == (0.25, 1)


def test_bootstrap_is_the_same_every_time_and_covers_the_normal_interval():
    values = np.random.default_rng(1).normal(size=200)
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values) != bootstrap_interval(values, seed=1)
    half = 1.96 * standard_error(values)
    expected = (values.mean() - half, values.mean() + half)
    assert bootstrap_interval(values) == pytest.approx(expected, abs=0.01)


def test_interquartile_mean_by_hand():
    assert interquartile_mean([[0, 9], [2, 4]]) == 3
    assert interquartile_mean([100, 1, 2, 3, 4]) == 3
    assert math.isnan(interquartile_mean([]))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 10, 33])
def test_interquartile_mean_is_that_of_rliable(size):
    scores = np.random.default_rng(size).normal(size=size)
    assert interquartile_mean(scores) == pytest.approx(trim_mean(scores, 0.25))
