"""Linear regression inside kernels: one run at a time, so that the size of a batch changes no bit.

Features are those of `ActiveFeatures`: starts, columns, values and the number of blocks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.simulation.jit import kernel

__all__ = [
    "add_product",
    "factorise",
    "fill_gram",
    "fill_rhs",
    "predict",
    "singular_regression",
    "solve_factorised",
    "solve_upper",
]

PANEL = 16  # columns that are eliminated together
SINGULAR = 1e-12  # what elimination may leave of a diagonal entry before it counts as nothing


def singular_regression(ridge: float) -> InvalidInput:
    """The error for `factorise` having failed."""
    return InvalidInput(
        f"ridge is {ridge:g}, and the features seen are linearly dependent or too large: "
        "give a larger ridge, or scale the features"
    )


@kernel
def fill_gram(visits: Any, starts: Any, columns: Any, values: Any, gram: Any) -> None:
    """The lower triangle of Σ visits(x, a) φ(x, a) φ(x, a)ᵀ, block by block, from visits of shape (states, actions)."""
    num_states, num_actions = visits.shape
    gram[:] = 0.0
    for x in range(num_states):
        for a in range(num_actions):
            if visits[x, a] > 0.0:
                pair = x * num_actions + a
                block = a if gram.shape[0] > 1 else 0
                for i in range(starts[pair], starts[pair + 1]):
                    for j in range(starts[pair], i + 1):  # the columns of a pair ascend
                        gram[block, columns[i], columns[j]] += visits[x, a] * (values[i] * values[j])


@kernel
def fill_rhs(targets: Any, starts: Any, columns: Any, values: Any, rhs: Any) -> None:
    """Σ φ(x, a) targets(x, a), where targets, of shape (states, actions), are sums over the visits of a pair."""
    num_states, num_actions = targets.shape
    rhs[:] = 0.0
    for x in range(num_states):
        for a in range(num_actions):
            if targets[x, a] != 0.0:
                pair = x * num_actions + a
                block = a if rhs.shape[0] > 1 else 0
                for i in range(starts[pair], starts[pair + 1]):
                    rhs[block, columns[i]] += values[i] * targets[x, a]


@kernel
def predict(weights: Any, starts: Any, columns: Any, values: Any, table: Any) -> None:
    """table(x, a) = φ(x, a)ᵀ weights."""
    num_states, num_actions = table.shape
    for x in range(num_states):
        for a in range(num_actions):
            pair = x * num_actions + a
            block = a if weights.shape[0] > 1 else 0
            value = 0.0
            for i in range(starts[pair], starts[pair + 1]):
                value += values[i] * weights[block, columns[i]]
            table[x, a] = value


@kernel
def add_product(left: Any, right: Any, depth: Any, sign: Any, first: Any, lower: Any, out: Any) -> None:
    """out += sign · leftᵀ right, of `depth` rows, for rows and columns from `first` on; if `lower`, to the diagonal.

    Two rows of `out` and four products at a time, along rows: what a vector unit does well without reordering sums.
    """
    size = out.shape[0]
    whole = depth - depth % 4
    for i in range(first, size, 2):
        pair = i + 1 < size
        last = min(i + 2, right.shape[1]) if lower else right.shape[1]
        out0, out1 = out[i, first:last], out[i + 1 if pair else i, first:last]
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = sign * left[k, i], sign * left[k + 1, i], sign * left[k + 2, i], sign * left[k + 3, i]
            r0, r1, r2, r3 = (
                right[k, first:last],
                right[k + 1, first:last],
                right[k + 2, first:last],
                right[k + 3, first:last],
            )
            if pair:
                b0, b1 = sign * left[k, i + 1], sign * left[k + 1, i + 1]
                b2, b3 = sign * left[k + 2, i + 1], sign * left[k + 3, i + 1]
                for j in range(out0.size):
                    out0[j] = out0[j] + (a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j])
                    out1[j] = out1[j] + (b0 * r0[j] + b1 * r1[j] + b2 * r2[j] + b3 * r3[j])
            else:
                for j in range(out0.size):
                    out0[j] = out0[j] + (a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j])
        for k in range(whole, depth):
            row = right[k, first:last]
            for j in range(out0.size):
                out0[j] += sign * left[k, i] * row[j]
            if pair:
                for j in range(out0.size):
                    out1[j] += sign * left[k, i + 1] * row[j]


@kernel
def factorise(gram: Any, ridge: Any) -> Any:
    """Turn the lower triangle of G into L with L Lᵀ = G + ridge · I; false if that is singular.

    Cholesky's method in panels of columns, each kept transposed while it is worked on. Rows of `gram` may be padded.
    """
    size = gram.shape[0]
    panel = np.empty((PANEL, gram.shape[1]))
    diagonal = np.empty(size)
    for k in range(size):
        gram[k, k] += ridge
        diagonal[k] = gram[k, k]
    for first in range(0, size, PANEL):
        width = min(PANEL, size - first)
        for i in range(first, size):
            for k in range(min(width, i - first + 1)):
                panel[k, i] = gram[i, first + k]
        for k in range(width):
            column = panel[k, first + k : size]
            if not SINGULAR * diagonal[first + k] < column[0] < math.inf:  # against its own size: any scale will do
                return False
            pivot = math.sqrt(column[0])
            for i in range(column.size):
                column[i] /= pivot
            for other in range(k + 1, width):
                factor = column[other - k]
                if factor != 0.0:
                    below, target = column[other - k :], panel[other, first + other : size]
                    for i in range(target.size):
                        target[i] -= factor * below[i]
        for i in range(first, size):
            for k in range(min(width, i - first + 1)):
                gram[i, first + k] = panel[k, i]
        add_product(panel, panel, width, -1.0, first + width, True, gram)
    return True


@kernel
def solve_factorised(lower: Any, rhs: Any) -> None:
    """Overwrite `rhs` with the solution of L Lᵀ x = rhs."""
    for i in range(rhs.size):
        value = rhs[i]
        for j in range(i):
            value -= lower[i, j] * rhs[j]
        rhs[i] = value / lower[i, i]
    solve_upper(lower, rhs)


@kernel
def solve_upper(lower: Any, rhs: Any) -> None:
    """Overwrite `rhs` with the solution of Lᵀ x = rhs."""
    for i in range(rhs.size - 1, -1, -1):
        value = rhs[i] / lower[i, i]
        rhs[i] = value
        for j in range(i):
            rhs[j] -= lower[i, j] * value
