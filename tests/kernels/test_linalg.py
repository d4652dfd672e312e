import numpy as np
import pytest

from aapi.kernels.linalg import FEW, add_product, aligned_zeros, factorise, solve_regression


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
@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 4), (7, 9), (9, 30)])
def test_products_are_added(depth, shape):
    random = np.random.default_rng(depth)
    left, right = random.standard_normal((8, shape[0])), random.standard_normal((8, shape[1]))
    out = random.standard_normal(shape)
    expected = out - left[:depth].T @ right[:depth]
    above = out.copy()
    add_product(left, right, depth, -1.0, 0, False, out)
    assert out == pytest.approx(expected)
    add_product(left, right, depth, -1.0, 1, True, above[1:])
    assert np.triu(above[1:], 1) == pytest.approx(np.triu(expected[1:], 1))


@pytest.mark.parametrize("size", [1, 2, 19, FEW, FEW + 1, 83])
def test_regressions_of_any_size_are_solved(size):
    random = np.random.default_rng(size)
    matrix, rhs = random.standard_normal((size + 3, size)), random.standard_normal(size)
    gram, room = matrix.T @ matrix, aligned_zeros(1, size, size)[0]
    room[:, :size] = np.triu(gram)
    solution = rhs.copy()
    assert solve_regression(room, 0.1, solution)
    assert solution == pytest.approx(np.linalg.solve(gram + 0.1 * np.eye(size), rhs))
    assert np.triu(room[:, :size]) == pytest.approx(np.linalg.cholesky(gram + 0.1 * np.eye(size)).T, abs=1e-10)
    vector = np.arange(1.0, size + 1)
    assert solve_regression(np.outer(vector, vector), 0.0, rhs) == (size == 1)
