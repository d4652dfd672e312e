"""Feature maps for observation vectors: compiled once, for the bounds by which they scale observations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput, TooLarge
from aapi.features.basis import FOURIER, RADIAL, TILES, Basis

if TYPE_CHECKING:
    from aapi.array_types import Array


Bounds = Sequence[float] | float | None
LARGEST = 1e30  # bounds beyond this count as none
MOST_FEATURES = 20_000  # a regression on more would take gigabytes


@runtime_checkable
class VectorFeatures(Protocol):
    """A feature map for observation vectors."""

    def basis(self, low: Bounds, high: Bounds) -> Basis:
        """These features for observations that lie between `low` and `high`, unless the features have their own."""


@dataclass(frozen=True)
class Grid:
    """A grid that the learner lays over what it observes, in place of features; for `OptimisticGrid`."""


@dataclass(frozen=True)
class Fourier:
    """cos(π c·s) for all c in {0 … order}ⁿ, and the n numbers of the observation themselves if `linear`.

    The Fourier basis (Konidaris, Osentoski and Thomas 2011), as in the paper's CartPole, where order 4 gives 625 + 4
    features for each action, 1258 in all. s is the observation scaled to [0, 1] by `low` and `high`, and clipped; by
    default the bounds are those that the problem gives.
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


@dataclass(frozen=True)
class Tiles:
    """Indicators of the cells of `tilings` grids, of `tiles` cells a side, over the scaled observation.

    Tile coding (Albus 1975): each grid is shifted by a different part of a cell. The shifts of coordinate j go in steps
    of 2j + 1 parts, which spreads them well (Miller and Glanz 1996). A shifted grid needs one more cell a side to cover
    everything.
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


@dataclass(frozen=True)
class Radial:
    """(2/n)^½ cos(ω·s + b), ω ~ N(0, I/width²) and b uniform, n of them: E ψ(s)ᵀψ(t) = exp(−‖s − t‖²/(2 width²)).

    Random Fourier features (Rahimi and Recht 2007), which approximate a Gaussian kernel in any dimension. s is the
    observation scaled to [0, 1]. The same seed gives the same features.
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


def scaling(low: Bounds, high: Bounds, own_low: Bounds, own_high: Bounds) -> tuple[Array, ...]:
    """The lower bounds and the widths: the features' own where they are given, else the problem's."""
    dimension = len(np.atleast_1d(np.asarray(low)))
    bottom = _vector(low if own_low is None else own_low, dimension, "low")
    top = _vector(high if own_high is None else own_high, dimension, "high")
    for j in range(dimension):
        if not (abs(bottom[j]) < LARGEST and abs(top[j]) < LARGEST):
            raise InvalidInput(
                f"observation[{j}] lies in [{bottom[j]:g}, {top[j]:g}], and features need finite bounds: "
                "give low and high (--low and --high on the command line)"
            )
        own = own_low is not None or own_high is not None
        if bottom[j] > top[j] or (own and bottom[j] == top[j]):
            raise InvalidInput(f"observation[{j}] has the bounds [{bottom[j]:g}, {top[j]:g}]: low must be below high")
    width = top - bottom
    return bottom, np.where(width > 0.0, width, 1.0)  # a constant observation needs no scale


def _vector(values: Bounds, dimension: int, what: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must be a number or {dimension} numbers, not {values!r}") from None
    if array.ndim > 1 or (array.ndim == 1 and len(array) != dimension):
        raise InvalidInput(f"{what} must be a number or {dimension} numbers, one for each of the observation's")
    if np.isnan(array).any():
        raise InvalidInput(f"{what} holds nan")
    return np.array(np.broadcast_to(array, (dimension,)))
