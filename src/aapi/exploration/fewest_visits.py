"""Exploration of what was visited least, on a budget that grows with the root of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.exploration.planning import plan
from aapi.exploration.protocol import within_budget
from aapi.memory.model import average_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.memory import Counts
    from aapi.simulation import Simulation

__all__ = ["FewestVisits"]


@dataclass(frozen=True)
class FewestVisits:
    """Act optimally for the reward 1/(n + 1), n counting visits, while exploration took less than budget · (t m A)^½.

    t are the steps so far, m the states seen and A the actions. Every pair that can be reached is visited again and
    again, at a price that is small against t.
    """

    budget: float = 0.25

    def check(self) -> None:
        """The budget must not be negative."""
        finite(0.0, budget=self.budget)

    def __call__(
        self, simulation: Simulation, counts: Counts, free: NDArray[np.bool_], policies: NDArray[np.float64]
    ) -> None:
        """Send runs to where they were least."""
        runs = np.flatnonzero(free & within_budget(counts, self.budget))
        if runs.size:
            weights = average_probabilities(counts)
            news = 1.0 / (counts.visits + 1.0)
            plan(counts, runs, weights, news, None, policies)
            free[runs] = False
