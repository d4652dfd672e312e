"""The interface of feature maps for observation vectors, and how they scale observations by bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.array_types import Array
    from aapi.features.basis import Basis


Bounds = Sequence[float] | float | None
LARGEST = 1e30  # bounds beyond this count as none
MOST_FEATURES = 20_000  # a regression on more would take gigabytes


@runtime_checkable
class VectorFeatures(Protocol):
    """A feature map for observation vectors: compiled once for given bounds."""

    def basis(self, low: Bounds, high: Bounds) -> Basis:
        """The features of observations that lie between `low` and `high`."""


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
