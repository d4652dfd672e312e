"""Small symmetric systems inside kernels: one run's regression at a time, so that a batch's size changes no bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aapi.simulation.jit import kernel

__all__ = ["factorise", "solve_factorised", "solve_upper"]

SINGULAR = 1e-12


@kernel
def factorise(gram: Any, ridge: Any) -> Any:
    """Turn the lower triangle of G into L with L Lᵀ = G + ridge · I; false if that is singular."""
    size = gram.shape[0]
    column = np.empty(size)
    largest = 0.0
    for k in range(size):
        gram[k, k] += ridge
        largest = max(largest, gram[k, k])
    for k in range(size):
        if not gram[k, k] > SINGULAR * largest:
            return False
        pivot = math.sqrt(gram[k, k])
        gram[k, k] = pivot
        first = size  # indicators leave most of a column empty, down from the top
        for i in range(k + 1, size):
            if gram[i, k] != 0.0:
                gram[i, k] /= pivot
                first = min(first, i)
            column[i] = gram[i, k]
        for i in range(first, size):
            factor = column[i]
            if factor != 0.0:
                for j in range(first, i + 1):
                    gram[i, j] -= factor * column[j]
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
