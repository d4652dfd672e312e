"""What an analysis found, as JSON: for machines, for the report, and to be stored."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.statistics import band
from aapi.theory.evaluation_error import ERROR_NORMS
from aapi.theory.pairs import DELTA
from aapi.theory.regret import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.theory.analysis import Analysis
    from aapi.theory.pairs import Pair
    from aapi.theory.study import Study

__all__ = ["study_summary", "summary"]

POINTS = 60  # of a curve
TERMS = ("regret", "stability", "regularisation", "movement", "prediction", "bound")  # of online learning


def summary(analysis: Analysis, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Totals, curves of about POINTS phases, and pairs of theorem and measurement. All numbers are finite, or null."""
    parts = analysis.decomposition
    shown = {part: parts.cumulated(part) for part in PARTS}
    if not parts.unevaluated.any():
        del shown["unevaluated"]
    kept = _thinned(len(analysis.phase_ends))
    late = np.flatnonzero(analysis.evaluated)[_thinned(int(analysis.evaluated.sum()))]
    place = np.cumsum(analysis.evaluated) - 1  # of a phase among the evaluated ones
    return {
        "runs": analysis.num_runs,
        "phases": len(analysis.phase_ends),
        "optimal_gain": analysis.against.gain,
        "residual": float(parts.residual.max()),
        "multichain": analysis.multichain,
        "cut": analysis.cut,
        "stiff": int(parts.stiff.sum()),
        "totals": {part: _band(values[:, -1]) for part, values in shown.items()},
        "curves": {"steps": analysis.phase_ends[kept].tolist()}
        | {part: _band(values[:, kept]) for part, values in shown.items()},
        "noise_bound": _numbers(analysis.noise.bound(DELTA)[:, kept].mean(axis=0)),
        "errors": {"steps": analysis.phase_ends[late].tolist()}
        | {norm: _band(getattr(analysis.errors, norm)[:, place[late]]) for norm in ERROR_NORMS},
        "online_learning": _online(analysis),
        "relative_q": _number(analysis.relative_q.constant),
        "pairs": [dataclasses.asdict(pair) | {"holds": pair.holds} for pair in pairs],
        "refused": analysis.refused,
    }


def study_summary(study: Study) -> dict[str, Any]:
    """The same for a study, with what it found about the problem, evaluation and growth."""
    return summary(study.analysis, study.pairs) | {
        "algorithm": study.algorithm,
        "constants": dataclasses.asdict(study.constants),
        "evaluation": {
            name: {
                "norm": decay.norm,
                "delta": decay.delta,
                "phase_lengths": decay.phase_lengths.tolist(),
                "quantiles": decay.quantiles.tolist(),
                "approximation_error": dataclasses.asdict(decay.approximation_error),
                "constant": dataclasses.asdict(decay.constant),
            }
            for name, decay in study.decays.items()
        },
        "theorem": None if study.theorem is None else dataclasses.asdict(study.theorem),
        "recommended_phase_length": study.phase_lengths,
        "growth": {
            name: {
                "steps": growth.steps.tolist(),
                "phase_lengths": growth.phase_lengths.tolist(),
                "regret": _band(growth.regrets.T),
                "exponent": dataclasses.asdict(growth.exponent),
            }
            for name, growth in study.growth.items()
        },
        "exact": {name: {str(k): regret for k, regret in each.items()} for name, each in study.exact.items()},
        "refused": study.refused,
    }


def _online(analysis: Analysis) -> dict[str, Any] | None:
    """Means over runs of the terms in each state, in the units of R2: times τ and μ_*."""
    found = analysis.online_learning
    if found is None:
        return None
    length = int(analysis.phase_ends[np.argmax(analysis.evaluated)])
    weights = length * analysis.against.distribution
    return {term: _numbers((getattr(found, term) * weights).mean(axis=0)) for term in TERMS} | {
        "exceeded": int((found.regret > found.bound + 1e-9 * np.abs(found.bound)).sum())
    }


def _thinned(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, max(count - 1, 0), min(POINTS, count)).round().astype(np.int64))


def _band(values: NDArray[np.float64]) -> dict[str, Any]:
    found = band(values)
    return {name: _numbers(getattr(found, name)) for name in ("mean", "lower", "upper")}


def _numbers(values: NDArray[np.float64]) -> Any:
    return _number(float(values)) if values.ndim == 0 else [_number(value) for value in values.tolist()]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
