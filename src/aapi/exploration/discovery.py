"""Exploration as long as something new is to be found, by what was found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.exploration.planning import plan
from aapi.memory.counts import DEEPEST
from aapi.memory.model import average_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.memory import Counts
    from aapi.simulation import Simulation

__all__ = ["Discovery", "novelty"]


@dataclass(frozen=True)
class Discovery:
    """Go where visits are most likely to show something new, while that happens more than once in 1/threshold steps.

    How likely is the j-th visit of a pair to lead to a state never seen before, or to pay what was never paid? One
    cannot know, but can ask how many j-th visits of other pairs did:

        novelty(j) = (1 + finds_j) / (j + tries_j),    novelty(1) = 1,

    a guess of 1/j, corrected by what was found. A run explores if the policy that finds most, in the model of averages,
    would find more than `threshold` in a step. Where transitions are certain, the second visits of other pairs soon
    show that these find nothing, and every pair is tried once; where they are not, or pairs are few, it takes longer.
    Rewards do not matter until they are news, so that it explores alike on any scale, and before any reward was seen.
    """

    threshold: float = 0.02

    def check(self) -> None:
        """The threshold must be positive."""
        finite(0.0, strictly=True, threshold=self.threshold)

    def __call__(
        self, simulation: Simulation, counts: Counts, free: NDArray[np.bool_], policies: NDArray[np.float64]
    ) -> None:
        """Send runs to where most is to be found."""
        news = novelty(counts)
        possible = np.where(counts.seen[:, :, None], news, 0.0).max(axis=(1, 2)) > self.threshold
        runs = np.flatnonzero(free & possible)
        if not runs.size:
            return
        weights = average_probabilities(counts)
        found = np.empty_like(policies)
        rates = plan(counts, runs, weights, news, np.zeros(news.shape, dtype=np.int64), found)
        wanted = runs[rates > self.threshold]
        policies[wanted] = found[wanted]
        free[wanted] = False


def novelty(counts: Counts) -> NDArray[np.float64]:
    """How likely the next visit of each pair shows anything new, (runs, states, actions)."""
    visit = np.minimum(counts.visits + 1.0, DEEPEST).astype(np.int64)
    numbers = np.arange(DEEPEST)
    rates = np.append((1.0 + counts.finds) / (numbers + np.maximum(counts.tries, 1e-300)), np.zeros((len(visit), 1)), 1)
    rates[:, 1] = 1.0
    return np.asarray(np.take_along_axis(rates, visit.reshape(len(visit), -1), axis=1).reshape(visit.shape))
