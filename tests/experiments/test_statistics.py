import numpy as np
import pytest

from aapi.experiments.statistics import compare, interquartile_mean, probability_of_improvement, spread


def test_interquartile_mean_by_hand():
    assert interquartile_mean([1.0, 2.0, 3.0, 1000.0]) == 2.5
    assert interquartile_mean([-1000.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == 3.5
    assert interquartile_mean([5.0]) == 5.0


def test_probability_of_improvement_by_hand():
    assert probability_of_improvement([3.0, 4.0], [1.0, 2.0]) == 1.0
    assert probability_of_improvement([1.0], [1.0]) == 0.5
    assert probability_of_improvement([1.0, 3.0], [2.0, 2.0, 3.0]) == pytest.approx((0 + 0 + 0 + 1 + 1 + 0.5) / 6)


def test_spread_is_the_paper_s_mean_and_deviation():
    sample = np.random.default_rng(5).normal(3.0, 2.0, 50)
    found = spread(sample)
    assert (found.count, found.mean.estimate, found.std) == (50, sample.mean(), sample.std(ddof=1))
    assert found.worst == sample.min()
    assert found.mean.lower < found.mean.estimate < found.mean.upper
    assert found == spread(sample)


def test_one_run_and_equal_runs_have_no_spread():
    for sample in ([2.0], [2.0] * 7):
        found = spread(sample)
        assert (found.std, found.mean.lower, found.mean.upper) == (0.0, 2.0, 2.0)
    difference, improvement = compare([2.0], [2.0])
    assert (difference.estimate, improvement.estimate) == (0.0, 0.5)


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    means, differences, improvements = 0, 0, 0
    for _ in range(300):
        ours, theirs = rng.normal(0.0, 1.0, 50), rng.normal(0.5, 2.0, 30)
        found = spread(ours).mean
        difference, improvement = compare(ours, theirs)
        means += found.lower <= 0.0 <= found.upper
        differences += difference.lower <= -0.5 <= difference.upper
        improvements += improvement.lower <= 0.4115 <= improvement.upper  # Φ(−0.5/√5)
    for covered in (means, differences, improvements):
        assert 0.90 <= covered / 300 <= 0.98
