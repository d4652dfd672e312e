"""AAPI: adaptive approximate policy iteration (Hao, Lazic, Abbasi-Yadkori, Joulani and Szepesvári 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.errors import InvalidInput
from aapi.evaluation import Automatic
from aapi.exploration import Expeditions, ThompsonSampling
from aapi.improvement import Adaptive, PreviousEstimate, SampledAdaptive
from aapi.learners.exploring import exploring
from aapi.learners.policy_iteration import PolicyIteration
from aapi.schedules import Growing

if TYPE_CHECKING:
    from aapi.evaluation.evaluation import EvaluationLike
    from aapi.exploration.exploration import Explorations
    from aapi.improvement.side_information import SideInformationLike
    from aapi.learners.learner import AnyLearner
    from aapi.schedules import ScheduleLike


def AAPI(  # noqa: N802 - an algorithm's name
    *,
    phase_length: ScheduleLike | None = None,
    evaluate: EvaluationLike | None = None,
    eta: float = 0.3,
    norm: str | None = None,
    side_information: SideInformationLike = PreviousEstimate(),  # noqa: B008 - frozen
    num_sampled: int | None = None,
    exploration: Explorations | None = None,
    reward_range: tuple[float, float] | None = None,
    max_exploration: float | None = None,
) -> AnyLearner:
    """Algorithm 1: π_{k+1} ∝ exp((Σ_{s≤k} Q̂_s + M_{k+1}) / η_k(x)).

    `AAPI()` needs no tuning: it evaluates policies on all data, measures surprise by the span, goes for news while that
    is worth its price, samples models that may be right, and chooses the lengths of phases itself.
    `AAPI(phase_length=…, evaluate=…)` is the paper's algorithm, in which the rest has the paper's defaults: the
    sup-norm, and no exploration. An `Agent` that observes vectors of up to 64 numbers, and was given `AAPI()` and no
    features, learns by `OptimisticGrid()`, not by Algorithm 1, except in CartPole; its `algorithm` says so.

    phase_length: τ, or a schedule; `Growing()` if not given.
    evaluate: the paper's G; `Automatic()` if not given: `SelfConsistent` on tables, `MonteCarlo` on weights.
    eta: η in η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s − M_s‖²)^½. Multiplying all rewards by a constant changes nothing.
    norm: `sup` as in the paper, or `span`, which is blind to constants added to Q̂(x, ·).
    num_sampled: estimate η_k(x) from so many past differences, as the paper does for large state spaces; None: exactly
        for tables, from 30 for weights.
    exploration: `Expeditions()` and `ThompsonSampling()` where evaluate is not given, and states can be counted. They
        end by what is seen, so each run is simulated alone. (): none.
    max_exploration: the share of all steps so far, such as 0.05, that may be explorations at any time; or, from 1 on,
        how many steps in all.
    reward_range: the lowest and the highest reward there can be, if they are known: what is yet to be found may then be
        worth a longer search, and nothing is searched for beyond the highest. Nothing needs it.
    """
    alone = evaluate is None
    measure = norm if norm is not None else "span" if alone else "sup"
    learner = PolicyIteration(
        phase_length=Growing() if phase_length is None else phase_length,
        evaluate=Automatic() if evaluate is None else evaluate,
        learning_rate=Adaptive(eta, measure) if num_sampled is None else SampledAdaptive(eta, measure, num_sampled),
        side_information=side_information,
    )
    if exploration is None:
        exploration = (Expeditions(highest=_highest(reward_range)), ThompsonSampling()) if alone else ()
    elif reward_range is not None:
        raise InvalidInput("reward_range is for the default exploration: give Expeditions(highest=…) instead")
    return exploring(learner, exploration, max_exploration)


def _highest(reward_range: tuple[float, float] | None) -> float | None:
    """The highest reward of a range, or an error."""
    if reward_range is None:
        return None
    try:
        low, high = map(float, reward_range)
    except (TypeError, ValueError):
        raise InvalidInput(f"reward_range must be (lowest, highest), not {reward_range!r}") from None
    if not low <= high:
        raise InvalidInput(f"reward_range must be (lowest, highest), not {reward_range!r}")
    return high
