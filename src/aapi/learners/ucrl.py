"""Optimism in the face of uncertainty: UCRL2, UCRL2B, KL-UCRL and SCAL."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, check_delta, finite
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.learners.confidence import Bernstein, EarlyBernstein, Evidence, Hoeffding, KullbackLeibler
from aapi.learners.model_based import EpisodeState, ModelBased, Plan, counts_of
from aapi.learners.optimism import Transitions, extended_value_iteration
from aapi.learners.reward_range import RewardRange, check_seen, check_squares
from aapi.memory.model import order_by_pair
from aapi.memory.reward_moments import TrackRewards

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Integers, Streams
    from aapi.learners.confidence import ConfidenceSet
    from aapi.memory import Counts
    from aapi.memory.reward_moments import RewardMoments


REWARDS = TrackRewards()


@dataclass(frozen=True, eq=False)
class OptimisticState(EpisodeState):
    """low, high: of all rewards. num_steps: T, if it is known."""

    low: float = field(metadata=NOT_STORED)
    high: float = field(metadata=NOT_STORED)
    num_steps: int | None = field(metadata=NOT_STORED)


@dataclass(frozen=True, kw_only=True)
class Optimistic(ModelBased, RewardRange):
    """Act by the policy that is optimal in the best of all models that are believed to be possible.

    An episode ends where a pair would be taken whose visits have doubled in it, or that was tried for the first time.
    Then the best model is searched for by extended value iteration, to a gap of accuracy/√t.

    Rewards are scaled to [0, 1]: the learner is told their range. By default it is that of the model, where there is
    one; an agent has to be given it.

    As published, probability may be moved to every state of the table, also to those that nobody can reach, such as the
    cliff of CliffWalking. They are believed to pay the most for ever, as nothing is ever seen of them, and nothing is
    learnt. So by default it is moved to states seen so far only: a pair that was never tried is believed to pay the
    most and to lead to the best of these. Once all states were seen there is no difference.

    Where not even the best model connects all states, the gap may stay open; the policy of the last sweep then acts,
    and the gap that is left is in the state.

    delta: with which probability the confidence set may be wrong. width: the size of the confidence set, as a multiple
    of the published one. accuracy: extended value iteration stops at a gap of accuracy/√t, where 1 is published, in
    units of the range of rewards. seen_only: optimism moves probability to states seen so far only, not to every state
    as published.
    """

    delta: float = 0.05
    width: float = 1.0
    accuracy: float = 1.0
    seen_only: bool = True

    @property
    @abstractmethod
    def confidence(self) -> ConfidenceSet:
        """The models that are believed to be possible."""

    @property
    def bias_span(self) -> float:
        """The largest span of values that is believed, in units of rewards."""
        return math.inf

    @property
    def more_memory(self) -> tuple[TrackRewards, ...]:
        """Means and variances of rewards."""
        return (REWARDS,)

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        check_delta(self.delta)
        finite(0.0, width=self.width)
        finite(0.0, strictly=True, accuracy=self.accuracy)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> OptimisticState:
        """The uniform policy, and no data yet."""
        space.require_countable(f"{type(self).__name__} needs")
        low, high = self.reward_range(space)
        if isinstance(self.confidence, Bernstein):
            check_squares(type(self).__name__, low, high)
        return OptimisticState(
            **vars(super().init(space, runs, num_steps, gap)), low=low, high=high, num_steps=num_steps
        )

    def limits(self, counts: Counts) -> Integers:
        """As many visits as there were before; or 1."""
        return np.maximum(counts.visits, 1.0).astype(np.int64)

    @property
    def look_ahead(self) -> bool:
        """As published: while v_k(x, a) < max(1, N_k(x, a)) for the pair that comes next."""
        return True

    def plan(self, state: EpisodeState, streams: Streams) -> Plan:
        """The best model, and a policy that is optimal in it; values begin where the last plan left them."""
        counts, known = counts_of(state), cast("OptimisticState", state)
        check_seen(known.low, known.high, float(counts.lowest[0]), float(counts.highest[0]))
        unit = (known.high - known.low) or 1.0
        seen = evidence(counts, cast("RewardMoments", state.memories[REWARDS]), known.low, unit, known.num_steps)
        within = counts.seen[0] if self.seen_only else np.ones_like(counts.seen[0])
        start, accuracy, span = state.q_hat[0] / unit, self.accuracy / math.sqrt(seen.time), self.bias_span / unit
        best = extended_value_iteration(seen.transitions, self.confidence(seen), within, start, accuracy, span)
        gain = np.array([known.low + unit * best.gain])
        return Plan(best.policy[None], (unit * best.scores + known.low)[None], gain, unit * best.gap)


def evidence(counts: Counts, moments: RewardMoments, low: float, unit: float, num_steps: int | None) -> Evidence:
    """What one run has seen, with rewards scaled to [0, 1]."""
    visits, entries = counts.visits[0], slice(int(counts.sizes[0]))
    rewards, variances, *found = _scaled(
        counts.pairs[0, entries], counts.successors[0, entries], counts.transition_counts[0, entries], visits,
        moments.means[0], moments.deviations[0], low, unit,
    )  # fmt: skip
    return Evidence(counts.steps + 1, visits, rewards, variances, Transitions(*found), num_steps)


@kernel
def _scaled(
    pairs: Any, successors: Any, times: Any, visits: Any, means: Any, deviations: Any, low: Any, unit: Any
) -> Any:
    rewards, variances = np.empty(visits.shape), np.empty(visits.shape)
    for x in range(visits.shape[0]):
        for a in range(visits.shape[1]):
            rewards[x, a] = (means[x, a] - low) / unit
            variances[x, a] = deviations[x, a] / max(visits[x, a], 1.0) / (unit * unit)
    flat, begins = visits.ravel(), np.empty(visits.size + 1, dtype=np.int64)
    order = order_by_pair(pairs, begins)
    after, chances = np.empty(pairs.size, dtype=np.int64), np.empty(pairs.size)
    for i in range(pairs.size):
        entry = order[i]
        after[i], chances[i] = successors[entry], times[entry] / flat[pairs[entry]]
    return rewards, variances, begins, after, chances


@dataclass(frozen=True, kw_only=True)
class UCRL2(Optimistic):
    """UCRL2 (Jaksch, Ortner and Auer 2010): the L1 norm bounds what transitions are possible.

    Its regret is at most 34 D S √(A T log(T/δ)) with probability 1 − δ, where D is the diameter.
    """

    @property
    def confidence(self) -> Hoeffding:
        """Hoeffding's bound on rewards, and that of Weissman et al. on transitions."""
        return Hoeffding(self.delta, self.width)


@dataclass(frozen=True, kw_only=True)
class UCRL2B(Optimistic):
    """UCRL2 with empirical Bernstein bounds on rewards and on every p(x'|x, a) (Fruit, Pirotta and Lazaric 2020)."""

    @property
    def confidence(self) -> Bernstein:
        """Bounds that shrink with the variance that was seen."""
        return Bernstein(self.delta, self.width)


@dataclass(frozen=True, kw_only=True)
class KLUCRL(Optimistic):
    """KL-UCRL (Filippi, Cappé and Garivier 2010): a Kullback-Leibler ball bounds what transitions are possible.

    Its constants depend on T. A run knows that; an agent has to be given it.
    total_steps: the T of the constants; by default that of the run.
    """

    total_steps: int | None = None

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        super().check()
        if self.total_steps is not None:
            at_least(1, total_steps=self.total_steps)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> OptimisticState:
        """The uniform policy, and no data yet."""
        num_steps = self.total_steps or num_steps
        if num_steps is None:
            raise InvalidInput("total_steps must be given: KL-UCRL needs T, and an agent does not know it")
        return super().init(space, runs, num_steps, gap)

    @property
    def confidence(self) -> KullbackLeibler:
        """Garivier's bound on divergences."""
        return KullbackLeibler(self.delta, self.width)


@dataclass(frozen=True, kw_only=True)
class SCAL(Optimistic):
    """SCAL (Fruit, Pirotta, Lazaric and Ortner 2018): Bernstein bounds, and the span of the bias is known to be small.

    What REGAL.C (Bartlett and Tewari 2009) asks for, in a form that can be computed: values are capped at their minimum
    plus span. A cap below the true span makes it miss the optimum; there is no default, as nobody knows the span of a
    problem that is to be learnt (`aapi.solve` tells it, where there is a model).
    span: the largest span of the optimal bias that is believed, in units of rewards.
    """

    span: float | None = None

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        super().check()
        if self.span is None:
            raise InvalidInput("span must be given: SCAL needs a bound on the span of the optimal bias, such as 10")
        finite(0.0, strictly=True, span=self.span)

    @property
    def bias_span(self) -> float:
        """What it was told."""
        return math.inf if self.span is None else float(self.span)

    @property
    def confidence(self) -> EarlyBernstein:
        """Bounds that shrink with the variance that was seen."""
        return EarlyBernstein(self.delta, self.width)
