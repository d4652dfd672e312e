import numpy as np
import pytest

from aapi.approximation.tabular import TabularSurprise
from aapi.improvement import SampledAdaptive
from aapi.kernels.random import streams


def test_sampling_estimates_the_sum_without_bias():
    # A first difference of 1 and 999 small ones: together the squares are 2.
    surprises = np.full((1000, 2000, 1), (1 / 999) ** 0.5)
    surprises[0] = 1.0
    none = np.zeros((2000, 1))
    surprise = TabularSurprise(
        none, none, surprises, span=False, num_phases=1000, num_actions=1, k=1000, streams=streams(0, range(2000))
    )
    for keep_first, deviation in ((True, 1e-12), (False, 1.0)):
        squares = SampledAdaptive(1.0, num_sampled=30, keep_first=keep_first)(1000, surprise) ** 2
        assert squares.mean() == pytest.approx(4.0, abs=4 * deviation * squares.std() / 2000**0.5 + 1e-9)
