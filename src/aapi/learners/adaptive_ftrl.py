"""Adaptive follow-the-regularised-leader: AAPI without optimism, the third corner of the ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.improvement import Adaptive, Zero
from aapi.learners.exploring import exploring
from aapi.learners.policy_iteration import PolicyIteration

if TYPE_CHECKING:
    from aapi.evaluation.evaluation import EvaluationLike
    from aapi.exploration.exploration import Explorations
    from aapi.learners.learner import AnyLearner
    from aapi.schedules import ScheduleLike


def AdaptiveFTRL(  # noqa: N802 - an algorithm's name
    *, phase_length: ScheduleLike, evaluate: EvaluationLike, eta: float = 1.0, norm: str = "sup",
    exploration: Explorations = (),
) -> AnyLearner:  # fmt: skip
    """π_{k+1} ∝ exp(Σ_{s≤k} Q̂_s / η_k(x)) with η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s(x,·)‖²)^½."""
    learner = PolicyIteration(
        phase_length=phase_length,
        evaluate=evaluate,
        learning_rate=Adaptive(eta, norm),
        side_information=Zero(),
    )
    return exploring(learner, exploration)
