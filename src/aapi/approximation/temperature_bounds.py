"""Bounds on a linear policy's temperature from weights rounded to 16 bits, for a quarter of the time that it takes.

Let q be scale · ψ, and p a column d of the differences D over its unit, both rounded to whole numbers. Then ψᵀd is near
unit · qᵀp / scale. A temperature, less its constant, is a seminorm of all products, and at most their Euclidean norm:
rounding changes it by at most ‖ψ − q/scale‖ ‖D‖ + ‖q/scale‖ ‖D − P‖, where P are the rounded differences. No norm of q
or p is above 2¹⁵, so sums of 32 bits are exact, in any order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from aapi.kernels.jit import kernel
from aapi.kernels.linalg import long_dot

NORM = 32767.0  # the largest number of 16 bits, and so the largest norm of whole numbers that surely fit
ROOM = 32  # columns are padded to a multiple of it, so that no loop has a remainder
SAFETY = 1.001  # for rounding errors of floating point, which are far smaller than those of 16 bits
UNKNOWN = -1.0


class RoundedDifferences(NamedTuple):
    """p and unit of each column; the bound on the error, times scale, `UNKNOWN` before they are there; room for q."""

    columns: Any
    units: Any
    error: Any
    features: Any


@kernel
def empty_rounded(num_features: Any, width: Any) -> Any:
    """Room for rounded differences."""
    padded = -(-num_features // ROOM) * ROOM
    columns, features = np.zeros((width, padded), dtype=np.int16), np.zeros(padded, dtype=np.int16)
    return RoundedDifferences(columns, np.empty(width), np.full(1, UNKNOWN), features)


@kernel
def round_differences(differences: Any, rounded: Any) -> None:
    """Fill in columns, units and error, which is ∞ where squares are no numbers to rely on."""
    num_features, width = differences.shape
    root = math.sqrt(num_features)
    squares = np.zeros(width)
    for f in range(num_features):
        for r in range(width):
            squares[r] += differences[f, r] * differences[f, r]
    lost = 0.0
    for r in range(width):
        unit = math.sqrt(squares[r]) / (NORM - root)
        inverse = 1.0 / unit if squares[r] > 0.0 else 0.0
        for f in range(num_features):
            near = np.rint(differences[f, r] * inverse)
            rest = differences[f, r] - unit * near
            rounded.columns[r, f] = np.int16(near)
            lost += rest * rest
        rounded.units[r] = unit
    total = squares.sum()
    error = SAFETY * (0.5 * root * math.sqrt(total) + NORM * math.sqrt(lost))
    rounded.error[0] = error if 1e-200 < total < 1e200 else math.inf


@kernel
def bound_root_sum(features: Any, rounded: Any, num_actions: Any, span: Any, products: Any, work: Any) -> Any:
    """Two numbers between which (Σ_s ‖ψᵀ differences_s‖²)^½ lies, −∞ and ∞ if nothing is known; `work` is room."""
    square = long_dot(features, features, work)
    if not (1e-200 < square < 1e200 and rounded.error[0] < math.inf):
        return -math.inf, math.inf
    scale = (NORM - math.sqrt(features.size)) / math.sqrt(square)
    for f in range(features.size):
        rounded.features[f] = np.int16(np.rint(features[f] * scale))
    for r in range(products.size):
        products[r] = rounded.units[r] * _whole_dot(rounded.features, rounded.columns[r])
    total = 0.0
    for s in range(products.size // num_actions):
        low = high = products[s * num_actions]
        for a in range(1, num_actions):
            low = min(low, products[s * num_actions + a])
            high = max(high, products[s * num_actions + a])
        size = 0.5 * (high - low) if span else max(high, -low)
        total += size * size
    root = math.sqrt(total)
    return (root - rounded.error[0]) / scale, (root + rounded.error[0]) / scale


@kernel
def _whole_dot(left: Any, right: Any) -> Any:
    """Σ left · right, in 32 bits."""
    total = np.int32(0)
    for i in range(left.size):
        total = np.int32(total + np.int32(left[i]) * np.int32(right[i]))
    return total
