"""Linear algebra that serves dense and sparse matrices alike."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

__all__ = ["BoolArray", "FloatArray", "IntArray", "LinearSystem", "Matrix", "is_sparse"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any  # FloatArray | scipy.sparse.csr_array: scipy ships no types

# From this size on, a sparse system is tried by GMRES before it is factorised. On random graphs a factorisation fills
# in until memory is gone while GMRES needs a handful of products; on grids and cycles it is the other way round.
ITERATIVE_SIZE = 20_000
RESIDUAL = 1e-13


def is_sparse(matrix: Matrix) -> bool:
    """Whether `matrix` is one of scipy's sparse arrays."""
    return bool(scipy.sparse.issparse(matrix))


class LinearSystem:
    """One square matrix, many right-hand sides: A x = b and Aᵀ x = b.

    Dense matrices are factorised (LAPACK), sparse ones too (SuperLU), except that large sparse systems are tried by
    GMRES first. An answer of GMRES counts only if its residual is at the level of rounding.
    """

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix.tocsc() if is_sparse(matrix) else matrix
        self._iterate = is_sparse(matrix) and matrix.shape[0] >= ITERATIVE_SIZE
        self._factors: Any = None

    def solve(self, rhs: FloatArray, *, transposed: bool = False) -> FloatArray:
        """The x with A x = rhs, or Aᵀ x = rhs."""
        if self._iterate:
            x = _gmres(self._matrix.T if transposed else self._matrix, rhs)
            if x is not None:
                return x
            self._iterate = False
        if self._factors is None:
            sparse = is_sparse(self._matrix)
            self._factors = scipy.sparse.linalg.splu(self._matrix) if sparse else scipy.linalg.lu_factor(self._matrix)
        if is_sparse(self._matrix):
            return np.asarray(self._factors.solve(rhs, "T" if transposed else "N"))
        return np.asarray(scipy.linalg.lu_solve(self._factors, rhs, trans=int(transposed)))


def _gmres(matrix: Matrix, rhs: FloatArray) -> FloatArray | None:
    norm = float(np.linalg.norm(rhs))
    if norm == 0.0:
        return np.zeros_like(rhs)
    x, _ = scipy.sparse.linalg.gmres(matrix, rhs, rtol=RESIDUAL, atol=0.0, restart=60, maxiter=4)
    small = np.linalg.norm(matrix @ x - rhs) <= 10 * RESIDUAL * (norm + np.linalg.norm(x))
    return np.asarray(x) if small else None
