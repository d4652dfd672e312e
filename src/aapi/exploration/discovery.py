"""Exploration as long as something new is to be found, by what was found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least, finite
from aapi.exploration.exploration import Exploration, sent_out
from aapi.exploration.planning import plan
from aapi.memory.counts import DEEPEST
from aapi.memory.model import average_probabilities

if TYPE_CHECKING:
    from aapi.array_types import Array
    from aapi.exploration.exploration import Excursion, Situation
    from aapi.memory import Counts


FAR = 100  # steps that one may go for news at the threshold


@dataclass(frozen=True)
class Discovery(Exploration):
    """Go where visits are most likely to show something new, as long as one of them does with more than `threshold`.

    How likely is the j-th visit of a pair to lead to a state never seen before, or to pay what was never paid? One
    cannot know, but can ask how many j-th visits of other pairs did:

        novelty(j) = min_{2≤i≤j} (1 + discoveries_i) / (i + attempts_i),    novelty(1) = 1:

    a guess of 1/j, corrected by what was found; and no later visit is likelier to show something than an earlier one. A
    run explores if pairs beyond the threshold are within reach, by the policy that finds most of that in the model of
    averages. Where transitions are certain, the second visits of other pairs soon show that these find nothing, and
    every pair is tried once; where they are not, or pairs are few, it takes longer. Rewards do not matter until they
    are news, so that it explores alike on any scale, and before any reward was seen.

    patience: None for stretches of the usual length. A number: go on until something that may show news was tried, for
    so many steps at the most; each run is then simulated alone.
    """

    threshold: float = 0.02
    patience: int | None = None

    @property
    def lockstep(self) -> bool:
        """False if stretches end by what is tried."""
        return self.patience is None

    def check(self) -> None:
        """The threshold must be positive, and so must the patience."""
        finite(0.0, strictly=True, threshold=self.threshold)
        if self.patience is not None:
            at_least(1, patience=self.patience)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Send runs to where most is to be found."""
        counts = situation.counts
        news = novelty(counts)
        news[(news <= self.threshold) | ~counts.seen[:, :, None]] = 0.0
        runs = np.flatnonzero(situation.free & (news.max(axis=(1, 2)) > 0.0))
        if not runs.size:
            return None
        policies, rates = plan(counts, runs, average_probabilities(counts), news)
        excursion = sent_out(runs[rates > self.threshold / FAR], policies)
        if self.patience is None:
            return excursion
        limits = np.where(news > 0.0, 1, np.iinfo(np.int64).max)
        return replace(excursion, steps=int(self.patience), limits=limits)


def novelty(counts: Counts) -> Array:
    """How likely the next visit of each pair shows anything new, (runs, states, actions)."""
    rates = np.zeros((len(counts.attempts), DEEPEST + 1))  # of the j-th visit in the column j; 0 beyond
    rates[:, 1] = 1.0
    seen = (1.0 + counts.discoveries[:, 2:]) / (np.arange(2, DEEPEST) + counts.attempts[:, 2:])
    rates[:, 2:DEEPEST] = np.minimum.accumulate(seen, axis=1)
    visit = np.minimum(counts.visits + 1.0, DEEPEST).astype(np.int64)
    return np.asarray(np.take_along_axis(rates, visit.reshape(len(visit), -1), axis=1).reshape(visit.shape))
