"""Optimistic Q-learning for average reward (Wei, Jafarnia-Jahromi, Luo, Sharma and Jain 2020, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.approximation.temporal_differences import Rule
from aapi.checks import at_least, check_delta, finite
from aapi.errors import InvalidInput
from aapi.kernels.elementary import exp, log
from aapi.kernels.jit import step_kernel
from aapi.learners.online import OnlineLearner
from aapi.learners.reward_range import RewardRange, check_seen

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Array
    from aapi.learners.learner import Phase
    from aapi.learners.online import OnlineState
    from aapi.simulation import PhaseData


Q, BOUND = 0, 1  # of a pair: Q(x, a), and Q̂(x, a), the least that it has been


class _Settings(NamedTuple):
    """horizon: H. bonus: the bonus at the first visit. Rewards are scaled to (r − low)/unit."""

    horizon: float
    bonus: float
    low: float
    unit: float


@dataclass(frozen=True, kw_only=True)
class OptimisticQ(OnlineLearner, RewardRange):
    """Q-learning in a discounted problem, γ = 1 − 1/H, with a bonus that makes Q an upper bound; greedy in that.

    At the n-th visit of (x, a), with α = (H + 1)/(H + n) and rewards scaled to [0, 1]:
    Q(x, a) ← (1 − α) Q(x, a) + α (r + γ max_b Q̂(y, b) + 4 width sp √(H log(2T/δ)/n));  Q̂ = min(Q̂, Q). In tables.

    width: of the bonus; 1 is published. span: sp, of the bias of the optimal policy, in units of rewards; if not given,
        the range of rewards.
    horizon: H; if not given, min(√(sp T/(SA)), (T/(SA log(4T/δ)))^⅓), as analysed, which takes T.
    delta: probability that a bound fails. total_steps: the T of the constants; by default that of the run.
    """

    width: float = 1.0
    span: float | None = None
    horizon: int | None = None
    delta: float = 0.05
    total_steps: int | None = None

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        finite(0.0, width=self.width)
        if self.span is not None:
            finite(0.0, strictly=True, span=self.span)
        check_delta(self.delta)
        for name, value in (("horizon", self.horizon), ("total_steps", self.total_steps)):
            if value is not None:
                at_least(1, **{name: value})

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """Q = Q̂ = H: all could be as good as it gets."""
        space.require_countable("OptimisticQ needs")
        num_steps = self.total_steps or num_steps
        if num_steps is None:
            raise InvalidInput(
                "total_steps must be given: optimistic Q-learning needs T, and an agent does not know it"
            )
        low, high = self.reward_range(space)
        unit = high - low if high > low else 1.0
        span = 1.0 if self.span is None else self.span / unit
        horizon = self._horizon(space.rows * space.num_actions, num_steps, span)
        bonus = 4.0 * self.width * span * math.sqrt(horizon * log(2.0 * num_steps / self.delta))
        settings = _Settings(horizon, bonus, low, unit)
        q, visits = np.full((*space.shape(runs), 2), horizon), np.zeros(space.shape(runs), dtype=np.int64)
        return Rule(_choose, _learn, q, visits, np.zeros((runs, 0)), settings)

    def _horizon(self, pairs: int, num_steps: int, span: float) -> float:
        if self.horizon is not None:
            return float(self.horizon)
        third = exp(log(num_steps / (pairs * log(4.0 * num_steps / self.delta))) / 3.0)
        return max(2.0, float(math.ceil(min(math.sqrt(span * num_steps / pairs), third))))

    def update(self, state: OnlineState, data: PhaseData) -> tuple[OnlineState, Phase]:
        """All was learnt already, unless a reward was beyond the range."""
        check_seen(*self.reward_range(state.space), float(data.rewards.min()), float(data.rewards.max()))
        return super().update(state, data)

    def q_of(self, q: Array) -> Array:
        """Q̂."""
        return np.ascontiguousarray(q[..., BOUND])


@step_kernel
def _best(q: Any, run: Any, x: Any) -> Any:
    """max_a Q̂(x, a)."""
    best = q[run, x, 0, BOUND]
    for a in range(1, q.shape[2]):
        best = max(best, q[run, x, a, BOUND])
    return best


@step_kernel
def _choose(q: Any, visits: Any, numbers: Any, settings: Any, work: Any, run: Any, x: Any, u: Any) -> Any:
    """Greedy in Q̂(x, ·). Ties share."""
    best, ties = _best(q, run, x), 0
    for a in range(q.shape[2]):
        ties += q[run, x, a, BOUND] == best
    place, chosen = int(u * ties), 0
    for a in range(q.shape[2]):
        if q[run, x, a, BOUND] == best and place >= 0:
            chosen = a
            place -= 1
    return chosen


@step_kernel
def _learn(
    q: Any, visits: Any, numbers: Any, settings: Any, work: Any, run: Any, x: Any, a: Any, reward: Any, y: Any, b: Any
) -> None:
    visits[run, x, a] += 1
    n, horizon = float(visits[run, x, a]), settings.horizon
    share = (horizon + 1.0) / (horizon + n)
    target = (reward - settings.low) / settings.unit + (1.0 - 1.0 / horizon) * _best(q, run, y)
    value = (1.0 - share) * q[run, x, a, Q] + share * (target + settings.bonus / math.sqrt(n))
    q[run, x, a, Q] = value
    q[run, x, a, BOUND] = min(q[run, x, a, BOUND], value)
