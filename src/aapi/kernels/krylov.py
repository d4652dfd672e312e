"""Large sparse equations A x = b inside kernels, by BiCGSTAB with incomplete factors: bits that depend on no library.

A matrix is given row by row: row i has the entries begins[i] … begins[i + 1] − 1, in the order of their columns, with
that of the diagonal among them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.kernels.linalg import dot

SMALLEST = 1e-8  # what factorisation must leave of the diagonal: I − P alone is singular
BETTER = 0.5  # what a search must leave of an error at the most to be followed by another one


@kernel
def sort_entries(rows: Any, columns: Any, values: Any, size: Any) -> Any:
    """Entries in any order, several of which may be of the same place and are added up, row by row."""
    for _ in range(2):  # to columns, then to rows: the second time, the columns of each row are in order
        begins = np.zeros(size + 1, dtype=np.int64)
        for column in columns:
            begins[column + 1] += 1
        for i in range(size):
            begins[i + 1] += begins[i]
        new_rows, new_columns, new_values = np.empty_like(rows), np.empty_like(rows), np.empty_like(values)
        for e in range(rows.size):
            place = begins[columns[e]]
            begins[columns[e]] += 1
            new_rows[place], new_columns[place], new_values[place] = columns[e], rows[e], values[e]
        rows, columns, values = new_rows, new_columns, new_values
    begins = np.zeros(size + 1, dtype=np.int64)
    last = -1
    for e in range(rows.size):
        if last >= 0 and rows[e] == rows[last] and columns[e] == columns[last]:
            values[last] += values[e]
        else:
            last += 1
            rows[last], columns[last], values[last] = rows[e], columns[e], values[e]
            begins[rows[e] + 1] += 1
    for i in range(size):
        begins[i + 1] += begins[i]
    return begins, columns[: last + 1], values[: last + 1]


@kernel
def factorise_incompletely(begins: Any, columns: Any, values: Any, factors: Any, diagonal: Any) -> None:
    """L and U with L U = A where A has entries, and none elsewhere (Meijerink and van der Vorst 1977).

    diagonal: room for the places of the diagonal's entries. For states that lead only to their neighbours, the factors
    are exact; for any policy of a model that may begin anew, they exist.
    """
    size = diagonal.size
    place = np.full(size, -1, dtype=np.int64)
    for i in range(size):
        for e in range(begins[i], begins[i + 1]):
            factors[e] = values[e]
            place[columns[e]] = e
        for e in range(begins[i], begins[i + 1]):
            k = columns[e]
            if k >= i:
                break
            factors[e] /= factors[diagonal[k]]
            for other in range(diagonal[k] + 1, begins[k + 1]):
                if place[columns[other]] >= 0:
                    factors[place[columns[other]]] -= factors[e] * factors[other]
        diagonal[i] = place[i]
        factors[place[i]] = max(factors[place[i]], SMALLEST * values[place[i]])
        for e in range(begins[i], begins[i + 1]):
            place[columns[e]] = -1


@kernel
def _apply_factors(begins: Any, columns: Any, factors: Any, diagonal: Any, rhs: Any, x: Any) -> None:
    """x = U⁻¹ L⁻¹ rhs."""
    for i in range(x.size):
        total = rhs[i]
        for e in range(begins[i], diagonal[i]):
            total -= factors[e] * x[columns[e]]
        x[i] = total
    for i in range(x.size - 1, -1, -1):
        total = x[i]
        for e in range(diagonal[i] + 1, begins[i + 1]):
            total -= factors[e] * x[columns[e]]
        x[i] = total / factors[diagonal[i]]


@kernel
def _multiply(begins: Any, columns: Any, values: Any, left: Any, right: Any, x: Any, out: Any) -> None:
    """out = (A + left rightᵀ) x."""
    share = 0.0
    for i in range(x.size):
        share += right[i] * x[i]
    for i in range(x.size):
        total = left[i] * share
        for e in range(begins[i], begins[i + 1]):
            total += values[e] * x[columns[e]]
        out[i] = total


@kernel
def _norm(vector: Any) -> Any:
    total = 0.0
    for i in range(vector.size):
        total += vector[i] * vector[i]
    return math.sqrt(total)


@kernel
def solve_sparse(
    begins: Any, columns: Any, values: Any, left: Any, right: Any, rhs: Any, accuracy: Any, most: Any, x: Any
) -> Any:
    """Improve x until (A + left rightᵀ) x = rhs up to `accuracy`, root mean square; how many rounds that took.

    BiCGSTAB (van der Vorst 1992), preconditioned from the right by incomplete factors of A. It stops after `most`
    rounds, or where another search finds nothing better; x is then the best that was found.
    """
    size = x.size
    factors, diagonal = np.empty(values.size), np.empty(size, dtype=np.int64)
    factorise_incompletely(begins, columns, values, factors, diagonal)
    error, best = np.empty(size), x.copy()
    limit = accuracy * math.sqrt(size)
    taken, before = 0, math.inf
    while True:
        _multiply(begins, columns, values, left, right, x, error)
        for i in range(size):
            error[i] = rhs[i] - error[i]
        norm = _norm(error)
        if not norm < before:
            x[:] = best
        if not limit < norm < BETTER * before or taken >= most:
            return taken
        before = norm
        best[:] = x
        taken += _search(begins, columns, values, left, right, factors, diagonal, limit, most - taken, error, x)


@kernel
def _search(
    begins: Any, columns: Any, values: Any, left: Any, right: Any, factors: Any, diagonal: Any, limit: Any, most: Any,
    error: Any, x: Any,
) -> Any:  # fmt: skip
    """Rounds of BiCGSTAB from x, whose error is given, until that is within the limit or a direction is lost."""
    size = x.size
    shadow, direction = error.copy(), error.copy()
    step, further, moved, also = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    along = dot(shadow, error)
    for taken in range(most):
        _apply_factors(begins, columns, factors, diagonal, direction, step)
        _multiply(begins, columns, values, left, right, step, moved)
        alpha = along / dot(shadow, moved)
        for i in range(size):
            error[i] -= alpha * moved[i]
        _apply_factors(begins, columns, factors, diagonal, error, further)
        _multiply(begins, columns, values, left, right, further, also)
        square = dot(also, also)
        omega = dot(also, error) / square if square > 0.0 else 0.0
        if not (abs(alpha) < math.inf and abs(omega) < math.inf):
            return taken + 1
        for i in range(size):
            x[i] += alpha * step[i] + omega * further[i]
            error[i] -= omega * also[i]
        new = dot(shadow, error)
        beta = (new / along) * (alpha / omega)
        if not _norm(error) > limit or not abs(beta) < math.inf:
            return taken + 1
        along = new
        for i in range(size):
            direction[i] = error[i] + beta * (direction[i] - omega * moved[i])
    return most
