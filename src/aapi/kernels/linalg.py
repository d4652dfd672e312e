"""Linear algebra inside kernels: one run at a time, so that neither the batch nor a library changes a bit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


LANES = 4  # rows of weights are padded to a multiple of it
LINE = 8  # numbers in a cache line, which a vector had better not straddle
PANEL = 64  # rows that are eliminated together
FEW = 32  # unknowns for which plain loops are faster than panels
SINGULAR = 1e-12  # what elimination may leave of a diagonal entry before it counts as nothing


def singular_regression(ridge: float) -> InvalidInput:
    """The error for `factorise` having failed."""
    return InvalidInput(
        f"ridge is {ridge:g}, and the features seen are linearly dependent or too large: "
        "give a larger ridge, or scale the features"
    )


@kernel
def add_product(left: Any, right: Any, depth: Any, sign: Any, top: Any, upper: Any, out: Any) -> None:
    """out += sign · leftᵀ right, of `depth` rows; of the product, rows from `top` on.

    If `upper`, only from the diagonal on, and a few entries before it. Four rows of `out` and four products at a time,
    along rows: what a vector unit does well without reordering sums.
    """
    rows, steps = out.shape[0] - out.shape[0] % 4, depth - depth % 4
    for i in range(0, rows, 4):
        row = top + i
        first = row - row % LINE if upper else 0
        out0, out1, out2, out3 = out[i, first:], out[i + 1, first:], out[i + 2, first:], out[i + 3, first:]
        for k in range(0, steps, 4):
            l0, l1, l2, l3 = left[k], left[k + 1], left[k + 2], left[k + 3]
            a0, a1, a2, a3 = sign * l0[row], sign * l1[row], sign * l2[row], sign * l3[row]
            b0, b1, b2, b3 = sign * l0[row + 1], sign * l1[row + 1], sign * l2[row + 1], sign * l3[row + 1]
            c0, c1, c2, c3 = sign * l0[row + 2], sign * l1[row + 2], sign * l2[row + 2], sign * l3[row + 2]
            d0, d1, d2, d3 = sign * l0[row + 3], sign * l1[row + 3], sign * l2[row + 3], sign * l3[row + 3]
            if (
                a0 == a1 == a2 == a3 == 0.0
                and b0 == b1 == b2 == b3 == 0.0
                and c0 == c1 == c2 == c3 == 0.0
                and d0 == d1 == d2 == d3 == 0.0
            ):  # features that are never active together, such as the rows of a grid
                continue
            r0, r1, r2, r3 = right[k, first:], right[k + 1, first:], right[k + 2, first:], right[k + 3, first:]
            for j in range(out0.size):
                x0, x1, x2, x3 = r0[j], r1[j], r2[j], r3[j]  # before anything is stored, or they would be read again
                s0 = out0[j] + (a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3)
                s1 = out1[j] + (b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3)
                s2 = out2[j] + (c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3)
                s3 = out3[j] + (d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3)
                out0[j], out1[j], out2[j], out3[j] = s0, s1, s2, s3
    for i in range(out.shape[0]):
        row = top + i
        first = row - row % LINE if upper else 0
        for k in range(steps if i < rows else 0, depth):
            add_row(out[i, first:], sign * left[k, row], right[k, first:])


@kernel
def factorise(gram: Any, ridge: Any) -> Any:
    """Turn the upper triangle of G into U with UᵀU = G + ridge · I; false if that is singular.

    Cholesky's method in panels of rows. Rows of `gram` may be padded; what is below the diagonal is overwritten.
    """
    size = gram.shape[0]
    diagonal = np.empty(size)
    for k in range(size):
        gram[k, k] += ridge
        diagonal[k] = gram[k, k]
    for first in range(0, size, PANEL):
        last = min(first + PANEL, size)
        done = gram[first:last]
        for start in range(first, last, 4):
            stop = min(start + 4, last)
            add_product(done, done, start - first, -1.0, start, True, gram[start:stop])
            for k in range(start, stop):
                row = gram[k, k:]
                if not SINGULAR * diagonal[k] < row[0] < math.inf:  # against its own size: any scale will do
                    return False
                pivot = math.sqrt(row[0])
                for j in range(row.size):
                    row[j] /= pivot
                for i in range(k + 1, stop):
                    factor, source, target = row[i - k], row[i - k :], gram[i, i:]
                    for j in range(target.size):
                        target[j] -= factor * source[j]
        add_product(done, done, last - first, -1.0, last, True, gram[last:])
    return True


@kernel
def solve_regression(gram: Any, ridge: Any, rhs: Any) -> Any:
    """Overwrite `rhs` with the solution of (G + ridge · I) x = rhs, and the upper triangle of G; false if singular."""
    if rhs.size <= FEW:
        return _solve_few(gram, ridge, rhs)
    if not factorise(gram, ridge):
        return False
    solve_factorised(gram, rhs)
    return True


@kernel
def _solve_few(gram: Any, ridge: Any, rhs: Any) -> Any:
    """`solve_regression`, entry by entry: columns do not wait for each other, and the right-hand side is one more."""
    size, zero, one = np.uint64(rhs.size), np.uint64(0), np.uint64(1)  # unsigned: no check for negative indices
    k = zero
    while k < size:
        diagonal = gram[k, k] + ridge
        rest, value, i = diagonal, rhs[k], zero
        while i < k:
            rest -= gram[i, k] * gram[i, k]
            value -= gram[i, k] * rhs[i]
            i += one
        if not SINGULAR * diagonal < rest < math.inf:
            return False
        pivot = math.sqrt(rest)
        gram[k, k], rhs[k] = pivot, value / pivot
        j = k + one
        while j < size:
            value, i = gram[k, j], zero
            while i < k:
                value -= gram[i, k] * gram[i, j]
                i += one
            gram[k, j] = value / pivot
            j += one
        k += one
    while k > zero:
        k -= one
        value = rhs[k] / gram[k, k]
        rhs[k], i = value, zero
        while i < k:
            rhs[i] -= gram[i, k] * value
            i += one
    return True


@kernel
def solve_factorised(upper: Any, rhs: Any) -> None:
    """Overwrite `rhs` with the solution of UᵀU x = rhs."""
    solve_lower(upper, rhs)
    solve_upper(upper, rhs)


@kernel
def solve_lower(upper: Any, rhs: Any) -> None:
    """Overwrite `rhs` with the solution of Uᵀ x = rhs."""
    for i in range(rhs.size):
        value = rhs[i] / upper[i, i]
        rhs[i] = value
        row, rest = upper[i, i + 1 : rhs.size], rhs[i + 1 :]
        for j in range(rest.size):
            rest[j] -= row[j] * value


@kernel
def solve_upper(upper: Any, rhs: Any) -> None:
    """Overwrite `rhs` with the solution of U x = rhs."""
    for i in range(rhs.size - 1, -1, -1):
        rhs[i] = (rhs[i] - dot(upper[i, i + 1 : rhs.size], rhs[i + 1 :])) / upper[i, i]


@kernel
def dot(left: Any, right: Any) -> Any:
    """Σ left · right, in four partial sums that fit a vector register."""
    s0 = s1 = s2 = s3 = 0.0
    whole = left.size - left.size % 4
    for i in range(0, whole, 4):
        s0 += left[i] * right[i]
        s1 += left[i + 1] * right[i + 1]
        s2 += left[i + 2] * right[i + 2]
        s3 += left[i + 3] * right[i + 3]
    for i in range(whole, left.size):
        s0 += left[i] * right[i]
    return (s0 + s1) + (s2 + s3)


@kernel
def long_dot(left: Any, right: Any, work: Any) -> Any:
    """Σ left · right of many numbers: four stretches side by side, which a vector unit does well; `work` is room."""
    part = left.size // 4
    a0, a1, a2, a3 = left[:part], left[part : 2 * part], left[2 * part : 3 * part], left[3 * part : 4 * part]
    b0, b1, b2, b3 = right[:part], right[part : 2 * part], right[2 * part : 3 * part], right[3 * part : 4 * part]
    for i in range(part):
        work[i] = (a0[i] * b0[i] + a1[i] * b1[i]) + (a2[i] * b2[i] + a3[i] * b3[i])
    s0 = s1 = s2 = s3 = 0.0
    whole = part - part % 4
    for i in range(0, whole, 4):
        s0 += work[i]
        s1 += work[i + 1]
        s2 += work[i + 2]
        s3 += work[i + 3]
    for i in range(whole, part):
        s0 += work[i]
    for i in range(4 * part, left.size):
        s1 += left[i] * right[i]
    return (s0 + s1) + (s2 + s3)


@kernel
def weigh(features: Any, weights: Any, sparse: Any, out: Any) -> None:
    """out = ψᵀ weights. Four features at a time: `out` is read and written once for all of them."""
    num_features, width = weights.shape
    out[:] = 0.0
    if sparse:
        for f in range(num_features):
            if features[f] != 0.0:
                for r in range(width):
                    out[r] += features[f] * weights[f, r]
        return
    whole = num_features - num_features % 4
    for f in range(0, whole, 4):
        f0, f1, f2, f3 = features[f], features[f + 1], features[f + 2], features[f + 3]
        w0, w1, w2, w3 = weights[f], weights[f + 1], weights[f + 2], weights[f + 3]
        for r in range(width):
            out[r] = out[r] + (f0 * w0[r] + f1 * w1[r] + f2 * w2[r] + f3 * w3[r])
    for f in range(whole, num_features):
        for r in range(width):
            out[r] += features[f] * weights[f, r]


@kernel
def add_row(out: Any, factor: Any, row: Any) -> None:
    """out += factor · row."""
    for j in range(out.size):
        out[j] += factor * row[j]


def aligned_zeros(runs: int, features: int, rows: int, lanes: int = LANES) -> NDArray[np.float64]:
    """Zeros of shape (runs, features, rows and padding), from the start of a cache line."""
    padded = -(-rows // lanes) * lanes
    raw = np.zeros(runs * features * padded + LINE)
    offset = (-raw.ctypes.data // raw.itemsize) % LINE
    return raw[offset : offset + runs * features * padded].reshape(runs, features, padded)


def aligned_matrix(rows: int, columns: int) -> NDArray[np.float64]:
    """Zeros of shape (rows, columns and padding), each row from the start of a cache line."""
    return aligned_zeros(1, rows, columns, LINE).reshape(rows, -1)
