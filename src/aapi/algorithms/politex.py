"""POLITEX: policy iteration with expert advice (Abbasi-Yadkori et al. 2019, Lazic et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.algorithms.policy_iteration import PolicyIteration
from aapi.improvement import Scheduled, Zero

if TYPE_CHECKING:
    from aapi.evaluation import Evaluation
    from aapi.exploration import Exploration
    from aapi.schedules import Schedule

__all__ = ["Politex"]


def Politex(  # noqa: N802 - an algorithm's name
    *, phase_length: int | Schedule, evaluate: Evaluation, eta: float = 1.0, schedule: str = "constant",
    exploration: tuple[Exploration, ...] = (),
) -> PolicyIteration:  # fmt: skip
    """Algorithm 1 without side information and with one temperature for all states: π_{k+1} ∝ exp(Σ_{s≤k} Q̂_s / η_k).

    schedule: `constant`, η_k = η; `sqrt`, η √k; `horizon`, η (K / (8 ln A))^½, the analysed one.
    """
    return PolicyIteration(
        phase_length=phase_length,
        evaluate=evaluate,
        learning_rate=Scheduled(eta, schedule),
        side_information=Zero(),
        exploration=tuple(exploration),
    )
