"""The results of an analysis as JSON: for machines, for the report, and for the store."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from aapi.statistics import band
from aapi.theory.evaluation_error import ERROR_NORMS
from aapi.theory.regret import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.json_types import Json, JsonObject
    from aapi.statistics import Interval
    from aapi.theory.analysis import Analysis
    from aapi.theory.bound_checks import BoundCheck
    from aapi.theory.examination import Examination

__all__ = ["TERMS", "examination_summary", "online_terms", "summary"]

POINTS = 60  # of a curve
TERMS = ("regret", "stability", "regularisation", "movement", "prediction", "bound")  # of online learning


def summary(analysis: Analysis, checks: Sequence[BoundCheck]) -> JsonObject:
    """Totals, curves of about POINTS phases, and bound checks (key `pairs`). All numbers are finite, or null."""
    parts = analysis.decomposition
    shown = {part: parts.cumulated(part) for part in PARTS}
    for part in ("confinement", "unevaluated"):  # zero, mostly
        if not parts.part(part).any():
            del shown[part]
    shown_phases = _thinned(len(analysis.phase_ends))
    shown_evaluated = _thinned(int(analysis.evaluated.sum()))
    terms = online_terms(analysis)
    return {
        "runs": analysis.num_runs,
        "phases": len(analysis.phase_ends),
        "optimal_gain": analysis.against.gain,
        "residual": float(parts.residual.max()),
        "multichain": analysis.multichain,
        "stiff": int(parts.stiff.sum()),
        "totals": {part: _band(values[:, -1]) for part, values in shown.items()},
        "curves": {"steps": analysis.phase_ends[shown_phases].tolist()}
        | {part: _band(values[:, shown_phases]) for part, values in shown.items()},
        "errors": {"steps": analysis.phase_ends[analysis.evaluated][shown_evaluated].tolist()}
        | {norm: _band(analysis.errors.norm(norm)[:, shown_evaluated]) for norm in ERROR_NORMS},
        "online_learning": None
        if terms is None
        else {name: _numbers(term) for name, term in terms.items()} | {"exceeded": _exceeded(analysis)},
        "relative_q": _number(analysis.relative_q.constant),
        "pairs": [_check(check) for check in checks],
        "refused": analysis.refused,
    }


def examination_summary(found: Examination) -> JsonObject:
    """The same for an examination, with what it found about the problem, evaluation and growth."""
    return summary(found.analysis, found.checks) | {
        "algorithm": found.algorithm,
        "constants": dataclasses.asdict(found.constants),
        "evaluation": {
            name: {
                "norm": decay.norm,
                "delta": decay.delta,
                "phase_lengths": decay.phase_lengths.tolist(),
                "quantiles": decay.quantiles.tolist(),
                "approximation_error": _interval(decay.approximation_error),
                "constant": _interval(decay.constant),
            }
            for name, decay in found.decays.items()
        },
        "theorem": None if found.theorem is None else dataclasses.asdict(found.theorem),
        "recommended_phase_length": found.phase_lengths,
        "growth": {
            name: {
                "steps": growth.steps.tolist(),
                "phase_lengths": growth.phase_lengths.tolist(),
                "regret": _band(growth.regrets.T),
                "exponent": _interval(growth.exponent),
            }
            for name, growth in found.growth.items()
        },
        "exact": {name: {str(k): regret for k, regret in each.items()} for name, each in found.exact.items()},
        "refused": found.refused,
    }


def online_terms(analysis: Analysis) -> dict[str, NDArray[np.float64]] | None:
    """Regret of online learning and the terms of its bound in each state, in the units of R2: times τ and μ_*.

    Means over runs. None where there are none, or where R2 is no sum over states; see `Analysis.unit`.
    """
    found = analysis.online_learning
    if found is None or analysis.unit is None:
        return None
    weights = analysis.unit * analysis.against.distribution
    terms = vars(found) | {"bound": found.bound}
    return {term: (terms[term] * weights).mean(axis=0) for term in TERMS}


def _exceeded(analysis: Analysis) -> int:
    """In how many states of runs the bound is exceeded by more than rounding."""
    found = analysis.online_learning
    if found is None:
        return 0
    return int((found.regret > found.bound + 1e-9 * np.abs(found.stability).max()).sum())


def _check(check: BoundCheck) -> JsonObject:
    bound = None if check.bound is None else _number(check.bound)
    return {
        "name": check.name, "statement": check.statement, "measured": _number(check.measured), "bound": bound,
        "reason": check.reason, "holds": None if bound is None else check.holds,
    }  # fmt: skip


def _thinned(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, max(count - 1, 0), min(POINTS, count)).round().astype(np.int64))


def _band(values: NDArray[np.float64]) -> JsonObject:
    found = band(values)
    return {"mean": _numbers(found.mean), "lower": _numbers(found.lower), "upper": _numbers(found.upper)}


def _interval(found: Interval) -> JsonObject:
    return {name: _number(value) for name, value in dataclasses.asdict(found).items()}


def _numbers(values: NDArray[np.float64]) -> Json:
    return _number(float(values)) if values.ndim == 0 else [_number(value) for value in values.tolist()]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
