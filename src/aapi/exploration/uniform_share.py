"""Exploration by acting at random for a share of the time, as EE-POLITEX does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.exploration.exploration import Excursion, Exploration

if TYPE_CHECKING:
    from aapi.exploration.exploration import Situation


@dataclass(frozen=True)
class UniformShare(Exploration):
    """Act at random while exploration took less than `share` of all steps.

    In the spirit of exploration-enhanced POLITEX (Abbasi-Yadkori, Lazic, Szepesvári and Weisz 2019), which adds the
    data of a fixed exploration policy to every phase.
    """

    share: float = 0.1

    def check(self) -> None:
        """The share must not be negative."""
        finite(0.0, share=self.share)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Uniform policies."""
        counts = situation.counts
        runs = situation.free & (situation.explored < self.share * counts.steps)
        return Excursion(runs, np.full_like(counts.visits, 1.0 / counts.visits.shape[2]))
