"""POLITEX: policy iteration with expert advice (Abbasi-Yadkori et al. 2019, Lazic et al. 2019)."""

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


def Politex(  # noqa: N802 - an algorithm's name
    *, phase_length: ScheduleLike, evaluate: EvaluationLike, eta: float = 1.0, schedule: str = "constant",
    exploration: Explorations = (),
) -> AnyLearner:  # fmt: skip
    """Algorithm 1 without side information and with one temperature for all states: π_{k+1} ∝ exp(Σ_{s≤k} Q̂_s / η_k).

    schedule: `constant`, η_k = η; `sqrt`, η √k; `horizon`, η (K / (8 ln A))^½, the analysed one.
    """
    learner = PolicyIteration(
        phase_length=phase_length,
        evaluate=evaluate,
        learning_rate=Scheduled(eta, schedule),
        side_information=Zero(),
    )
    return exploring(learner, exploration)
