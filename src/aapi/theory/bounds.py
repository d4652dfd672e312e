"""The paper's bounds: its theorem with the exact constants of a problem, and its lemmas beside what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aapi.checks import finite
from aapi.errors import DoesNotExist, TooLarge
from aapi.mdp import FiniteMDP, mismatch, optimal_mismatch, solve, worst_contraction_time, worst_mixing_time
from aapi.theory.noise import mixing_bound
from aapi.theory.regret import PARTS
from aapi.theory.relative_q import printed_constant, proven_constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aapi.array_types import Array
    from aapi.theory.analysis import Analysis

Value = TypeVar("Value")
DELTA = 0.05  # of bounds that hold with probability 1 − δ
ROUNDING = 1e-12  # of the largest of all sums of rewards and parts of regret


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


@dataclass(frozen=True)
class BoundCheck:
    """A lemma: `measured` must not exceed `bound` by more than `rounding`. Without a bound, `reason` says why."""

    name: str
    statement: str
    measured: float
    bound: float | None
    reason: str = ""
    rounding: float = 0.0

    @property
    def holds(self) -> bool | None:
        """Whether the lemma holds; None if there is no bound."""
        return None if self.bound is None else self.measured <= self.bound + self.rounding


def check_bounds(analysis: Analysis, known: Constants) -> list[BoundCheck]:
    """Every lemma that is about runs. `measured` is of the run that comes closest to its bound, relatively."""
    found = [*_noise(analysis, known), *_regret(analysis), *_q_functions(analysis, known)]
    sizes = [float(np.abs(analysis.decomposition.cumulated(part)).max(initial=0.0)) for part in PARTS]
    largest = max(*sizes, float(np.abs(analysis.mdp.rewards).max()) * float(analysis.phase_ends[-1]))
    return [replace(check, rounding=ROUNDING * largest) for check in found]


def _noise(analysis: Analysis, known: Constants) -> Iterator[BoundCheck]:
    noise = np.abs(analysis.decomposition.total("noise"))
    phases, steps = len(analysis.phase_ends), int(analysis.phase_ends[-1])
    time, why = known.contraction_time, known.refused.get("contraction_time", "")
    if analysis.mdp.has_random_rewards:
        time, why = None, "the paper's lemma is for rewards that are certain given state and action"
    bound = None if time is None else known.reward_range * mixing_bound(time, phases, steps, DELTA)
    statement = "|Σ (λ_π − r)| ≤ K t + 4 t (2 K T ln(T/δ))^½, t the contraction time"
    yield BoundCheck("noise", statement, float(noise.max()), bound, why)
    limits, why = analysis.noise.bound(DELTA)[:, -1], "under some policies the gain depends on the state"
    widths = "(span V + w)² + max_x span² Q + 4 σ²" if analysis.mdp.has_random_rewards else "span² V + max_x span² Q"
    statement = f"|Σ (λ_π − r)| ≤ Σ span V + (½ ln(2/δ) Σ τ ({widths}))^½"
    yield _closest("noise, by Poisson's equation", statement, noise, limits if np.isfinite(limits).all() else None, why)


def _regret(analysis: Analysis) -> Iterator[BoundCheck]:
    if not analysis.evaluated.any():
        return
    lengths = analysis.lengths[analysis.evaluated]
    errors, parts = analysis.errors, analysis.decomposition
    limits = ((errors.optimal + errors.current) * lengths).sum(axis=1)
    statement = "R1 ≤ Σ τ (‖D‖ under μ_*⊗π_* + ‖D‖ under μ_*⊗π_k)"
    yield _closest("estimation R1", statement, parts.total("estimation"), limits)
    games, unit = analysis.online_learning, analysis.unit
    limits = None if games is None or unit is None else unit * games.bound @ analysis.against.distribution
    why = analysis.refused.get("online_learning", "phases of different lengths count the same")
    statement = "R2 ≤ τ Σ μ_*(x) (stability + regularisation − movement + prediction)"
    yield _closest("online learning R2", statement, parts.total("online_learning"), limits, why)


def _q_functions(analysis: Analysis, known: Constants) -> Iterator[BoundCheck]:
    time, phases, changed = known.mixing_time, len(analysis.phase_ends), analysis.relative_q.constant

    def check(name: str, statement: str, measured: float, bound: Callable[[float, int], float]) -> BoundCheck:
        limit = None if time is None else known.reward_range * bound(time, phases)
        return BoundCheck(name, statement, measured, limit, known.refused.get("mixing_time", ""))

    size = float(analysis.relative_q.q_size.max())
    yield check("size of Q", "|Q_π| ≤ 2 t_mix + 3", size, lambda t, _: 2.0 * t + 3.0)
    if not math.isnan(changed):
        printed = "|ΔQ|/max ‖Δπ‖₁ ≤ t_mix² log₂² K, but for 2/K³"
        proven = "|ΔQ|/max ‖Δπ‖₁ ≤ N² + N + (2 t_mix + 3)(N + 1), N = ⌈4 t_mix log₂ K⌉, but for 8 t_mix/(K⁴ ln 2)"
        yield check("relative Q, printed", printed, changed, printed_constant)
        yield check("relative Q, proven", proven, changed, proven_constant)


def _closest(name: str, statement: str, measured: Array, limits: Array | None, why: str = "") -> BoundCheck:
    """The check of the run that comes closest to its limit; where there are no limits, `why`."""
    if limits is None:
        return BoundCheck(name, statement, float(measured.max()), None, why)
    size = np.abs(limits) + np.abs(measured)
    run = int(((limits - measured) / np.where(size > 0.0, size, 1.0)).argmin())
    return BoundCheck(name, statement, float(measured[run]), float(limits[run]))
