"""Posterior-sampled evaluation: Q of a model drawn at random from what the data leaves possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.evaluation.evaluation import Evaluation
from aapi.evaluation.self_consistent import evaluate_models
from aapi.memory import CountTransitions
from aapi.memory.model import sampled_model

if TYPE_CHECKING:
    from aapi.approximation import Array, Policy
    from aapi.memory import Experience


@dataclass(frozen=True)
class PosteriorSampled(Evaluation):
    """`SelfConsistent` in a model drawn anew for each phase: P(·|x, a) has a Dirichlet distribution.

    Its parameters are the counts of the successors seen, and `prior` for leading anywhere. What RLSVI does to
    least-squares value iteration, this does to policy evaluation: noise in proportion to what is not known. It is the
    probabilities that are random, so that rewards on another scale give the same draws.

    prior: pseudo-visits of every pair that lead anywhere.
    """

    prior: float = 0.01
    memory = CountTransitions()
    off_policy = True

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""
        finite(0.0, strictly=True, prior=self.prior)

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q̂_k, of shape (runs, states, actions); 0 where a state was never seen."""
        counts = seen.recall(self.memory)
        weights, rewards = sampled_model(counts, float(self.prior), seen.data.streams, np.arange(seen.runs))
        return evaluate_models(counts, weights, rewards, policy, seen.guess)
