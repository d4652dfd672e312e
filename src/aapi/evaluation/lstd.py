"""Average-reward LSTD-Q(λ): weights and gain from one system of linear equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.evaluation.projected import Projected
from aapi.kernels.elimination import eliminate, inverse_norm, one_norm, solve_eliminated
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import singular_regression

if TYPE_CHECKING:
    from aapi.approximation.projected_equations import Equations
    from aapi.array_types import Array


SINGULAR = 1e-12  # what elimination may leave of a column before it counts as nothing


@dataclass(frozen=True)
class LSTD(Projected):
    """Q̂ = φᵀw, where w and the gain g solve (A + ridge · I) w + g Σ z_t = Σ z_t r_t and Σ_t φ_tᵀw = 0.

    A = Σ_t z_t (φ_t − φ̄(x_{t+1}))ᵀ, φ̄(x) = Σ_a π(a|x) φ(x, a), and z_t = trace · z_{t−1} + φ_t (Bradtke and Barto
    1996, Lagoudakis and Parr 2003). A constant added to Q̂ changes nothing in A w; one more equation settles it: Q̂ is 0
    on average over the data. One more unknown goes with it, the gain, so no λ̂ is needed: the mean reward of a phase,
    which the paper takes, is noisy, and wrong for data of other policies. Where no combination of the features is
    constant, the last equation still holds, and then g is not an estimate of the gain.

    All data enters through sums whose size does not grow, on tables; else the last steps, or those of the phase.
    Whatever policies acted, Q̂ tends to Q_π if it can be represented, as on tables. If it cannot, Q̂ depends on where the
    data lie, and only reuse="phase" is on-policy. Features that were never seen get the weight 0.

    The `Estimate` has `conditioning`, an estimate of the condition number (in the 1-norm) of the equations solved, and
    `rank`, how many of the features were linearly independent in the data.
    """

    def _solve(self, equations: Equations) -> tuple[Array, float]:
        solution = np.empty(len(equations.earned) + 1)
        conditioning = _solve(equations, float(self.ridge), solution)
        if not conditioning > 0.0:
            raise singular_regression(self.ridge)
        return solution[:-1], conditioning


@kernel
def _solve(equations: Any, ridge: Any, solution: Any) -> Any:
    """Fill in w and g. Returns the condition number of the equations, or 0 if they are singular."""
    transposed, earned, totals, shares, _ = equations
    size = earned.size
    matrix, rhs, order = np.zeros((size + 1, size + 1)), np.zeros(size + 1), np.empty(size + 1, dtype=np.int64)
    for i in range(size):
        for j in range(size):
            matrix[i, j] = transposed[j, i]
        matrix[i, i] += ridge
        matrix[i, size], matrix[size, i], rhs[i] = totals[i], shares[i], earned[i]
    largest = np.zeros(size + 1)
    for i in range(size + 1):
        for j in range(size + 1):
            largest[j] = max(largest[j], abs(matrix[i, j]))
    norm = one_norm(matrix)
    if not eliminate(matrix, order) > 0.0:
        return 0.0
    for k in range(size + 1):
        if not abs(matrix[k, k]) > SINGULAR * largest[k]:  # against its own column: any scale of a feature will do
            return 0.0
    solve_eliminated(matrix, order, rhs, solution)
    return norm * inverse_norm(matrix, order)
