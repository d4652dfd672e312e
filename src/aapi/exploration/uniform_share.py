"""Exploration by acting at random for a share of the time, as EE-POLITEX does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aapi.checks import finite

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aapi.memory import Counts
    from aapi.simulation import Simulation

__all__ = ["UniformShare"]


@dataclass(frozen=True)
class UniformShare:
    """Act at random while exploration took less than `share` of all steps.

    In the spirit of exploration-enhanced POLITEX (Abbasi-Yadkori, Lazic, Szepesvári and Weisz 2019), which adds the
    data of a fixed exploration policy to every phase.
    """

    share: float = 0.1

    def check(self) -> None:
        """The share must not be negative."""
        finite(0.0, share=self.share)

    def __call__(
        self, simulation: Simulation, counts: Counts, free: NDArray[np.bool_], policies: NDArray[np.float64]
    ) -> None:
        """Uniform policies."""
        runs = free & (counts.explored < self.share * counts.steps)
        policies[runs] = 1.0 / policies.shape[2]
        free[runs] = False
