"""Tile coding (Albus 1975): indicators of the cells of several shifted grids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aapi.checks import at_least
from aapi.errors import TooLarge
from aapi.features.basis import TILES, Basis
from aapi.features.bounds import MOST_FEATURES, Bounds, scaling


@dataclass(frozen=True)
class Tiles:
    """`tilings` grids of `tiles` cells a side over the scaled observation, each shifted by a different part of a cell.

    The shifts of coordinate j go in steps of 2j + 1 parts, which spreads them well (Miller and Glanz 1996). A shifted
    grid needs one more cell a side to cover everything.
    """

    tiles: int = 8
    tilings: int = 8
    low: Bounds = None
    high: Bounds = None

    def basis(self, low: Bounds, high: Bounds) -> Basis:
        """These features for observations that lie between `low` and `high`, unless the features have their own."""
        at_least(1, tiles=self.tiles, tilings=self.tilings)
        bottom, width = scaling(low, high, self.low, self.high)
        tiles, tilings = int(self.tiles), int(self.tilings)  # NumPy's integers would overflow where Python's grow
        size = tilings * (tiles + 1) ** len(bottom)
        if size > MOST_FEATURES:
            raise TooLarge(
                f"{self.tilings} tilings of {self.tiles} tiles a side in {len(bottom)} dimensions have {size} cells, "
                f"more than {MOST_FEATURES}: take fewer tiles, or radial features"
            )
        steps = np.arange(tilings)[:, None] * (2 * np.arange(len(bottom)) + 1)
        shifts = (steps % tilings) / tilings
        return Basis(TILES, bottom, width, tiles, shifts, np.empty(0), 1.0, size, linear=False)
