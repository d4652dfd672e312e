"""Classical approximate policy iteration: greedy in the last estimate, the fourth corner of the ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.improvement import Scheduled, Zero
from aapi.learners.exploring import exploring
from aapi.learners.policy_iteration import PolicyIteration

if TYPE_CHECKING:
    from aapi.evaluation.evaluation import EvaluationLike
    from aapi.exploration.exploration import Explorations
    from aapi.learners.learner import AnyLearner
    from aapi.schedules import ScheduleLike


def GreedyAPI(  # noqa: N802 - an algorithm's name
    *,
    phase_length: ScheduleLike,
    evaluate: EvaluationLike,
    exploration: Explorations = (),
) -> AnyLearner:
    """π_{k+1} spreads its probability evenly over argmax_a Q̂_k(x, a)."""
    learner = PolicyIteration(
        phase_length=phase_length,
        evaluate=evaluate,
        learning_rate=Scheduled(0.0),
        side_information=Zero(),
        decay=0.0,
    )
    return exploring(learner, exploration)
