"""Policy evaluation, the paper's G: from a phase's data, from all data, or from the model, to Q̂."""

from aapi.evaluation.automatic import Automatic
from aapi.evaluation.evaluation import Estimate, Evaluation, as_evaluation, estimate
from aapi.evaluation.exact import ExactQ, batched_q_values, exact_q_values
from aapi.evaluation.importance import ImportanceMonteCarlo
from aapi.evaluation.lspe import LSPE
from aapi.evaluation.lstd import LSTD
from aapi.evaluation.monte_carlo import MonteCarlo
from aapi.evaluation.self_consistent import PosteriorSampled, SelfConsistent

__all__ = [
    "LSPE", "LSTD", "Automatic", "Estimate", "Evaluation", "ExactQ", "ImportanceMonteCarlo", "MonteCarlo",
    "PosteriorSampled", "SelfConsistent", "as_evaluation", "batched_q_values", "estimate", "exact_q_values",
]  # fmt: skip
