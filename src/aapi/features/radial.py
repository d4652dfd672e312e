"""Random Fourier features (Rahimi and Recht 2007), which approximate a Gaussian kernel in any dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import TooLarge
from aapi.features.basis import RADIAL, Basis
from aapi.features.bounds import MOST_FEATURES, Bounds, scaling


@dataclass(frozen=True)
class Radial:
    """(2/n)^½ cos(ω·s + b), ω ~ N(0, I/width²) and b uniform, n of them: E ψ(s)ᵀψ(t) = exp(−‖s − t‖²/(2 width²)).

    s is the observation scaled to [0, 1]. The same seed gives the same features.
    width: the length scale of the kernel; by default 0.15 √dimension, since distances grow with the dimension.
    """

    num_features: int = 300
    width: float | None = None
    seed: int = 0
    low: Bounds = None
    high: Bounds = None
    linear: bool = True

    def basis(self, low: Bounds, high: Bounds) -> Basis:
        """These features for observations that lie between `low` and `high`, unless the features have their own."""
        at_least(1, num_features=self.num_features)
        at_least(0, seed=self.seed)
        if self.width is not None:
            finite(0.0, strictly=True, width=self.width)
        bottom, extent = scaling(low, high, self.low, self.high)
        size = self.num_features + (len(bottom) if self.linear else 0)
        if size > MOST_FEATURES:
            raise TooLarge(f"{size} features are more than {MOST_FEATURES}: take fewer, or linear=False")
        random = np.random.default_rng(self.seed)
        frequencies = random.standard_normal((self.num_features, len(bottom))) / (
            self.width or 0.15 * math.sqrt(len(bottom))
        )
        phases = random.uniform(0.0, 2.0 * math.pi, self.num_features)
        scale = math.sqrt(2.0 / self.num_features)
        return Basis(RADIAL, bottom, extent, 0, frequencies, phases, scale, self.num_features, self.linear)
