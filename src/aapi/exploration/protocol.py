"""What Algorithm 1 asks of exploration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.memory import Counts
    from aapi.simulation import Simulation

__all__ = ["Exploration", "within_budget"]


class Exploration(Protocol):
    """Decides, before each phase but the first and for each run by itself, whether and how a run explores.

    A stretch of exploration has the same length in all runs; those that do not explore follow their policy. What is
    seen is remembered, and the sums of Algorithm 1 are left alone.
    """

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(
        self, simulation: Simulation, counts: Counts, free: NDArray[np.bool_], policies: NDArray[np.float64]
    ) -> None:
        """For runs that are `free` and ought to explore, put that into `policies`, and let them be free no longer."""


def within_budget(counts: Counts, budget: float) -> NDArray[np.bool_]:
    """The runs that explored less than budget · (t m A)^½ steps, after t steps, with m states seen and A actions."""
    pairs = counts.seen.sum(axis=1) * counts.visits.shape[2]
    return np.asarray(counts.explored < budget * np.sqrt(float(counts.steps) * pairs))
