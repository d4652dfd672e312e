"""The Fourier basis (Konidaris, Osentoski and Thomas 2011), as in the paper's CartPole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aapi.checks import at_least
from aapi.errors import TooLarge
from aapi.features.basis import FOURIER, Basis
from aapi.features.bounds import MOST_FEATURES, Bounds, scaling


@dataclass(frozen=True)
class Fourier:
    """cos(π c·s) for all c in {0 … order}ⁿ, and the n numbers of the observation themselves if `linear`.

    s is the observation scaled to [0, 1] by `low` and `high`, and clipped; by default the bounds are those that the
    problem gives. For CartPole and order 4: 625 + 4 features for each action, 1258 in all.
    """

    order: int = 3
    low: Bounds = None
    high: Bounds = None
    linear: bool = True

    def basis(self, low: Bounds, high: Bounds) -> Basis:
        """These features for observations that lie between `low` and `high`, unless the features have their own."""
        at_least(1, order=self.order)
        bottom, width = scaling(low, high, self.low, self.high)
        order = int(self.order)  # NumPy's integers would overflow where Python's grow
        size = (order + 1) ** len(bottom)
        if size > MOST_FEATURES:
            raise TooLarge(
                f"Fourier features of order {self.order} in {len(bottom)} dimensions are {size}, more than "
                f"{MOST_FEATURES}: take a lower order, tiles, or radial features"
            )
        return Basis(FOURIER, bottom, width, order, np.empty((0, 0)), np.empty(0), 1.0, size, self.linear)
