"""The noise Σ_t (λ_{π_t} − r_t), against its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.theory.phases import Phases

__all__ = ["NoiseScale", "mixing_bound", "noise_scale"]


@dataclass(frozen=True, eq=False)
class NoiseScale:
    """How large noise can be in each phase, ([runs,] phases), from Poisson's equation.

    Within a phase, λ − r_t = V(x_{t+1}) − V(x_t) + ξ_t, with ξ_t of mean zero given the past and in an interval that
    does not depend on t: its width is `width`. The differences of V add up to `drift` = max V − min V at most. Both are
    infinite for a policy under which the gain depends on the state.
    """

    lengths: NDArray[np.int64]
    drift: NDArray[np.float64]
    width: NDArray[np.float64]

    def bound(self, delta: float) -> NDArray[np.float64]:
        """What |noise| stays below up to each phase with probability 1 − δ: Σ drift + (½ ln(2/δ) Σ τ width²)^½ (Azuma).

        The widths are those that were met; strictly, the inequality is for widths known beforehand.
        """
        spread = np.sqrt(0.5 * math.log(2.0 / delta) * np.cumsum(self.lengths * self.width**2, axis=-1))
        return np.asarray(np.cumsum(self.drift, axis=-1) + spread)


def noise_scale(phases: Phases) -> NoiseScale:
    """The scales of one run."""
    bias = np.einsum("kxa,kxa->kx", phases.policies, phases.q_values)  # V = Q(·, π)
    drift = np.ptp(bias, axis=1)
    # ξ = (P V)(x, a) − V(x') + V(x) − Q(x, a): the successor is one source of it, the action the other.
    width = drift + np.ptp(np.where(phases.policies > 0.0, phases.q_values, bias[:, :, None]), axis=2).max(axis=1)
    infinite = np.where(phases.unichain, 0.0, np.inf)
    return NoiseScale(phases.lengths, drift + infinite, width + infinite)


def mixing_bound(contraction_time: float, num_phases: float, num_steps: float, delta: float) -> float:
    """K t + 4 t (2 K T ln(T/δ))^½ with probability 1 − δ: the paper's lemma on the noise, for rewards in [0, 1].

    t: such that one step of any policy brings two distributions closer by exp(−1/t).
    """
    return contraction_time * (num_phases + 4.0 * math.sqrt(2.0 * num_phases * num_steps * math.log(num_steps / delta)))
