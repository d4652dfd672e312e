"""The paper's theorem with the exact constants of a problem, and the phase length that it recommends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aapi.checks import finite
from aapi.errors import DoesNotExist, TooLarge
from aapi.mdp import FiniteMDP, mismatch, optimal_mismatch, solve, worst_contraction_time, worst_mixing_time

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")


@dataclass(frozen=True)
class Constants:
    """What the bounds of the paper depend on; None for what does not exist, with the reason in `refused`.

    gain: λ_*. mixing_time: t_mix, over all deterministic policies; a lower bound of it, if not `mixing_time_exact`.
    contraction_time: t in ‖(μ − ν) P_π‖₁ ≤ exp(−1/t) ‖μ − ν‖₁, which the paper takes for t_mix in the noise's bound.
    mismatch: ρ of the theorem, max 1/μ_π(x) over policies and states; optimal_mismatch: ρ of its proof, max 1/μ_*(x).
    reward_range: max r − min r, by which bounds for rewards in [0, 1] are to be multiplied.
    """

    gain: float
    reward_range: float
    mixing_time: int | None
    mixing_time_exact: bool
    contraction_time: float | None
    mismatch: float | None
    optimal_mismatch: float | None
    refused: dict[str, str]


def attempt(refused: dict[str, str], name: str, compute: Callable[[], Value]) -> Value | None:
    """What is computed; where that does not exist, None, and the reason is noted."""
    try:
        return compute()
    except (DoesNotExist, TooLarge) as error:
        refused[name] = str(error)
        return None


def constants(mdp: FiniteMDP) -> Constants:
    """All constants, exactly; the mixing time by a search where there are too many policies to try all."""
    solution, refused = solve(mdp), dict[str, str]()
    worst = attempt(refused, "mixing_time", lambda: worst_mixing_time(mdp))
    return Constants(
        gain=float(solution.gains[mdp.initial_state]),
        reward_range=float(np.ptp(mdp.rewards)),
        mixing_time=None if worst is None else worst.time,
        mixing_time_exact=worst is not None and worst.exact,
        contraction_time=attempt(refused, "contraction_time", lambda: worst_contraction_time(mdp)),
        mismatch=attempt(refused, "mismatch", lambda: mismatch(mdp)),
        optimal_mismatch=attempt(refused, "optimal_mismatch", lambda: optimal_mismatch(solution)),
        refused=refused,
    )


@dataclass(frozen=True)
class Theorem:
    """The three terms of the bound at the end of the theorem's proof, with δ = 1/T; universal constants are left out.

    noise: K t + 4 t (2 K T ln(T/δ))^½; estimation, of R1: T (ε₀ + C̃ (ln(1/δ)/τ)^½);
    online_learning, of R2: ρ τ t⁴ log₂⁴ K + T (C̃² ln(1/δ)/τ + ε₀²).
    rate: t² (ρ C̃²)^⅓ T^⅔ + T ε₀, the theorem as it is stated, which leaves out logarithms, too.
    """

    noise: float
    estimation: float
    online_learning: float
    rate: float

    @property
    def total(self) -> float:
        """The sum of the terms."""
        return self.noise + self.estimation + self.online_learning


def theorem(
    num_steps: int, phase_length: float, *, mixing_time: float, mismatch: float, constant: float,
    approximation_error: float = 0.0,
) -> Theorem:  # fmt: skip
    """The bound for rewards in [0, 1]; constant: C̃, approximation_error: ε₀, as `error_decay` fits them."""
    finite(0.0, strictly=True, num_steps=num_steps, phase_length=phase_length, mixing_time=mixing_time)
    finite(0.0, mismatch=mismatch, constant=constant, approximation_error=approximation_error)
    T, tau, t, log = float(num_steps), float(phase_length), float(mixing_time), math.log(num_steps)
    phases = max(T / tau, 1.0)
    return Theorem(
        noise=phases * t + 4.0 * t * math.sqrt(2.0 * phases * T * 2.0 * log),
        estimation=T * (approximation_error + constant * math.sqrt(log / tau)),
        online_learning=mismatch * tau * t**4 * math.log2(phases) ** 4
        + T * (constant**2 * log / tau + approximation_error**2),
        rate=t**2 * (mismatch * constant**2) ** (1.0 / 3.0) * T ** (2.0 / 3.0) + T * approximation_error,
    )


def recommended_phase_length(num_steps: int, *, mixing_time: float, mismatch: float, constant: float) -> float:
    """τ = (C̃ T/(ρ t³))^⅔, as the theorem says."""
    finite(0.0, strictly=True, num_steps=num_steps, mixing_time=mixing_time, mismatch=mismatch)
    finite(0.0, constant=constant)
    return float((constant * num_steps / (mismatch * mixing_time**3)) ** (2.0 / 3.0))
