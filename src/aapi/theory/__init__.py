"""The analysis of Hao, Lazic, Abbasi-Yadkori, Joulani and Szepesvári (2021), measured: regret, its parts and bounds."""

from typing import NoReturn

from aapi.theory.analysis import Analysis, analyse, analysed_runs
from aapi.theory.bounds import (
    BoundCheck,
    Constants,
    Theorem,
    check_bounds,
    constants,
    recommended_phase_length,
    theorem,
)
from aapi.theory.errata import Erratum, find_errata
from aapi.theory.evaluation_error import ERROR_NORMS, ErrorDecay, EvaluationErrors, error_decay
from aapi.theory.examination import Examination, examine
from aapi.theory.growth import Growth, doublings, exact_regret, regret_growth
from aapi.theory.hindsight import Hindsight, HindsightGrowth, growth_over_doublings, hindsight, hindsight_growth
from aapi.theory.noise import NoiseScale, mixing_bound
from aapi.theory.online_learning import OnlineLearning, lemma_eta, regret_and_bound
from aapi.theory.phases import Comparator, make_comparator
from aapi.theory.regret import PARTS, Decomposition, decompose
from aapi.theory.relative_q import RelativeQ, printed_constant, proven_constant

__all__ = [
    "ERROR_NORMS", "PARTS", "Analysis", "BoundCheck", "Comparator", "Constants", "Decomposition", "Erratum",
    "ErrorDecay", "EvaluationErrors", "Examination", "Growth", "Hindsight", "HindsightGrowth", "NoiseScale",
    "OnlineLearning", "RelativeQ", "Theorem", "analyse", "analysed_runs", "check_bounds", "constants", "decompose",
    "doublings", "error_decay", "exact_regret", "examine", "find_errata", "growth_over_doublings", "hindsight",
    "hindsight_growth", "lemma_eta", "make_comparator", "mixing_bound", "printed_constant", "proven_constant",
    "recommended_phase_length", "regret_and_bound", "regret_growth", "theorem",
]  # fmt: skip

_RENAMED = {"find_slips": "find_errata", "Slip": "Erratum", "measured_pairs": "check_bounds", "Pair": "BoundCheck"}


def __getattr__(name: str) -> NoReturn:
    successor = f": it is now {_RENAMED[name]}" if name in _RENAMED else ""
    raise AttributeError(f"module 'aapi.theory' has no attribute {name!r}{successor}")
