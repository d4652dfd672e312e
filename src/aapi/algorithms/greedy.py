"""Classical approximate policy iteration: greedy in the last estimate, the fourth corner of the ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.algorithms.policy_iteration import PolicyIteration
from aapi.improvement import Scheduled, Zero

if TYPE_CHECKING:
    from aapi.evaluation import Evaluation
    from aapi.exploration import Exploration
    from aapi.schedules import Schedule

__all__ = ["GreedyAPI"]


def GreedyAPI(  # noqa: N802 - an algorithm's name
    *, phase_length: int | Schedule, evaluate: Evaluation, exploration: tuple[Exploration, ...] = ()
) -> PolicyIteration:
    """π_{k+1} spreads its probability evenly over argmax_a Q̂_k(x, a)."""
    return PolicyIteration(
        phase_length=phase_length, evaluate=evaluate, learning_rate=Scheduled(0.0), side_information=Zero(), decay=0.0,
        exploration=tuple(exploration),
    )  # fmt: skip
