"""Policy evaluation, the paper's G: from a phase's data, or from the model, to Q̂."""

from aapi.evaluation.exact import ExactQ, batched_q_values, exact_q_values
from aapi.evaluation.monte_carlo import MonteCarlo
from aapi.evaluation.protocol import Evaluation

__all__ = ["Evaluation", "ExactQ", "MonteCarlo", "batched_q_values", "exact_q_values"]
