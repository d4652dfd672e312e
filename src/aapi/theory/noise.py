"""The noise Σ_t (λ_{π_t} − r_t), against its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import check_probability

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers
    from aapi.mdp import FiniteMDP
    from aapi.theory.phases import Phases


@dataclass(frozen=True, eq=False)
class NoiseScale:
    """How large noise can be in each phase, ([runs,] phases), from Poisson's equation.

    Within a phase, λ − r_t = (V(x_{t+1}) − V(x_t)) + (V(x_t) − Q(x_t, a_t)) + ((P V)(x_t, a_t) − V(x_{t+1})). The first
    add up to `drift` = max V − min V at most. The others have mean zero, given what was before the action and before
    the successor, and lie in intervals of the widths `choice` = max_x (max_a − min_a) Q(x, a) and `drift`. Both are
    infinite for a policy under which the gain depends on the state. Where rewards are random, r(x_t, a_t) − r_t is
    added to the last: `payment` is the largest difference of two rewards of a pair, and `spread` twice the largest
    standard deviation of normal noise, whose moments are those that Azuma's inequality allows such a width.
    """

    lengths: Integers
    drift: Array
    choice: Array
    payment: Array
    spread: Array

    def bound(self, delta: float) -> Array:
        """What |noise| stays below up to each phase with probability 1 − δ, by Azuma's inequality:

        Σ drift + (½ ln(2/δ) Σ τ ((drift + payment)² + choice² + spread²))^½. The widths are those that were met;
        strictly, it is for widths known beforehand.
        """
        check_probability(delta=delta)
        widths = np.hypot(np.hypot(self.drift + self.payment, self.choice), self.spread)
        largest = np.abs(widths).max(initial=0.0) or 1.0
        unit = largest if np.isfinite(largest) else 1.0  # squares of large rewards would overflow
        spread = unit * np.sqrt(0.5 * math.log(2.0 / delta) * np.cumsum(self.lengths * (widths / unit) ** 2, axis=-1))
        return np.asarray(np.cumsum(self.drift, axis=-1) + spread)


def noise_scale(phases: Phases, mdp: FiniteMDP) -> NoiseScale:
    """The scales of one run."""
    bias = np.einsum("kxa,kxa->kx", phases.policies, phases.q_values)  # V = Q(·, π)
    taken = np.where(phases.policies > 0.0, phases.q_values, bias[:, :, None])
    infinite = np.where(phases.unichain, 0.0, np.inf)
    payment = 0.0 if mdp.outcomes is None else mdp.outcomes.width
    spread = 0.0 if mdp.reward_spread is None else 2.0 * float(mdp.reward_spread.max())
    return NoiseScale(
        phases.lengths, np.ptp(bias, axis=1) + infinite, np.ptp(taken, axis=2).max(axis=1) + infinite,
        np.full(len(bias), payment), np.full(len(bias), spread),
    )  # fmt: skip


def mixing_bound(contraction_time: float, num_phases: float, num_steps: float, delta: float) -> float:
    """K t + 4 t (2 K T ln(T/δ))^½ with probability 1 − δ: the paper's lemma on the noise, for rewards in [0, 1].

    t: such that one step of any policy brings two distributions closer by exp(−1/t).
    """
    check_probability(delta=delta)
    return contraction_time * (num_phases + 4.0 * math.sqrt(2.0 * num_phases * num_steps * math.log(num_steps / delta)))
