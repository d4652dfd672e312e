import itertools
import math

import numpy as np
import pytest

from aapi.environments import cartpole
from aapi.errors import InvalidInput, TooLarge
from aapi.features import Fourier, Radial, Tiles
from aapi.features.basis import finish_features


def points(dimension, count=200, seed=0):
    """Observations within and beyond the bounds ±1."""
    return np.random.default_rng(seed).uniform(-1.3, 1.3, (count, dimension))


def unit(observations):
    return np.clip((observations + 1.0) / 2.0, 0.0, 1.0)


def test_cartpole_has_625_cosines_and_4_observations_for_each_of_2_actions():
    problem = cartpole()
    with_observations = Fourier(4).basis(problem.low, problem.high)
    assert Fourier(4, linear=False).basis(problem.low, problem.high).num_features == 625
    assert with_observations.num_features == 629
    assert with_observations.num_features * problem.num_actions == 1258


@pytest.mark.parametrize(("dimension", "order"), [(1, 5), (2, 3), (3, 2), (4, 4), (6, 1)])
def test_fourier_features_are_cosines(dimension, order):
    basis = Fourier(order).basis([-1.0] * dimension, [1.0] * dimension)
    observations = points(dimension)
    frequencies = np.array([c[::-1] for c in itertools.product(range(order + 1), repeat=dimension)])
    expected = np.cos(np.pi * unit(observations) @ frequencies.T)
    features = basis(observations)
    assert features[:, : basis.size] == pytest.approx(expected, abs=1e-13)
    assert (features[:, basis.size :] == observations).all()


@pytest.mark.parametrize("features", [Fourier(3), Fourier(2, linear=False), Tiles(tiles=3, tilings=4), Radial(20)])
@pytest.mark.parametrize("dimension", [1, 3])
def test_begun_features_are_finished(features, dimension):
    basis = features.basis([-1.0] * dimension, [1.0] * dimension)
    observations = np.ascontiguousarray(points(dimension, 50))
    begun, waves, order = basis.begin(observations)
    finished = np.full((50, basis.num_features + 3), 7.0)
    for row, out in zip(begun, finished, strict=True):
        finish_features(row, waves, order, out)
    assert finished[:, :-3] == pytest.approx(basis(observations), abs=1e-13)
    assert (finished[:, -3:] == 7.0).all()


def test_features_have_their_own_bounds_if_given():
    basis = Fourier(1, low=[0.0, 10.0], high=[4.0, 30.0], linear=False).basis([-math.inf] * 2, [math.inf] * 2)
    assert basis([1.0, 20.0]) == pytest.approx([1.0, math.cos(math.pi / 4), 0.0, math.cos(0.75 * math.pi)])


def test_tiles_are_indicators_of_one_cell_in_each_tiling():
    basis = Tiles(tiles=3, tilings=4).basis([-1.0, -1.0], [1.0, 1.0])
    features = basis(points(2, 2000))
    assert basis.num_features == 4 * 4 * 4
    assert set(np.unique(features)) == {0.0, 1.0}
    assert (features.reshape(-1, 4, 16).sum(axis=2) == 1.0).all()
    # The corners, and the first tiling's cells: columns count fastest.
    assert np.flatnonzero(basis([-1.0, -1.0])).tolist() == [0, 16, 32, 48]
    assert np.flatnonzero(basis([0.0, -1.0]))[0] == 1
    assert np.flatnonzero(basis([-1.0, 0.0]))[0] == 4
    # Neighbours share most tiles, distant points none.
    near, far = basis([0.1, 0.1]) @ basis([0.15, 0.1]), basis([-0.9, -0.9]) @ basis([0.9, 0.9])
    assert near >= 3
    assert far == 0


def test_radial_features_approximate_a_gaussian_kernel():
    basis = Radial(num_features=20_000, width=0.4, linear=False).basis([-1.0] * 3, [1.0] * 3)
    first, second = unit(points(3, 20, 1)), unit(points(3, 20, 2))
    squares = ((first[:, None] - second[None]) ** 2).sum(axis=2)
    found = basis(2.0 * first - 1.0) @ basis(2.0 * second - 1.0).T
    assert found == pytest.approx(np.exp(-squares / (2 * 0.4**2)), abs=0.04)
    again, other = Radial(10, seed=3).basis([0.0], [1.0]), Radial(10, seed=4).basis([0.0], [1.0])
    assert (again.matrix == Radial(10, seed=3).basis([0.0], [1.0]).matrix).all()
    assert (again.matrix != other.matrix).any()


@pytest.mark.parametrize(
    ("features", "low", "high", "words"),
    [
        (Fourier(2), [-1.0, -math.inf], [1.0, math.inf], r"observation\[1\] lies in \[-inf, inf\].*low and high"),
        (Fourier(2), [-3.4e38], [3.4e38], r"observation\[0\].*finite bounds"),
        (Tiles(), [2.0], [1.0], r"observation\[0\] has the bounds \[2, 1\]: low must be below high"),
        (Radial(low=[0.0, 1.0, 2.0]), [0.0], [1.0], "low must be a number or 1 numbers"),
        (Radial(low="wide"), [0.0], [1.0], "low must be a number"),
        (Fourier(high=math.nan), [0.0], [1.0], "high holds nan"),
        (Fourier(0), [0.0], [1.0], "order must be at least 1, not 0"),
        (Tiles(tilings=0), [0.0], [1.0], "tilings must be at least 1"),
        (Radial(width=0.0), [0.0], [1.0], "width must be a finite number larger than 0"),
    ],
)
def test_what_features_refuse(features, low, high, words):
    with pytest.raises(InvalidInput, match=words):
        features.basis(low, high)


@pytest.mark.parametrize("features", [Fourier(9), Tiles(8, 8)])
def test_too_many_features_are_refused_before_memory_runs_out(features):
    with pytest.raises(TooLarge, match="more than 20000"):
        features.basis([0.0] * 8, [1.0] * 8)
