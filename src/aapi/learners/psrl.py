"""PSRL: act optimally in a model drawn from the posterior, in the form TSDE (Ouyang, Gagrani, Nayyar, Jain 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.checks import finite, one_of
from aapi.errors import InvalidInput
from aapi.exploration.planning import plan_in
from aapi.kernels.jit import kernel
from aapi.learners.model_based import ACCURACY, ModelBased, Plan, counts_of
from aapi.learners.reward_range import RewardRange, check_seen, check_squares
from aapi.memory.posterior import (
    draw_beta_rewards,
    draw_normal_rewards,
    draw_transitions,
    modelled_states,
    with_the_unseen,
)
from aapi.memory.reward_moments import RewardMoments, TrackRewards

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Array, Integers, Streams
    from aapi.learners.model_based import EpisodeState
    from aapi.memory import Counts, Memory, MemorySpec


REWARDS = ("known", "beta", "normal")
MOMENTS = TrackRewards()
NARROWEST = 1e-3  # of all widths; counts are divided by its square


@dataclass(frozen=True, kw_only=True)
class PSRL(ModelBased, RewardRange):
    """Act optimally in a model drawn from the posterior, and draw anew when an episode ends.

    TSDE ends an episode when some pair has more than twice the visits that it had before, or when it is one step longer
    than the last episode. Transitions have a Dirichlet prior. All states never seen are one state in the model, which
    pays what an untried pair pays, and leads back; see `draw_transitions`. A state first met within an episode ends it,
    by whatever is done there.

    prior: weight of the Dirichlet prior of a pair, 1/S of it for each successor. rewards: known once seen, or drawn as
    well, by beta or normal posteriors. Where they are known once seen, an untried pair pays the highest; where they are
    normal, their range is that of likely means, and what was seen stands in for it if it is not known.
    width: of the posterior; 1 is published.
    """

    prior: float = 1.0
    rewards: str = "known"
    width: float = 1.0

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        finite(0.0, strictly=True, prior=self.prior, width=self.width)
        if not NARROWEST <= self.width <= 1.0 / NARROWEST:
            raise InvalidInput(f"width must lie between {NARROWEST:g} and {1.0 / NARROWEST:g}, not {self.width:g}")
        one_of(REWARDS, rewards=self.rewards)

    @property
    def more_memory(self) -> tuple[MemorySpec[Memory], ...]:
        """How far rewards are from their means, if these are drawn as normal."""
        return (MOMENTS,) if self.rewards == "normal" else ()

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> EpisodeState:
        """The uniform policy, and no data yet."""
        space.require_countable("PSRL needs")
        if self.rewards != "normal":
            self.reward_range(space)
        return super().init(space, runs, num_steps, gap)

    def limits(self, counts: Counts) -> Integers:
        """More than twice the visits before."""
        return counts.visits.astype(np.int64) + 1

    def longest(self, state: EpisodeState) -> int:
        """One step more than the last episode."""
        return state.length + 1

    def plan(self, state: EpisodeState, streams: Streams) -> Plan:
        """The policy that is optimal in a model drawn from the posterior, from the values of the last one on."""
        counts = counts_of(state)
        model = draw_transitions(counts, float(self.prior), float(self.width), streams)
        rewards = self._draw_rewards(state, counts, streams)
        policy, q_hat, gain, _ = plan_in(model, modelled_states(counts), rewards, _values(state.q_hat[0]), ACCURACY)
        return Plan(policy[None, :-1], q_hat[None, :-1], np.array([gain]))

    def _prior(self, space: QSpace, moments: RewardMoments) -> tuple[float, float]:
        """Mean and variance of rewards before any were seen: by their range, else by those of all pairs so far."""
        if space.model is None and (self.reward_low is None or self.reward_high is None):
            return moments.overall()
        low, high = self.reward_range(space)
        check_squares("PSRL with normal rewards", low, high)
        return 0.5 * (low + high), 0.25 * (high - low) ** 2 if high > low else 1.0

    def _draw_rewards(self, state: EpisodeState, counts: Counts, streams: Streams) -> Array:
        """Mean rewards, (states + 1, actions); the last row is of a state that stands for those never seen."""
        if self.rewards == "normal":
            moments = cast("RewardMoments", state.memories[MOMENTS])
            check_squares("PSRL with normal rewards", float(counts.lowest[0]), float(counts.highest[0]))
            prior = self._prior(state.space, moments)
            return draw_normal_rewards(moments, counts, prior, float(self.width), streams)
        low, high = self.reward_range(state.space)
        check_seen(low, high, float(counts.lowest[0]), float(counts.highest[0]))
        if self.rewards == "beta":
            return draw_beta_rewards(counts, low, high, float(self.width), streams)
        visits = counts.visits[0]
        return with_the_unseen(np.where(visits > 0.0, counts.earned[0] / np.maximum(visits, 1.0), high), high)


@kernel
def _values(q: Any) -> Any:
    """max_a Q(x, a), and the highest of all for the state that stands for those never seen; (states + 1,)."""
    values = np.full(q.shape[0] + 1, -np.inf)
    for x in range(q.shape[0]):
        for a in range(q.shape[1]):
            values[x] = max(values[x], q[x, a])
        values[-1] = max(values[-1], values[x])
    return values
