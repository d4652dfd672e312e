"""Algorithm 1 of Hao et al. (2021), with all its parts open: AAPI, POLITEX and classical API are settings of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aapi.approximation.space import NOT_STORED
from aapi.checks import finite
from aapi.errors import InvalidInput
from aapi.evaluation import Evaluation, as_evaluation
from aapi.improvement import Leader, PreviousEstimate, as_learning_rate, as_side_information
from aapi.learners.learner import Learner, Phase, cannot_learn_from_others
from aapi.memory import Experience, empty_memories, remember
from aapi.schedules import as_schedule
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace, Surprise
    from aapi.array_types import Array
    from aapi.evaluation.evaluation import EvaluationLike
    from aapi.improvement.learning_rate import LearningRate, LearningRateLike
    from aapi.improvement.side_information import SideInformation, SideInformationLike
    from aapi.memory import Memories
    from aapi.schedules import Schedule, ScheduleLike
    from aapi.simulation import PhaseData


@dataclass(frozen=True, eq=False)
class PolicyIterationState:
    """After phase k. start: when phase k + 1 begins. total: Σ_{s≤k} Q̂_s, each times its weight.

    prediction: M_{k+1}; policy: π_{k+1}.
    """

    k: int
    memories: Memories
    space: QSpace = field(metadata=NOT_STORED)
    start: int
    total: Array
    prediction: Array
    surprise: Surprise
    policy: Policy


class Parts(NamedTuple):
    """What Algorithm 1 is made of."""

    schedule: Schedule
    evaluate: Evaluation
    learning_rate: LearningRate
    side_information: SideInformation


@dataclass(frozen=True, kw_only=True)
class PolicyIteration(Learner[PolicyIterationState]):
    """Approximate policy iteration in phases, by follow-the-regularised-leader in every state.

    phase_length: τ, or a `Schedule`; then phases count in proportion to their length.
    evaluate, learning_rate, side_information: the paper's G, η_k and M; parts, or functions.
    decay: what the sum of Q-functions keeps in each phase: 1 for the paper's algorithms, 0 for the last one alone.
    """

    phase_length: ScheduleLike
    evaluate: EvaluationLike
    learning_rate: LearningRateLike
    side_information: SideInformationLike = PreviousEstimate()  # noqa: RUF009 - frozen
    decay: float = 1.0

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> PolicyIterationState:
        """Line 2: π_1 uniform, M_1 = 0."""
        num_phases = None if num_steps is None else self.count_phases(num_steps, space, gap)
        rate, evaluate = self._parts.learning_rate, self._parts.evaluate.for_space(space)
        _check_length(evaluate, self.schedule.steps(1, 0, space), space.copies)
        self._check_prediction(evaluate)
        return PolicyIterationState(
            k=0, memories=empty_memories([evaluate.memory], space, runs), space=space, start=0,
            total=space.zeros(runs), prediction=space.zeros(runs), policy=space.uniform(runs),
            surprise=space.surprise(runs, rate.norm, rate.num_sampled, num_phases),
        )  # fmt: skip

    def act(self, state: PolicyIterationState) -> Stretch:
        """Line 5: run π_k for τ steps."""
        steps = self.schedule.steps(state.k + 1, state.start, state.space)
        return Stretch(state.k + 1, state.start, steps, state.policy)

    def update(self, state: PolicyIterationState, data: PhaseData) -> tuple[PolicyIterationState, Phase]:
        """Lines 6 to 9: from the data D_k of policy π_k to π_{k+1}."""
        return self._improve(state, data, state.policy)

    def off_policy(self, space: QSpace) -> bool:
        """If its evaluation can evaluate a policy by what others did."""
        return self._parts.evaluate.for_space(space).off_policy

    def learn_from(self, state: PolicyIterationState, data: PhaseData, behaviour: Policy) -> PolicyIterationState:
        """Lines 6 to 9, where another policy acted than π_k, which is evaluated."""
        if not self.off_policy(state.space):
            raise InvalidInput(cannot_learn_from_others(self))
        return self._improve(state, data, behaviour)[0]

    def _improve(
        self, state: PolicyIterationState, data: PhaseData, behaviour: Policy
    ) -> tuple[PolicyIterationState, Phase]:  # fmt: skip
        """From the data D_k, which `behaviour` made, to π_{k+1}."""
        space, k, (schedule, evaluate, learning_rate, side_information) = state.space, state.k + 1, self._parts
        evaluate = evaluate.for_space(space)
        # What phases k and k + 1 count: 1, if all are of one length.
        weight, next_weight = schedule.weight(k, state.start, space), schedule.weight(k + 1, data.time, space)
        if schedule.shortest_phase is None or space.copies > 1:  # else that is known beforehand
            _check_length(evaluate, data.steps, space.copies)
        seen = Experience(space, data, remember(state.memories, data, behaviour), state.prediction)
        estimate = evaluate.estimate(state.policy, seen, f"the evaluation of phase {k}")  # line 6: Q̂_k by G
        q_hat = estimate.q_hat
        surprise = state.surprise.add(k, q_hat, state.prediction, weight, data.streams)  # ‖Q̂_k − M_k‖
        total = _times(self.decay, state.total) + _times(weight, q_hat)
        temperature = learning_rate(k, surprise)  # line 7: η_k(x)
        nearer = Experience(space, data, seen.memories, q_hat)
        leader = Leader(k, total, q_hat, state.prediction, temperature, next_weight, evaluate, nearer)
        guess = side_information(leader)
        prediction = q_hat if guess is q_hat else space.check(guess, seen.runs, "side information").copy()  # M_{k+1}
        ahead = _times(next_weight, prediction)
        policy = space.softmax(total + ahead, temperature)  # lines 8 and 9: index and π_{k+1}
        after = PolicyIterationState(k, dict(seen.memories), space, data.time, total, prediction, surprise, policy)
        return after, Phase(
            k, state.policy, data, policy, q_hat=q_hat, temperature=temperature, surprise=surprise.last,
            prediction=ahead, weight=weight, conditioning=estimate.conditioning,
        )  # fmt: skip

    @property
    def schedule(self) -> Schedule:
        """The lengths of phases."""
        return self._parts.schedule

    @property
    def shortest_phase(self) -> int:
        """The length of its returns, if its evaluation has some."""
        return self._parts.evaluate.shortest_phase

    @cached_property
    def _parts(self) -> Parts:
        """Numbers and functions that were given as parts."""
        return Parts(
            as_schedule(self.phase_length), as_evaluation(self.evaluate), as_learning_rate(self.learning_rate),
            as_side_information(self.side_information),
        )  # fmt: skip

    def _check_prediction(self, evaluate: Evaluation) -> None:
        if self._parts.side_information.off_policy and not evaluate.off_policy:
            raise InvalidInput(
                f"{self.side_information!r} evaluates policies that have not acted yet, which {evaluate!r} "
                "cannot: use SelfConsistent or LSTD"
            )

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        schedule, evaluate, rate, side_information = self._parts
        schedule.check()
        if rate.needs_equal_phases and self.phase_steps is None:
            raise InvalidInput("temperatures that grow with the number of phases need phases of one length")
        if schedule.shortest_phase is not None:
            evaluate.check(schedule.shortest_phase)
        self._check_prediction(evaluate)
        rate.check()
        side_information.check()
        finite(0.0, decay=self.decay)
        if self.decay > 1.0:
            raise InvalidInput(f"decay must be at most 1, not {self.decay}")
        if 0.0 < self.decay < 1.0 and rate.num_sampled != 0:
            raise InvalidInput(
                f"decay {self.decay} bounds the sum of Q-functions but not an adaptive temperature, and policies would "
                "tend to the uniform one: use a Scheduled rate"
            )


def _times(factor: float, values: Array) -> Array:
    """factor · values, which is `values` where the factor is 1."""
    return values if factor == 1.0 else factor * values


def _check_length(evaluate: Evaluation, steps: int, copies: int) -> None:
    """Raise an error if phases of so many steps, of all copies together, cannot be evaluated."""
    try:
        evaluate.check(-(-steps // copies))
    except InvalidInput as error:
        if copies == 1:
            raise
        raise InvalidInput(f"{error} (a phase of {steps} steps goes round {copies} copies)") from None
