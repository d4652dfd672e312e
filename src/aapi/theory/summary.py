"""The results of an analysis as JSON: for machines, for the report, and for the store."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.statistics import confidence_band
from aapi.theory.evaluation_error import ERROR_NORMS
from aapi.theory.regret import PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aapi.array_types import Array, Integers
    from aapi.json_types import Json, JsonObject
    from aapi.theory.analysis import Analysis
    from aapi.theory.bounds import BoundCheck
    from aapi.theory.examination import Examination
    from aapi.theory.growth import Growth
    from aapi.theory.hindsight import HindsightGrowth

POINTS = 60  # of a curve
TERMS = ("regret", "stability", "regularisation", "movement", "prediction", "bound")  # of online learning


def summary(analysis: Analysis, checks: Sequence[BoundCheck]) -> JsonObject:
    """Totals, curves of about POINTS phases, and bound checks (key `pairs`). All numbers are finite, or null."""
    parts, ends = analysis.decomposition, analysis.phase_ends
    rest = ("confinement", "unevaluated")  # zero, mostly
    shown = {part: parts.cumulated(part) for part in PARTS if part not in rest or parts.part(part).any()}
    shown_phases, shown_evaluated = _thinned(len(ends)), _thinned(int(analysis.evaluated.sum()))
    terms, games = online_terms(analysis), analysis.online_learning
    if terms is not None and games is not None:  # in how many states of runs it is more than rounding above its bound
        terms |= {"exceeded": (games.regret > games.bound + 1e-9 * np.abs(games.stability).max()).sum()}
    return _json_object({
        "runs": analysis.num_runs, "phases": len(ends), "optimal_gain": analysis.against.gain,
        "residual": parts.residual.max(), "multichain": analysis.multichain, "stiff": parts.stiff.sum(),
        "totals": {part: confidence_band(values[:, -1]) for part, values in shown.items()},
        "curves": {"steps": ends[shown_phases]}
        | {part: confidence_band(values[:, shown_phases]) for part, values in shown.items()},
        "errors": {"steps": ends[analysis.evaluated][shown_evaluated]}
        | {norm: confidence_band(analysis.errors.norm(norm)[:, shown_evaluated]) for norm in ERROR_NORMS},
        "online_learning": terms,
        "relative_q": analysis.relative_q.constant,
        "pairs": [_check(check) for check in checks],
        "refused": analysis.refused,
    })  # fmt: skip


def examination_summary(found: Examination) -> JsonObject:
    """The same for an examination, with what it found about the problem, evaluation and growth."""
    return summary(found.analysis, found.checks) | _json_object({
        "algorithm": found.algorithm, "constants": found.constants,
        "evaluation": {
            name: {field: value for field, value in vars(decay).items() if field != "errors"}
            for name, decay in found.decays.items()
        },
        "theorem": found.theorem, "recommended_phase_length": found.phase_lengths,
        "growth": {name: growth_summary(growth) for name, growth in found.growth.items()},
        "exact": found.exact, "refused": found.refused,
    })  # fmt: skip


def growth_summary(growth: Growth) -> JsonObject:
    """Regret for several T, its exponent, and the regret that was fitted."""
    return _json_object({
        "runs": growth.regrets.shape[1], "steps": growth.steps, "phase_lengths": growth.phase_lengths,
        "regret": confidence_band(growth.regrets.T), "exponent": growth.exponent, "fitted": growth.at(growth.steps),
    })  # fmt: skip


def hindsight_summary(found: HindsightGrowth) -> JsonObject:
    """Growth where rewards change, by algorithm."""
    growth = {name: growth_summary(each) for name, each in found.growth.items()}
    return _json_object({"growth": growth, "gain_regret": found.gain_regret, "refused": found.refused})


def online_terms(analysis: Analysis) -> dict[str, Array] | None:
    """Regret of online learning and the terms of its bound in each state, in the units of R2: times τ and μ_*.

    Means over runs. None where there are none, or where R2 is no sum over states; see `Analysis.unit`.
    """
    found = analysis.online_learning
    if found is None or analysis.unit is None:
        return None
    weights = analysis.unit * analysis.against.distribution
    terms = vars(found) | {"bound": found.bound}
    return {term: (terms[term] * weights).mean(axis=0) for term in TERMS}


def _check(check: BoundCheck) -> dict[str, object]:
    named = {name: value for name, value in vars(check).items() if name != "rounding"}
    return named | {"holds": check.holds if check.bound is not None and math.isfinite(check.bound) else None}


def _thinned(count: int) -> Integers:
    return np.unique(np.linspace(0, max(count - 1, 0), min(POINTS, count)).round().astype(np.int64))


def _json_object(values: Mapping[str, object]) -> JsonObject:
    return {name: _json(value) for name, value in values.items()}


def _json(value: object) -> Json:
    """Dataclasses by their fields, arrays as lists; null for a number that is not finite."""
    if dataclasses.is_dataclass(value):
        return _json(vars(value))
    if isinstance(value, dict):
        return {str(name): _json(each) for name, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _json(value.tolist())
    if isinstance(value, list):
        return [_json(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else cast("Json", value)
