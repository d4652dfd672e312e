from statistics import NormalDist

import numpy as np
import pytest
import reference

from aapi.errors import InvalidInput
from aapi.kernels.random import (
    EDGES,
    HEIGHTS,
    TAIL,
    advance,
    fill_normal,
    sample_without_replacement,
    streams,
    to_unit,
)


def test_the_generator_is_xoshiro256_plus_plus():
    # The first outputs from the state 1, 2, 3, 4, as its authors' code gives them.
    expected = [
        41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
        14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
    ]  # fmt: skip
    state = tuple(np.uint64(n) for n in (1, 2, 3, 4))
    found = []
    for _ in expected:
        *state, bits = advance(*(np.uint64(word) for word in state))
        found.append(int(bits))
    assert found == expected
    independent = reference.Stream([1, 2, 3, 4])
    assert [independent.bits() for _ in expected] == expected


def test_uniform_numbers_lie_in_the_unit_interval():
    assert to_unit(np.uint64(0)) == 0.0
    assert to_unit(np.uint64(2**64 - 1)) == 1.0 - 2.0**-53


def test_a_run_has_its_own_stream():
    many = streams(3, range(50))
    assert len({row.tobytes() for row in many}) == 50
    assert (streams(3, [17]) == many[17]).all()
    assert (streams(4, [17]) != many[17]).any()
    with pytest.raises(InvalidInput, match="seed must be at least 0, not -1"):
        streams(-1, [0])


def test_normal_numbers():
    stream, out = streams(0, [0])[0], np.empty(100_001)
    independent = reference.Stream(stream)
    fill_normal(stream, out)
    assert out[:99] == pytest.approx(independent.normals(100)[:99], abs=1e-14)
    # Four standard deviations of the first four moments.
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((out**power).mean() - moment) < 4 * (variance / out.size) ** 0.5


def test_layers_and_tail_of_the_ziggurat_are_met_as_often_as_they_should():
    stream, out = streams(1, [0])[0], np.empty(1_000_000)
    fill_normal(stream, out)
    edges = np.concatenate([-EDGES[1:-1], EDGES[:0:-1]])  # of 256 layers on both sides; beyond the outermost, the tail
    expected = out.size * np.diff([0.0, *map(NormalDist().cdf, edges), 1.0])
    found = np.histogram(out, [-np.inf, *edges, np.inf])[0]
    freedom = len(found) - 1
    assert abs(((found - expected) ** 2 / expected).sum() - freedom) < 4 * (2 * freedom) ** 0.5
    tail = np.array([NormalDist().cdf(-abs(x)) for x in out if abs(x) > TAIL]) / NormalDist().cdf(-TAIL)
    assert abs(tail.mean() - 0.5) < 4 / (12 * tail.size) ** 0.5  # uniform there
    assert EDGES[255] * (1.0 - HEIGHTS[255]) == pytest.approx(EDGES[0] * HEIGHTS[1], rel=1e-11)  # the same area


def test_samples_without_replacement_are_distinct_and_even():
    stream, out = streams(0, [0])[0], np.empty(3, dtype=np.int64)
    counts = np.zeros(5)
    for _ in range(10_000):
        sample_without_replacement(stream, 5, out)
        assert len(set(out.tolist())) == 3
        counts[out] += 1
    assert abs(counts - 6000).max() < 5 * (10_000 * 0.6 * 0.4) ** 0.5
