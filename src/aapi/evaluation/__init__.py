"""Policy evaluation, the paper's G: from a phase's data, from all data, or from the model, to Q̂."""

from aapi.evaluation.automatic import Automatic
from aapi.evaluation.exact import ExactQ, batched_q_values, exact_q_values
from aapi.evaluation.monte_carlo import MonteCarlo
from aapi.evaluation.posterior import PosteriorSampled
from aapi.evaluation.protocol import Evaluation
from aapi.evaluation.self_consistent import SelfConsistent

__all__ = [
    "Automatic",
    "Evaluation",
    "ExactQ",
    "MonteCarlo",
    "PosteriorSampled",
    "SelfConsistent",
    "batched_q_values",
    "exact_q_values",
]
