"""R-MAX (Brafman and Tennenholtz 2002) for average reward: what is not known well is believed to be paradise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least
from aapi.exploration.planning import plan_in
from aapi.kernels.jit import kernel
from aapi.learners.model_based import ACCURACY, ModelBased, Plan, counts_of
from aapi.learners.reward_range import RewardRange, check_seen
from aapi.memory.model import order_by_pair
from aapi.memory.posterior import SparseModel

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Integers, Streams
    from aapi.learners.model_based import EpisodeState
    from aapi.memory import Counts


MOST = 100_000  # steps of an episode
NEVER = 1 << 62


@dataclass(frozen=True, kw_only=True)
class RMAX(ModelBased, RewardRange):
    """Plan in a model where pairs that were visited fewer than m times lead to a state that pays the most for ever.

    Known pairs are believed to be as they were on average. So a plan either goes to where too little is known, in the
    way that costs least, or is optimal. It is made anew when a pair becomes known, and after 100,000 steps in any case.

    known_after: m, the visits after which a pair is known.
    """

    known_after: int = 30

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, known_after=self.known_after)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> EpisodeState:
        """The uniform policy, and no data yet."""
        space.require_countable("RMAX needs")
        self.reward_range(space)
        return super().init(space, runs, num_steps, gap)

    def limits(self, counts: Counts) -> Integers:
        """What a pair lacks to be known."""
        lacking = int(self.known_after) - counts.visits.astype(np.int64)
        return np.where(lacking > 0, lacking, NEVER)

    def longest(self, state: EpisodeState) -> int:
        """So that what is seen of known pairs counts in the end, and need not be kept step by step for ever."""
        return MOST

    def plan(self, state: EpisodeState, streams: Streams) -> Plan:
        """The policy that is optimal if what is not known is paradise."""
        counts = counts_of(state)
        low, high = self.reward_range(state.space)
        check_seen(low, high, float(counts.lowest[0]), float(counts.highest[0]))
        visits, seen = counts.visits[0], counts.seen[0]
        known, num_states = visits >= self.known_after, len(visits)
        means = np.where(known, counts.earned[0] / np.maximum(visits, 1.0), high)
        rewards = np.concatenate([means, np.full((1, means.shape[1]), high)])
        states = np.flatnonzero(np.append(seen, not known[seen].all()))
        model = optimistic_model(counts, known)
        policy, q_hat, gain, _ = plan_in(model, states, rewards, np.zeros(num_states + 1), ACCURACY)
        return Plan(policy[None, :num_states], q_hat[None, :num_states], np.array([gain]))


def optimistic_model(counts: Counts, known: Integers) -> SparseModel:
    """Averages of what was seen of known pairs, in the first run; others lead to one more state, which leads to itself.

    known: (states, actions).
    """
    size, paradise = int(counts.sizes[0]), np.zeros((1, known.shape[1]), dtype=bool)
    found = _optimistic_model(
        counts.pairs[0, :size], counts.successors[0, :size], counts.transition_counts[0, :size], counts.visits[0],
        np.concatenate([known, paradise]).ravel(), len(known),
    )  # fmt: skip
    return SparseModel(*found)


@kernel
def _optimistic_model(pairs: Any, successors: Any, times: Any, visits: Any, known: Any, paradise: Any) -> Any:
    starts = np.empty(known.size + 1, dtype=np.int64)
    order, begins = order_by_pair(pairs, starts), np.zeros(known.size + 1, dtype=np.int64)
    after, chances = np.empty(pairs.size + known.size, dtype=np.int64), np.empty(pairs.size + known.size)
    flat, used = visits.ravel(), 0
    for pair in range(known.size):
        if known[pair]:
            for e in range(starts[pair], starts[pair + 1]):
                after[used], chances[used] = successors[order[e]], times[order[e]] / flat[pair]
                used += 1
        else:
            after[used], chances[used] = paradise, 1.0
            used += 1
        begins[pair + 1] = used
    return begins, after[:used], chances[:used]
