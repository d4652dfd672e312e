"""Observations of Gymnasium spaces as numbers: a vector for features, and where they are countable, a state."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from aapi.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Encoder = Callable[[Any], Any]  # from an observation to a state, a number or a vector

__all__ = ["Observations", "check_vector", "observations_of"]

MOST_STATES = 10_000_000


@dataclass(frozen=True, eq=False)
class Observations:
    """What is known of a space: bounds of each number of the vector, and how many values it has if it is countable."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]  # 0 where a number is continuous
    read: Callable[[Any], Any]  # an observation's numbers, in order

    def vector(self, observation: Any) -> NDArray[np.float64]:
        """The observation as a vector, a copy: environments may use their array again."""
        return check_vector(np.array(self.read(observation), dtype=np.float64), len(self.low))

    def state(self, observation: Any) -> int:
        """The observation as a state, 0 … num_states − 1."""
        state = 0
        for value, low, count in zip(self.read(observation), self.low, self.counts, strict=True):
            place = operator.index(value) - int(low)
            if not 0 <= place < count:
                raise InvalidInput(f"the observation {observation} is not in its space")
            state = state * count + place
        return state

    @property
    def num_states(self) -> int:
        """How many states there are; an error if the space is not countable, or too large for a table."""
        if not all(self.counts):
            raise InvalidInput(
                f"one-hot features need countable observations, and observation[{self.counts.index(0)}] is continuous: "
                "take fourier, tiles or radial features"
            )
        if math.prod(self.counts) > MOST_STATES:
            digits = sum(map(math.log10, self.counts))
            raise TooLarge(f"about 10^{digits:.0f} states are too many for one-hot features: take tiles or radial")
        return math.prod(self.counts)


def check_vector(vector: NDArray[np.float64], dimension: int) -> NDArray[np.float64]:
    """The vector, if it has so many numbers; or an error."""
    if vector.shape != (dimension,):
        raise InvalidInput(f"an observation has {dimension} numbers, not the shape {vector.shape}")
    return vector


def observations_of(space: spaces.Space[Any]) -> Observations:
    """How to read the observations of a space."""
    low: list[float] = []
    high: list[float] = []
    counts: list[int] = []
    for leaf in _leaves(space):
        if isinstance(leaf, spaces.Discrete):
            bounds = [(float(leaf.start), float(leaf.start + leaf.n - 1), int(leaf.n))]
        elif isinstance(leaf, spaces.MultiDiscrete):
            pairs = zip(np.ravel(leaf.start), np.ravel(leaf.nvec), strict=True)
            bounds = [(float(start), float(start + n - 1), int(n)) for start, n in pairs]
        elif isinstance(leaf, spaces.MultiBinary):
            bounds = [(0.0, 1.0, 2)] * math.prod(leaf.shape)
        elif isinstance(leaf, spaces.Box):
            bounds = [(float(a), float(b), 0) for a, b in zip(np.ravel(leaf.low), np.ravel(leaf.high), strict=True)]
        else:
            raise InvalidInput(
                f"observations of {leaf} are not supported: they may be Box, Discrete, MultiDiscrete or MultiBinary, "
                "or a Tuple or Dict of these"
            )
        for a, b, count in bounds:
            low.append(a)
            high.append(b)
            counts.append(count)
    return Observations(tuple(low), tuple(high), tuple(counts), _reader(space))


def _leaves(space: spaces.Space[Any]) -> list[spaces.Space[Any]]:
    if isinstance(space, spaces.Dict):
        return [leaf for part in space.values() for leaf in _leaves(part)]
    if isinstance(space, spaces.Tuple):
        return [leaf for part in space for leaf in _leaves(part)]
    return [space]


def _reader(space: spaces.Space[Any]) -> Callable[[Any], Any]:
    """A function from an observation to its numbers; the common cases do nothing that they need not."""
    if isinstance(space, spaces.Discrete):
        return lambda observation: (observation,)
    if isinstance(space, spaces.Dict):
        parts = [(key, _reader(part)) for key, part in space.items()]
        return lambda observation: [number for key, read in parts for number in read(observation[key])]
    if isinstance(space, spaces.Tuple):
        readers = [_reader(part) for part in space]
        return lambda observation: [
            number for value, read in zip(observation, readers, strict=True) for number in read(value)
        ]
    if len(space.shape or ()) == 1:
        return lambda observation: observation
    return np.ravel
