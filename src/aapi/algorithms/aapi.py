"""AAPI: adaptive approximate policy iteration (Hao, Lazic, Abbasi-Yadkori, Joulani and Szepesvári 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.algorithms.policy_iteration import PolicyIteration
from aapi.improvement import Adaptive, PreviousEstimate, SampledAdaptive, SideInformation

if TYPE_CHECKING:
    from aapi.evaluation import Evaluation

__all__ = ["AAPI"]


def AAPI(  # noqa: N802 - an algorithm's name
    *,
    phase_length: int,
    evaluate: Evaluation,
    eta: float = 1.0,
    norm: str = "sup",
    side_information: SideInformation = PreviousEstimate(),  # noqa: B008 - frozen
    num_sampled: int | None = None,
) -> PolicyIteration:
    """Algorithm 1 as the paper states it: π_{k+1} ∝ exp((Σ_{s≤k} Q̂_s + M_{k+1}) / η_k(x)).

    eta: η in η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s − M_s‖²)^½. Multiplying all rewards by a constant changes nothing.
    norm: `sup` as in the paper, or `span`, which is blind to constants added to Q̂(x, ·).
    num_sampled: estimate η_k(x) from so many past differences, as the paper does for large state spaces; None: exactly
        for tables, from 30 for weights.
    """
    return PolicyIteration(
        phase_length=phase_length,
        evaluate=evaluate,
        learning_rate=Adaptive(eta, norm) if num_sampled is None else SampledAdaptive(eta, norm, num_sampled),
        side_information=side_information,
    )
