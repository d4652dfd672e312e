"""Observations of Gymnasium spaces as numbers: a vector for features and, for discrete spaces, the index of a state."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymnasium import spaces

from aapi.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from aapi.gymnasium_types import Observation, Space


Action: TypeAlias = Any  # a number or an array, as the action space of the environment says
Info: TypeAlias = dict[str, Any]  # what reset() and step() return besides; also the options of reset()
Encoder: TypeAlias = "Callable[[Observation], Any]"  # from an observation to a state: an index or a vector
Reader: TypeAlias = "Callable[[Observation], Iterable[Any]]"  # from an observation to its numbers, in order

MOST_STATES = 10_000_000


@dataclass(frozen=True, eq=False)
class Observations:
    """The numbers of an observation: the bounds of each, and how many values it has if it is discrete."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]  # 0 where a number is continuous
    read: Reader

    def vector(self, observation: Observation) -> NDArray[np.float64]:
        """The observation as a vector, a copy: environments may reuse their array."""
        return check_vector(np.array(self.read(observation), dtype=np.float64), len(self.low))

    def state(self, observation: Observation) -> int:
        """The index of the observation, 0 … num_states − 1."""
        state = 0
        for value, low, count in zip(self.read(observation), self.low, self.counts, strict=True):
            place = operator.index(value) - int(low)
            if not 0 <= place < count:
                raise InvalidInput(f"the observation {observation} is not in its space")
            state = state * count + place
        return state

    @property
    def num_states(self) -> int:
        """How many states there are; an error if the space is continuous, or too large for a table."""
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
    """The vector, or an error if it does not have `dimension` numbers."""
    if vector.shape != (dimension,):
        raise InvalidInput(f"an observation has {dimension} numbers, not the shape {vector.shape}")
    return vector


def observations_of(space: Space) -> Observations:
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


def _leaves(space: Space) -> list[Space]:
    """The spaces that a Dict or a Tuple is made of, or the space itself."""
    if isinstance(space, spaces.Dict):
        return [leaf for part in space.values() for leaf in _leaves(part)]
    if isinstance(space, spaces.Tuple):
        return [leaf for part in space for leaf in _leaves(part)]
    return [space]


def _reader(space: Space) -> Reader:
    """A function from an observation to its numbers, fast in the common cases."""
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
