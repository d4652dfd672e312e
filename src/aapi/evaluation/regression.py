"""Linear regression inside kernels: one run at a time, so that the size of a batch changes no bit.

Features are those of `ActiveFeatures`: starts, columns, values and the number of blocks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.simulation.jit import kernel

__all__ = ["factorise", "fill_gram", "fill_rhs", "predict", "singular_regression", "solve_factorised", "solve_upper"]

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
def factorise(gram: Any, ridge: Any) -> Any:
    """Turn the lower triangle of G into L with L Lᵀ = G + ridge · I; false if that is singular."""
    size = gram.shape[0]
    column = np.empty(size)
    diagonal = np.empty(size)
    for k in range(size):
        gram[k, k] += ridge
        diagonal[k] = gram[k, k]
    for k in range(size):
        if not SINGULAR * diagonal[k] < gram[k, k] < math.inf:  # against its own size: features may have any scale
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
