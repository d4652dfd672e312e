import itertools

import numpy as np
import pytest

from aapi.statistics import compare, compare_all, deviation, holm, interquartile_mean, permutation_p, spread


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


def test_holm_multiplies_by_the_number_of_tests_that_are_left():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_p_of_two_small_samples_is_that_of_all_ways_to_deal_them_out():
    x, y = np.array([3.0, 4.0, 6.0]), np.array([1.0, 2.0, 2.5])
    both = np.concatenate([x, y])
    observed = abs(x.mean() - y.mean())
    ways = [abs(both[list(pick)].mean() - np.delete(both, pick).mean()) for pick in itertools.combinations(range(6), 3)]
    exact = np.mean([way >= observed - 1e-12 for way in ways])
    assert permutation_p(x, y) == pytest.approx(exact, abs=0.01)
    assert permutation_p(x, x) == 1.0


def test_among_samples_of_the_same_no_pair_is_told_apart_in_nineteen_cases_of_twenty():
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(40):
        samples = {str(i): rng.exponential(size=20) for i in range(5)}
        wrong += any(pair.verdict for pair in compare_all(samples))
    assert wrong <= 6  # of 40, where 2 are to be expected


def test_samples_that_differ_are_told_apart_in_both_directions():
    rng = np.random.default_rng(1)
    samples = {name: mean + rng.normal(size=20) for name, mean in (("low", 0.0), ("high", 3.0), ("low too", 0.0))}
    verdicts = {(pair.ours, pair.theirs): pair.verdict for pair in compare_all(samples)}
    assert verdicts == {("low", "high"): -1, ("low", "low too"): 0, ("high", "low too"): 1}
