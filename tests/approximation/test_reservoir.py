import numpy as np
import pytest

from aapi.approximation.reservoir import draw_sample, place_in_reservoir, reservoir_size, sample_scales
from aapi.kernels.random import streams

RUNS = 20_000


def sampled(phases, size, count, keep_first):
    """How often each of the differences 1 … phases is in a sample, after a reservoir of `size` saw them all."""
    stream = streams(3, range(RUNS))
    reservoir = np.zeros((RUNS, size), dtype=np.int64)
    for phase in range(1, phases + 1):
        places = place_in_reservoir(phase, size, stream)
        runs = np.flatnonzero(places >= 0)
        reservoir[runs, places[runs]] = phase
    sample = draw_sample(phases, size, count, keep_first, stream)
    chosen = np.take_along_axis(reservoir, sample, axis=1)
    assert all(len(set(row)) == count for row in chosen[:500].tolist())
    return np.bincount(chosen.ravel(), minlength=phases + 1)[1:] / RUNS


@pytest.mark.parametrize("size", [5, 6, 12, 20])
def test_every_difference_is_as_likely_to_be_sampled(size):
    shares = sampled(12, size, 4, keep_first=False)
    assert shares == pytest.approx(np.full(12, 4 / 12), abs=0.02)


@pytest.mark.parametrize("size", [5, 12])
def test_the_first_difference_can_be_kept_and_the_others_are_as_likely(size):
    shares = sampled(12, size, 4, keep_first=True)
    assert shares[0] == 1.0
    assert shares[1:] == pytest.approx(np.full(11, 3 / 11), abs=0.02)


def test_scales_make_the_sum_of_squares_unbiased():
    assert (sample_scales(12, 3, keep_first=False) ** 2).tolist() == pytest.approx([4.0, 4.0, 4.0])
    assert (sample_scales(12, 3, keep_first=True) ** 2).tolist() == pytest.approx([1.0, 5.5, 5.5])
    assert sample_scales(1, 1, keep_first=True).tolist() == [1.0]


def test_a_reservoir_is_no_larger_than_it_can_get_full():
    assert reservoir_size(30, None) == 300
    assert reservoir_size(30, 50) == 50
    assert reservoir_size(1, None) == 10
