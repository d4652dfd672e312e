"""Large sparse equations A x = b inside kernels, by GMRES with incomplete factors: bits that depend on no library.

A matrix is given row by row: row i has the entries begins[i] … begins[i + 1] − 1, in the order of their columns, with
that of the diagonal among them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.kernels.linalg import dot

RESTART = 40  # directions that are searched together, each of which takes room for a vector
SMALLEST = 1e-8  # what factorisation must leave of the diagonal: I − P alone is singular
STALLED = 0.9  # what a search must leave of an error at the most to be followed by another one


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
    """Improve x until (A + left rightᵀ) x = rhs up to `accuracy`, root mean square; how many products that took.

    GMRES (Saad and Schultz 1986), preconditioned from the right by incomplete factors of A. It stops after `most`, or
    where rounding allows no more.
    """
    size = x.size
    factors, diagonal = np.empty(values.size), np.empty(size, dtype=np.int64)
    factorise_incompletely(begins, columns, values, factors, diagonal)
    basis = np.empty((RESTART + 1, size))
    hessenberg, cosines, sines = np.zeros((RESTART + 1, RESTART)), np.empty(RESTART), np.empty(RESTART)
    goal = np.empty(RESTART + 1)
    step, product = np.empty(size), np.empty(size)
    limit = accuracy * math.sqrt(size)
    taken, before = 0, math.inf
    while True:
        _multiply(begins, columns, values, left, right, x, product)
        for i in range(size):
            basis[0, i] = rhs[i] - product[i]
        norm = _norm(basis[0])
        if not norm > limit or norm > STALLED * before or taken >= most:
            return taken
        before = norm
        for i in range(size):
            basis[0, i] /= norm
        goal[:] = 0.0
        goal[0] = norm
        k = 0
        while k < RESTART and taken < most and abs(goal[k]) > limit:
            _apply_factors(begins, columns, factors, diagonal, basis[k], step)
            new = basis[k + 1]
            _multiply(begins, columns, values, left, right, step, new)
            for j in range(k + 1):
                known = basis[j]
                along = dot(known, new)
                for i in range(size):
                    new[i] -= along * known[i]
                hessenberg[j, k] = along
            length = _norm(new)
            if length > 0.0:
                for i in range(size):
                    new[i] /= length
            for j in range(k):  # the rotations so far
                upper, lower = hessenberg[j, k], hessenberg[j + 1, k]
                hessenberg[j, k] = cosines[j] * upper + sines[j] * lower
                hessenberg[j + 1, k] = cosines[j] * lower - sines[j] * upper
            radius = math.sqrt(hessenberg[k, k] * hessenberg[k, k] + length * length)
            if not radius > 0.0:
                break
            cosines[k], sines[k] = hessenberg[k, k] / radius, length / radius
            hessenberg[k, k] = radius
            goal[k + 1] = -sines[k] * goal[k]
            goal[k] *= cosines[k]
            k += 1
            taken += 1
        if k == 0:
            return taken
        for j in range(k - 1, -1, -1):
            for i in range(j + 1, k):
                goal[j] -= hessenberg[j, i] * goal[i]
            goal[j] /= hessenberg[j, j]
        product[:] = 0.0
        for j in range(k):
            for i in range(size):
                product[i] += goal[j] * basis[j, i]
        _apply_factors(begins, columns, factors, diagonal, product, step)
        for i in range(size):
            x[i] += step[i]
