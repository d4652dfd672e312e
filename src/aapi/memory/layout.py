"""Where the vertices of a grid lie, by what was observed: at whole numbers, around circles, or in rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aapi.approximation.grid import INTERPOLATED, LOWEST_SIDE, MOST_WHOLE, SIDES, Grid, code_steps

if TYPE_CHECKING:
    from aapi.array_types import Array, Mask


SLACK = 0.1  # of its width, how far outside of a grid something may lie
TABLE = 1000  # different vectors of whole numbers that have a vertex each, and
TABLE_SHARE = 0.02  # so many more for each step
ON_CIRCLE = 1e-4  # how far from 1 the sum of two squares may be


class Extent(NamedTuple):
    """What the numbers of observations were, (dimension,): their bounds, and whether they were all whole.

    circle: whether each and the next were on the unit circle together, as a cosine and a sine are, and not whole.
    """

    low: Array
    high: Array
    whole: Mask
    circle: Mask

    @staticmethod
    def of(vectors: Array) -> Extent:
        """Of observations, (n, dimension)."""
        low, high = vectors.min(axis=0), vectors.max(axis=0)
        whole = (vectors == np.floor(vectors)).all(axis=0) & (high - low < MOST_WHOLE)
        circle = np.zeros(len(low), dtype=bool)
        for j in range(len(low) - 1):
            free = not (whole[j] or whole[j + 1] or (j > 0 and circle[j - 1]))
            circle[j] = free and bool(_on_circle(vectors, j).all())
        return Extent(low, high, whole, circle)

    def joined(self, other: Extent) -> Extent:
        """Of both together."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        whole = self.whole & other.whole & (high - low < MOST_WHOLE)
        return Extent(low, high, whole, self.circle & other.circle)

    def holds(self, vectors: Array) -> bool:
        """Whether all of this is true of other observations, too; those a little outside count for the edge."""
        slack = np.where(self.whole, 0.0, SLACK * (self.high - self.low))
        slack[self.circle | np.roll(self.circle, 1)] = np.inf  # the last is never true
        inside = bool(((vectors >= self.low - slack) & (vectors <= self.high + slack)).all())
        whole = vectors[:, self.whole]
        return (
            inside
            and bool((whole == np.floor(whole)).all())
            and all(bool(_on_circle(vectors, j).all()) for j in np.flatnonzero(self.circle).tolist())
        )

    def describe(self) -> str:
        """What was recognised, in words."""
        angles, whole = int(self.circle.sum()), int(self.whole.sum())
        rest = len(self.low) - whole - 2 * angles
        parts = ((whole, "whole number"), (angles, "angle"), (rest, "real number"))
        return ", ".join(f"{count} {what}{'s' * (count > 1)}" for count, what in parts if count)


def _on_circle(vectors: Array, j: int) -> Mask:
    squares = vectors[:, j] * vectors[:, j] + vectors[:, j + 1] * vectors[:, j + 1]
    return np.asarray(np.abs(squares - 1.0) < ON_CIRCLE)


def lay_grid(extent: Extent, seen: Array) -> Grid:
    """A grid over observations of this extent. seen: those that are remembered, (n, dimension)."""
    first = [j for j in range(len(extent.low)) if not (j > 0 and extent.circle[j - 1])]
    second = [j + 1 if extent.circle[j] else -1 for j in first]
    spread = extent.whole & (extent.high - extent.low >= LOWEST_SIDE) & _crowded(extent, seen)
    between = int((spread | (extent.high > extent.low) & ~extent.whole)[first].sum())
    side = SIDES.get(between, LOWEST_SIDE)
    places = [_quantiles(extent, j, side, seen) if spread[j] else _places(extent, j, side) for j in first]
    sides = np.array([len(each) for each in places], dtype=np.int64)
    knots = np.zeros((len(first), int(sides.max())))
    for row, each in zip(knots, places, strict=True):
        row[: len(each)] = each
    return Grid(
        np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), sides, knots, code_steps(len(first)),
        between <= INTERPOLATED,
    )  # fmt: skip


def num_interpolated(grid: Grid, extent: Extent) -> float:
    """How many vertices a grid has along the numbers that are interpolated: Π_j sides[j], met or not."""
    table = extent.whole[grid.first] & (grid.sides == (extent.high - extent.low)[grid.first] + 1.0)
    return float(np.prod(grid.sides[~table], dtype=np.float64))


def _crowded(extent: Extent, seen: Array) -> bool:
    """Whether the whole numbers made so many different vectors that each would be seen too rarely."""
    numbers = (seen - extent.low)[:, extent.whole].astype(np.int64)
    codes = (numbers * code_steps(numbers.shape[1])).sum(axis=1)  # modulo 2⁶⁴
    return len(np.unique(codes)) > TABLE + TABLE_SHARE * len(seen)


def _quantiles(extent: Extent, j: int, side: int, seen: Array) -> Array:
    """The whole numbers between which about as many were seen, and the lowest and the highest."""
    inner = np.sort(seen[:, j])[(len(seen) - 1) * np.arange(side) // (side - 1)]
    return np.unique(np.concatenate([extent.low[j : j + 1], inner, extent.high[j : j + 1]]))


def _places(extent: Extent, j: int, side: int) -> Array:
    """Where vertices lie along one coordinate: at whole numbers, or evenly, in a row or around a circle."""
    low, high = extent.low[j], extent.high[j]
    if extent.whole[j]:
        return np.asarray(low + np.arange(int(high - low) + 1))
    if extent.circle[j]:
        return np.asarray(np.arange(side) * (2.0 * math.pi / side) - math.pi)
    if not high > low:
        return np.array([low])
    places = low + (high - low) * (np.arange(side) / (side - 1))
    places[-1] = high
    return np.asarray(places)
