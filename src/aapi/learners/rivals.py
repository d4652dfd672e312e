"""The rivals of AAPI that are settings of Algorithm 1, too: the other three corners of the ablation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.improvement import Adaptive, Scheduled, Zero
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
    """POLITEX: π_{k+1} ∝ exp(Σ_{s≤k} Q̂_s / η_k), one temperature for all states, and no side information.

    Abbasi-Yadkori et al. (2019), Lazic et al. (2019). schedule: `constant`, η_k = η; `sqrt`, η √k; `horizon`,
    η (K / (8 ln A))^½, the analysed one.
    """
    rate = Scheduled(eta, schedule)
    learner = PolicyIteration(phase_length=phase_length, evaluate=evaluate, learning_rate=rate, side_information=Zero())
    return exploring(learner, exploration)


def AdaptiveFTRL(  # noqa: N802 - an algorithm's name
    *, phase_length: ScheduleLike, evaluate: EvaluationLike, eta: float = 1.0, norm: str = "sup",
    exploration: Explorations = (),
) -> AnyLearner:  # fmt: skip
    """AAPI without optimism: π_{k+1} ∝ exp(Σ_{s≤k} Q̂_s / η_k(x)) with η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s(x,·)‖²)^½."""
    rate = Adaptive(eta, norm)
    learner = PolicyIteration(phase_length=phase_length, evaluate=evaluate, learning_rate=rate, side_information=Zero())
    return exploring(learner, exploration)


def GreedyAPI(  # noqa: N802 - an algorithm's name
    *, phase_length: ScheduleLike, evaluate: EvaluationLike, exploration: Explorations = ()
) -> AnyLearner:
    """Classical approximate policy iteration: π_{k+1} spreads its probability evenly over argmax_a Q̂_k(x, a)."""
    learner = PolicyIteration(
        phase_length=phase_length, evaluate=evaluate, learning_rate=Scheduled(0.0), side_information=Zero(), decay=0.0
    )
    return exploring(learner, exploration)
