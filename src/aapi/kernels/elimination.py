"""Gaussian elimination inside kernels, for equations that are not symmetric: bits that depend on no library."""

from __future__ import annotations

from typing import Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.kernels.linalg import dot

PANEL = 4  # columns that are eliminated together: rows below are read and written once for all of them


@kernel
def eliminate(matrix: Any, order: Any) -> Any:
    """Turn a square matrix into its factors L, below the diagonal, and U, with the largest pivots first.

    order: room for the rows in the order in which they were taken. Returns the size of the smallest pivot, 0 if the
    matrix is singular.
    """
    size = order.size
    for i in range(size):
        order[i] = i
    smallest = np.inf
    for first in range(0, size, PANEL):
        last = min(first + PANEL, size)
        for k in range(first, last):
            best = k
            for i in range(k + 1, size):
                if abs(matrix[i, k]) > abs(matrix[best, k]):
                    best = i
            if best != k:
                order[k], order[best] = order[best], order[k]
                upper, lower = matrix[k], matrix[best]
                for j in range(size):
                    upper[j], lower[j] = lower[j], upper[j]
            pivot = matrix[k, k]
            if not abs(pivot) > 0.0:  # or nan
                return 0.0
            smallest = min(smallest, abs(pivot))
            for i in range(k + 1, size):
                factor = matrix[i, k] / pivot
                matrix[i, k] = factor
                for j in range(k + 1, last):
                    matrix[i, j] -= factor * matrix[k, j]
        for k in range(first, last):
            source = matrix[k, last:]
            for i in range(k + 1, last):
                factor, target = matrix[i, k], matrix[i, last:]
                for j in range(target.size):
                    target[j] -= factor * source[j]
        _update(matrix, first, last)
    return smallest


@kernel
def _update(matrix: Any, first: Any, last: Any) -> None:
    """Subtract the products of the rows first … last − 1, which are finished, from all rows below."""
    size = matrix.shape[0]
    if last - first == PANEL:
        r0, r1 = matrix[first, last:], matrix[first + 1, last:]
        r2, r3 = matrix[first + 2, last:], matrix[first + 3, last:]
        for i in range(last, size):
            target = matrix[i, last:]
            a0, a1, a2, a3 = matrix[i, first], matrix[i, first + 1], matrix[i, first + 2], matrix[i, first + 3]
            for j in range(target.size):
                target[j] -= (a0 * r0[j] + a1 * r1[j]) + (a2 * r2[j] + a3 * r3[j])


@kernel
def solve_eliminated(factors: Any, order: Any, rhs: Any, solution: Any) -> None:
    """The solution of A x = rhs, given what `eliminate` made of A."""
    size = order.size
    for i in range(size):
        solution[i] = rhs[order[i]] - dot(factors[i, :i], solution[:i])
    for i in range(size - 1, -1, -1):
        solution[i] = (solution[i] - dot(factors[i, i + 1 : size], solution[i + 1 :])) / factors[i, i]


@kernel
def solve_transposed(factors: Any, order: Any, rhs: Any, solution: Any) -> None:
    """The solution of Aᵀ x = rhs, given what `eliminate` made of A."""
    size = order.size
    work = rhs.copy()
    for i in range(size):
        work[i] /= factors[i, i]
        for j in range(i + 1, size):
            work[j] -= factors[i, j] * work[i]
    for i in range(size - 1, -1, -1):
        for j in range(i):
            work[j] -= factors[i, j] * work[i]
        solution[order[i]] = work[i]


@kernel
def one_norm(matrix: Any) -> Any:
    """The largest sum of absolute values in a column."""
    sums = np.zeros(matrix.shape[1])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            sums[j] += abs(matrix[i, j])
    return sums.max()


@kernel
def inverse_norm(factors: Any, order: Any) -> Any:
    """An estimate of ‖A⁻¹‖₁, from below and mostly exact, by a few solutions (Hager 1984)."""
    size = order.size
    guess, found, slope = np.full(size, 1.0 / size), np.empty(size), np.empty(size)
    estimate, before = 0.0, -1
    for _ in range(5):
        solve_eliminated(factors, order, guess, found)
        estimate = max(estimate, np.abs(found).sum())
        for i in range(size):
            found[i] = 1.0 if found[i] >= 0.0 else -1.0
        solve_transposed(factors, order, found, slope)
        steepest = 0
        for i in range(size):
            if abs(slope[i]) > abs(slope[steepest]):
                steepest = i
        if steepest == before or not abs(slope[steepest]) > dot(slope, guess):
            break
        before = steepest
        guess[:] = 0.0
        guess[steepest] = 1.0
    return estimate
