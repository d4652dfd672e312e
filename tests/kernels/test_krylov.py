import numpy as np
import pytest
import scipy.sparse

from aapi.kernels.krylov import factorise_incompletely, solve_sparse, sort_entries


def chain(size, seed=0):
    """I − 0.999 P of random steps up and down."""
    up = np.random.default_rng(seed).uniform(0.1, 0.9, size)
    matrix = np.eye(size)
    for i in range(size):
        matrix[i, max(i - 1, 0)] -= 0.999 * (1.0 - up[i])
        matrix[i, min(i + 1, size - 1)] -= 0.999 * up[i]
    return matrix


def graph(size, seed=0):
    """I − 0.999 P of four successors each, anywhere."""
    random = np.random.default_rng(seed)
    matrix = np.eye(size)
    for i in range(size):
        np.subtract.at(matrix[i], random.integers(size, size=4), 0.999 * random.dirichlet(np.ones(4)))
    return matrix


def entries(matrix):
    coo = scipy.sparse.coo_array(matrix)
    return sort_entries(coo.row.astype(np.int32), coo.col.astype(np.int32), coo.data, len(matrix))


def test_entries_are_sorted_and_added_up():
    random = np.random.default_rng(0)
    rows, columns = random.integers(7, size=(2, 200)).astype(np.int32)
    values = random.standard_normal(200)
    expected = scipy.sparse.coo_array((values, (rows, columns)), shape=(7, 7)).tocsr()
    expected.sum_duplicates()
    begins, across, found = sort_entries(rows, columns, values, 7)
    assert begins.tolist() == expected.indptr.tolist()
    assert across.tolist() == expected.indices.tolist()
    assert found == pytest.approx(expected.data)


def test_incomplete_factors_are_exact_on_a_chain():
    matrix = chain(30)
    begins, across, values = entries(matrix)
    factors, diagonal = np.empty_like(values), np.empty(30, dtype=np.int64)
    factorise_incompletely(begins, across, values, factors, diagonal)
    both = scipy.sparse.csr_array((factors, across, begins), shape=(30, 30)).toarray()
    assert (np.tril(both, -1) + np.eye(30)) @ np.triu(both) == pytest.approx(matrix)


@pytest.mark.parametrize("make", [chain, graph])
@pytest.mark.parametrize("size", [2, 50, 300])
@pytest.mark.parametrize("near", [False, True])
def test_solutions(make, size, near):
    random = np.random.default_rng(size)
    matrix, rhs = make(size), random.standard_normal(size)
    left, right = random.random(size), random.dirichlet(np.ones(size))
    exact = np.linalg.solve(matrix + np.outer(left, right), rhs)
    x = exact + 1e-3 * random.standard_normal(size) if near else np.zeros(size)
    taken = solve_sparse(*entries(matrix), left, right, rhs, 1e-12, 500, x)
    assert x == pytest.approx(exact, abs=1e-8 * np.abs(exact).max())
    assert taken <= 60
    again = solve_sparse(*entries(matrix), left, right, rhs, 1e-9, 500, x)
    assert again == 0


def test_it_ends_where_there_is_no_solution():
    matrix = np.array([[1.0, -1.0], [-1.0, 1.0]])
    x = np.zeros(2)
    zeros = np.zeros(2)
    assert solve_sparse(*entries(matrix), zeros, zeros, np.array([1.0, 1.0]), 1e-12, 500, x) <= 500
