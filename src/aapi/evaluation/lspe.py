"""Average-reward LSPE-Q(λ): the solution of LSTD-Q(λ) by steps of regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation.projected import Projected
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import add_row, dot, factorise, singular_regression, solve_factorised

if TYPE_CHECKING:
    from aapi.approximation.projected_equations import Equations
    from aapi.array_types import Array


@dataclass(frozen=True)
class LSPE(Projected):
    """w ← w + step · (Σ φ_tφ_tᵀ + ridge · I)⁻¹ (Σ z_t r_t − (A + ridge · I) w − g Σ z_t), from w = 0.

    In every sweep g is such that Σ_t φ_tᵀw = 0 (Yu and Bertsekas 2009). The letters are those of `LSTD`, and where w
    comes to rest, it is LSTD's. It ends when no weight changes by more than `tolerance` times the largest; that must be
    within `sweeps` sweeps.

    With one-hot features, without a trace and with a step of 1, this is relative value iteration for π on what was
    seen, which does not settle on periodic chains; there a trace, or a step below 1, helps. Data of other policies may
    take a smaller step if there is a trace, and may make it diverge whatever the step if features are shared. LSTD has
    a solution even then.
    The conditioning is a bound from below, the largest pivot of the regression over the smallest.

    step: step size. tolerance: the largest relative change at which it ends. sweeps: how many at the most.
    """

    step: float = 1.0
    tolerance: float = 1e-10
    sweeps: int = 10_000

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""
        super().check(phase_length)
        finite(0.0, strictly=True, step=self.step, tolerance=self.tolerance)
        at_least(1, sweeps=self.sweeps)

    def _solve(self, equations: Equations) -> tuple[Array, float]:
        weights, factors = np.zeros(equations.gram.shape[:2]), equations.gram.copy()
        for upper in factors:
            if not factorise(upper, float(self.ridge)):
                raise singular_regression(self.ridge)
        how = float(self.ridge), float(self.step), float(self.tolerance), int(self.sweeps)
        if not _iterate(equations, factors, *how, weights):
            raise InvalidInput(
                f"LSPE did not settle within {self.sweeps} sweeps: data of other policies, or a periodic chain, can "
                "make it diverge; give a smaller step or reuse='phase', on a periodic chain a trace, or use LSTD"
            )
        pivots = np.diagonal(factors, axis1=1, axis2=2) ** 2
        return weights.ravel(), float(pivots.max() / pivots.min())


@kernel
def _iterate(equations: Any, factors: Any, ridge: Any, step: Any, tolerance: Any, sweeps: Any, blocks: Any) -> Any:
    """Sweep until the weights settle; false if they do not."""
    num_blocks, block_size = blocks.shape
    transposed, earned, totals, shares, _ = equations
    constant = totals.copy()
    weights, change = blocks.ravel(), np.empty(constant.size)
    for block in range(num_blocks):
        solve_factorised(factors[block], constant[block * block_size : (block + 1) * block_size])
    level = dot(shares, constant)
    for _ in range(sweeps):
        for i in range(change.size):
            change[i] = earned[i] - ridge * weights[i]
        for j in range(weights.size):
            add_row(change, -weights[j], transposed[j])
        for block in range(num_blocks):
            solve_factorised(factors[block], change[block * block_size : (block + 1) * block_size])
        gain = (dot(shares, change) + dot(shares, weights) / step) / level
        moved, largest = 0.0, 0.0
        for i in range(weights.size):
            change[i] = step * (change[i] - gain * constant[i])
            weights[i] += change[i]
            moved, largest = max(moved, abs(change[i])), max(largest, abs(weights[i]))
        if not largest < np.inf:
            return False
        if moved <= tolerance * largest:
            return True
    return False
