import numpy as np
import pytest

from aapi.statistics import compare, deviation, interquartile_mean, spread


def test_interquartile_mean_by_hand():
    assert interquartile_mean([1.0, 2.0, 3.0, 1000.0]) == 2.5
    assert interquartile_mean([-1000.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == 3.5
    assert interquartile_mean([5.0]) == 5.0


def test_probability_of_improvement_by_hand():
    assert compare([3.0, 4.0], [1.0, 2.0])[1].estimate == 1.0
    assert compare([1.0], [1.0])[1].estimate == 0.5
    assert compare([1.0, 3.0], [2.0, 2.0, 3.0])[1].estimate == pytest.approx((0 + 0 + 0 + 1 + 1 + 0.5) / 6)


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


@pytest.mark.slow
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


def test_few_runs_make_intervals_that_exclude_the_truth_too_often():
    """Why verdicts need ten runs: docs/decisions.md has these shares."""
    rng, found = np.random.default_rng(1), {}
    for runs in (2, 5, 10):
        false = 0
        for _ in range(200):
            difference, _ = compare(rng.normal(size=runs), rng.normal(size=runs))
            false += not difference.lower <= 0.0 <= difference.upper
        found[runs] = false / 200
    assert found[2] > 0.25
    assert 0.07 < found[5] < 0.17
    assert found[10] < 0.11


def test_deviations_do_not_overflow_and_keep_their_digits():
    rng = np.random.default_rng(2)
    table = rng.normal(size=(20, 3)) * [1e-200, 1.0, 1e200]
    assert np.array_equal(deviation(table[:, 1:2]), table[:, 1:2].std(axis=0, ddof=1))
    assert np.allclose(deviation(table) / [1e-200, 1.0, 1e200], (table / [1e-200, 1.0, 1e200]).std(axis=0, ddof=1))
    assert np.array_equal(deviation(table[:1]), np.zeros(3))
    assert deviation(np.zeros(5)) == 0.0
