"""How much Q-functions change when policies do: the paper's lemma of the relative Q-function error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from aapi.array_types import Array
    from aapi.theory.phases import Phases

LEAST_CHANGE = 1e-8  # of a policy; below, a quotient would be made of rounding errors


@dataclass(frozen=True, eq=False)
class RelativeQ:
    """From each phase to the next, ([runs,] phases − 1).

    policy_change: max_x ‖π_k(·|x) − π_{k−1}(·|x)‖₁; q_change: max_{x,a} |Q_{π_k} − Q_{π_{k−1}}|.
    q_size: max_{x,a} |Q_{π_k}|, of all phases.
    """

    policy_change: Array
    q_change: Array
    q_size: Array

    @property
    def constant(self) -> float:
        """The largest quotient of the two that was met; nan if no policy changed."""
        moved = self.policy_change > LEAST_CHANGE
        return float((self.q_change[moved] / self.policy_change[moved]).max()) if moved.any() else math.nan


def relative_q(phases: Phases) -> RelativeQ:
    """The changes of one run."""
    moved = np.abs(np.diff(phases.policies, axis=0)).sum(axis=2)
    changed = np.abs(np.diff(phases.q_values, axis=0))
    return RelativeQ(
        policy_change=moved.max(axis=1, initial=0.0),
        q_change=changed.max(axis=(1, 2), initial=0.0),
        q_size=np.abs(phases.q_values).max(axis=(1, 2)),
    )


def proven_constant(mixing_time: float, num_phases: int) -> float:
    """N² + N + (2 t_mix + 3)(N + 1) with N = ⌈4 t_mix log₂ K⌉: what the lemma's proof gives, for rewards in [0, 1]."""
    n = math.ceil(4.0 * mixing_time * math.log2(num_phases))
    return n * n + n + (2.0 * mixing_time + 3.0) * (n + 1.0)


def printed_constant(mixing_time: float, num_phases: int) -> float:
    """t_mix² log₂² K: the lemma as it is printed, without the constants of its proof."""
    return (mixing_time * math.log2(num_phases)) ** 2
