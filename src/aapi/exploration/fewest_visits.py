"""Exploration of what was visited least, on a budget that grows with the root of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.exploration.exploration import Exploration, sent_out, within_budget
from aapi.exploration.planning import plan
from aapi.memory.model import average_probabilities

if TYPE_CHECKING:
    from aapi.exploration.exploration import Excursion, Situation


@dataclass(frozen=True)
class FewestVisits(Exploration):
    """Act optimally for the reward 1/(n + 1), n counting visits, while exploration took less than budget · (t m A)^½.

    t are the steps so far, m the states seen and A the actions. Every pair that can be reached is visited again and
    again, at a price that is small against t.
    """

    budget: float = 0.25

    def check(self) -> None:
        """The budget must not be negative."""
        finite(0.0, budget=self.budget)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Send runs to where they were least."""
        counts = situation.counts
        runs = np.flatnonzero(situation.free & within_budget(situation, self.budget))
        if not runs.size:
            return None
        policies = np.empty_like(counts.visits)
        plan(counts, runs, average_probabilities(counts), 1.0 / (counts.visits + 1.0), None, policies)
        return sent_out(runs, policies)
