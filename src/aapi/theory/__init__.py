"""The paper's analysis as something that runs: regret and its parts, each against its bound."""

from aapi.theory.analysis import Analysis, analyse, analysed_runs
from aapi.theory.bounds import Constants, Theorem, constants, recommended_phase_length, theorem
from aapi.theory.comparator import Comparator, comparator
from aapi.theory.evaluation_error import ERROR_NORMS, ErrorDecay, EvaluationErrors, error_decay
from aapi.theory.growth import Growth, doublings, exact_regret, regret_growth
from aapi.theory.noise import NoiseScale, mixing_bound
from aapi.theory.online_learning import OnlineLearning, lemma_eta, regret_and_bound
from aapi.theory.pairs import Pair, pairs
from aapi.theory.regret import PARTS, Decomposition
from aapi.theory.relative_q import RelativeQ, printed_constant, proven_constant
from aapi.theory.slips import Slip, slips
from aapi.theory.study import Study, study

__all__ = [
    "ERROR_NORMS",
    "PARTS",
    "Analysis",
    "Comparator",
    "Constants",
    "Decomposition",
    "ErrorDecay",
    "EvaluationErrors",
    "Growth",
    "NoiseScale",
    "OnlineLearning",
    "Pair",
    "RelativeQ",
    "Slip",
    "Study",
    "Theorem",
    "analyse",
    "analysed_runs",
    "comparator",
    "constants",
    "doublings",
    "error_decay",
    "exact_regret",
    "lemma_eta",
    "mixing_bound",
    "pairs",
    "printed_constant",
    "proven_constant",
    "recommended_phase_length",
    "regret_and_bound",
    "regret_growth",
    "slips",
    "study",
    "theorem",
]
