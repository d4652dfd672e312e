"""Adaptive follow-the-regularised-leader: AAPI without optimism, the third corner of the ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.algorithms.policy_iteration import PolicyIteration
from aapi.improvement import Adaptive, Zero

if TYPE_CHECKING:
    from aapi.evaluation import Evaluation
    from aapi.exploration import Exploration
    from aapi.schedules import Schedule

__all__ = ["AdaptiveFTRL"]


def AdaptiveFTRL(  # noqa: N802 - an algorithm's name
    *, phase_length: int | Schedule, evaluate: Evaluation, eta: float = 1.0, norm: str = "sup",
    exploration: tuple[Exploration, ...] = (),
) -> PolicyIteration:  # fmt: skip
    """π_{k+1} ∝ exp(Σ_{s≤k} Q̂_s / η_k(x)) with η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s(x,·)‖²)^½."""
    return PolicyIteration(
        phase_length=phase_length, evaluate=evaluate, learning_rate=Adaptive(eta, norm), side_information=Zero(),
        exploration=tuple(exploration),
    )  # fmt: skip
