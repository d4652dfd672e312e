"""Bound checks: each of the paper's lemmas about runs, the bound it gives, and what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aapi.theory.noise import mixing_bound
from aapi.theory.regret import PARTS
from aapi.theory.relative_q import printed_constant, proven_constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from aapi.theory.analysis import Analysis
    from aapi.theory.bounds import Constants

DELTA = 0.05  # of bounds that hold with probability 1 − δ
ROUNDING = 1e-12  # of the largest of all sums of rewards and parts of regret


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
        """Whether it does; None if there is no bound."""
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
    bound = None if time is None else known.reward_range * mixing_bound(time, phases, steps, DELTA)
    statement = "|Σ (λ_π − r)| ≤ K t + 4 t (2 K T ln(T/δ))^½, t the contraction time"
    yield BoundCheck("noise", statement, float(noise.max()), bound, why)
    name = "noise, by Poisson's equation"
    statement = "|Σ (λ_π − r)| ≤ Σ span V + (½ ln(2/δ) Σ τ (span² V + max_x span² Q))^½"
    limits = analysis.noise.bound(DELTA)[:, -1]
    if np.isfinite(limits).all():
        yield _closest(name, statement, noise, limits)
    else:
        yield BoundCheck(name, statement, float(noise.max()), None, "under some policies the gain depends on the state")


def _regret(analysis: Analysis) -> Iterator[BoundCheck]:
    if not analysis.evaluated.any():
        return
    lengths = analysis.lengths[analysis.evaluated]
    errors, parts = analysis.errors, analysis.decomposition
    limits = ((errors.optimal + errors.current) * lengths).sum(axis=1)
    statement = "R1 ≤ Σ τ (‖D‖ under μ_*⊗π_* + ‖D‖ under μ_*⊗π_k)"
    yield _closest("estimation R1", statement, parts.total("estimation"), limits)
    name, statement = "online learning R2", "R2 ≤ τ Σ μ_*(x) (stability + regularisation − movement + prediction)"
    regret = parts.total("online_learning")
    if analysis.online_learning is None:
        yield BoundCheck(name, statement, float(regret.max()), None, analysis.refused["online_learning"])
    elif analysis.unit is None:
        yield BoundCheck(name, statement, float(regret.max()), None, "phases of different lengths count the same")
    else:
        limits = analysis.unit * analysis.online_learning.bound @ analysis.against.distribution
        yield _closest(name, statement, regret, limits)


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


def _closest(name: str, statement: str, measured: NDArray[np.float64], limits: NDArray[np.float64]) -> BoundCheck:
    size = np.abs(limits) + np.abs(measured)
    run = int(((limits - measured) / np.where(size > 0.0, size, 1.0)).argmin())
    return BoundCheck(name, statement, float(measured[run]), float(limits[run]))
