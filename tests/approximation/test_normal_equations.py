import numpy as np
import pytest

from aapi.approximation.normal_equations import NormalEquations
from aapi.kernels.linalg import add_product, factorise
from aapi.features import Fourier, Radial, Tiles
from aapi.features.basis import LINEAR, Basis
from aapi.approximation.linear_policy import aligned_zeros

RAW = Basis(LINEAR, np.zeros(3), np.ones(3), 0, np.empty((0, 0)), np.empty(0), 1.0, 0, linear=True)
BASES = {
    "fourier 1": Fourier(6).basis([-1.0], [1.0]),
    "fourier 2": Fourier(3).basis([-1.0] * 2, [1.0] * 2),
    "fourier 3": Fourier(2, linear=False).basis([-1.0] * 3, [1.0] * 3),
    "fourier 4": Fourier(4).basis([-1.0] * 4, [1.0] * 4),
    "fourier 5": Fourier(1).basis([-1.0] * 5, [1.0] * 5),
    "tiles": Tiles(3, 4).basis([-1.0] * 2, [1.0] * 2),
    "radial": Radial(41).basis([-1.0] * 3, [1.0] * 3),
    "the user's": RAW,
}


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("visits", [1, 32, 33, 900])
def test_normal_equations_equal_the_direct_product(basis, visits):
    random = np.random.default_rng(visits)
    observations = random.uniform(-1.2, 1.2, (visits + 5, basis.dimension))
    actions = random.integers(0, 3, visits + 5).astype(np.int32)
    targets = random.standard_normal(visits)
    equations = NormalEquations(basis)
    for action in (0, 2, 1):  # the same room again and again
        chosen = actions[:visits] == action
        assert equations.fill(observations, actions, targets, action) == chosen.sum()
        features = basis(observations[:visits])[chosen]
        gram, rhs = features.T @ features, features.T @ targets[chosen]
        size = basis.num_features
        upper = np.triu(equations.gram[:, :size])
        assert abs(upper - np.triu(gram)).max() <= 1e-9 * max(1.0, abs(gram).max())
        assert equations.rhs == pytest.approx(rhs, abs=1e-9)
        assert equations.solve(0.7)
        assert equations.rhs == pytest.approx(np.linalg.solve(gram + 0.7 * np.eye(size), rhs), abs=1e-8)


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 31, 64, 83])
def test_factors_are_cholesky_factors(size):
    random = np.random.default_rng(size)
    matrix = random.standard_normal((size + 3, size))
    gram = matrix.T @ matrix
    room = aligned_zeros(1, size, size)[0]
    room[:, :size] = gram
    assert factorise(room, 0.1)
    assert np.triu(room[:, :size]) == pytest.approx(np.linalg.cholesky(gram + 0.1 * np.eye(size)).T, abs=1e-10)


def test_singular_matrices_are_noticed_at_any_scale():
    vector = np.arange(1.0, 21.0)
    for scale in (1e-30, 1.0, 1e30):
        assert not factorise(scale * np.outer(vector, vector), 0.0)
        assert factorise(scale * (np.outer(vector, vector) + np.eye(20)), 0.0)


@pytest.mark.parametrize("depth", [0, 1, 3, 4, 7])
@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 4), (7, 9)])
def test_products_are_added(depth, shape):
    random = np.random.default_rng(depth)
    left, right = random.standard_normal((8, shape[0])), random.standard_normal((8, shape[1]))
    out = random.standard_normal(shape)
    expected = out + left[:depth].T @ right[:depth]
    add_product(left, right, depth, False, out)
    assert out == pytest.approx(expected)
