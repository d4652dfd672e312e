"""Linear systems (I − P) x = b for transient states, solved accurately even if they are left very rarely."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from aapi.errors import DoesNotExist

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Matrix

REDUCTION_SIZE = 400  # up to this size, states are eliminated without a subtraction
# From this size on, a sparse system is tried by GMRES before it is factorised. On random graphs a factorisation fills
# in until memory is gone while GMRES needs a handful of products; on grids and cycles factorisations are cheap, and
# GMRES is slow.
ITERATIVE_SIZE = 20_000
CYCLE = 30  # products in one cycle of GMRES
CYCLES = 8
PROGRESS = 1e-3  # if the relative residual after the first cycle is larger, GMRES is given up
RESIDUAL = 1e-13


def is_sparse(matrix: Matrix) -> bool:
    """Whether `matrix` is one of scipy's sparse arrays."""
    return bool(scipy.sparse.issparse(matrix))


def row_sums(matrix: Matrix) -> Array:
    """The sum of each row, (rows,), of a dense or a sparse matrix."""
    return np.asarray(matrix.sum(axis=1)).ravel()


class SparseFactors(Protocol):
    """scipy.sparse.linalg.SuperLU."""

    def solve(self, rhs: Array, trans: str) -> Array:
        """The solution for the matrix ("N") or its transpose ("T")."""


class TransientSystem:
    """(I − P) x = b and (I − P)ᵀ x = b, for the transitions P among transient states.

    rows: the transitions from the transient states, `inside`, to all states; outside: where they can leave to.
    1 − P(x, x) is computed as the sum of all other probabilities, never as a difference, so that a state that is left
    once in 10¹⁵ steps loses no accuracy.

    Small systems are solved by state reduction (Grassmann, Taksar and Heyman 1985), which has no subtractions; larger
    ones by LU factors, or by GMRES where it converges fast. These two lose accuracy for extremely rare transitions.
    """

    def __init__(self, rows: Matrix, inside: Integers, outside: Integers) -> None:
        transitions, leaving = rows[:, inside], row_sums(rows[:, outside])
        self._reduced = transitions.shape[0] <= REDUCTION_SIZE
        if self._reduced:
            dense = transitions.toarray() if is_sparse(transitions) else transitions.copy()
            with np.errstate(over="ignore", invalid="ignore"):
                self._matrix, self._exits = _reduce(dense, leaving)
            if not np.isfinite(self._matrix).all():
                raise _unsolvable()
            return
        if is_sparse(transitions):
            off_diagonal = transitions - scipy.sparse.diags_array(transitions.diagonal())
            exits = row_sums(off_diagonal) + leaving
            self._matrix = (scipy.sparse.diags_array(exits) - off_diagonal).tocsc()
        else:
            self._matrix = -transitions
            np.fill_diagonal(self._matrix, 0.0)
            np.fill_diagonal(self._matrix, leaving - self._matrix.sum(axis=1))
        self._iterate = is_sparse(transitions) and transitions.shape[0] >= ITERATIVE_SIZE
        self._factors: SparseFactors | tuple[Array, Integers] | None = None

    def solve(self, rhs: Array, *, transposed: bool = False) -> Array:
        """The x with (I − P) x = rhs, or (I − P)ᵀ x = rhs."""
        if not self._reduced and self._iterate:
            x = _gmres(self._matrix.T if transposed else self._matrix, rhs)
            if x is not None:
                return x
            self._iterate = False
        if self._reduced:
            solve = _solve_reduced_transposed if transposed else _solve_reduced
            with np.errstate(over="ignore", invalid="ignore"):  # the result is checked
                x = solve(self._matrix, self._exits, rhs)
        else:
            x = self._solve_by_factors(rhs, transposed)
        if not np.isfinite(x).all():
            raise _unsolvable()
        return x

    def _solve_by_factors(self, rhs: Array, transposed: bool) -> Array:
        if self._factors is None:
            self._factors = self._factorise()
        if isinstance(self._factors, tuple):
            return np.asarray(scipy.linalg.lu_solve(self._factors, rhs, trans=int(transposed)))
        return np.asarray(self._factors.solve(rhs, "T" if transposed else "N"))

    def _factorise(self) -> SparseFactors | tuple[Array, Integers]:
        factorise = scipy.sparse.linalg.splu if is_sparse(self._matrix) else scipy.linalg.lu_factor
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            try:
                factors: SparseFactors | tuple[Array, Integers] = factorise(self._matrix)
            except (RuntimeError, scipy.linalg.LinAlgWarning):  # exactly singular
                raise _unsolvable() from None
        return factors


def _unsolvable() -> DoesNotExist:
    return DoesNotExist("some states are left too rarely for double precision in a model of this size")


def _reduce(matrix: Array, leaving: Array) -> tuple[Array, Array]:
    """Eliminate one state after the other, the last one first, and redistribute the transitions through it.

    Afterwards, in the chain observed on the states 0 … k only: row k has, left of the diagonal, the transitions of k;
    column k has, above the diagonal, the expected visits to k per visit of each state; the second result has the
    probability of leaving k.
    """
    leaving = leaving.copy()
    exits = np.empty_like(leaving)
    for k in range(len(leaving) - 1, -1, -1):
        row = matrix[k, :k]
        exits[k] = row.sum() + leaving[k]
        if exits[k] == 0.0:
            raise _unsolvable()
        matrix[:k, k] /= exits[k]
        from_before = np.flatnonzero(matrix[:k, k])
        visits = matrix[from_before, k]
        matrix[from_before, :k] += visits[:, None] * row
        leaving[from_before] += visits * leaving[k]
    return matrix, exits


def _solve_reduced(matrix: Array, exits: Array, rhs: Array) -> Array:
    x = np.array(rhs, dtype=np.float64)
    for k in range(len(x) - 1, 0, -1):
        x[:k] += matrix[:k, k] * x[k]
    for k in range(len(x)):
        x[k] = (x[k] + matrix[k, :k] @ x[:k]) / exits[k]
    return x


def _solve_reduced_transposed(matrix: Array, exits: Array, rhs: Array) -> Array:
    x = np.array(rhs, dtype=np.float64)
    for k in range(len(x) - 1, -1, -1):
        x[k] /= exits[k]
        x[:k] += matrix[k, :k] * x[k]
    for k in range(1, len(x)):
        x[k] += matrix[:k, k] @ x[:k]
    return x


def _gmres(matrix: Matrix, rhs: Array) -> Array | None:
    norm = float(np.linalg.norm(rhs))
    x = np.zeros_like(rhs)
    if norm == 0.0:
        return x
    for cycle in range(CYCLES):
        x, _ = scipy.sparse.linalg.gmres(matrix, rhs, x0=x, rtol=RESIDUAL, atol=0.0, restart=CYCLE, maxiter=1)
        residual = np.linalg.norm(matrix @ x - rhs)
        if residual <= 10 * RESIDUAL * (norm + min(float(np.linalg.norm(x)), 100 * norm)):
            return np.asarray(x)
        if cycle == 0 and residual > PROGRESS * norm:
            return None
    return None
