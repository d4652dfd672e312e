"""Observations of Gymnasium spaces as numbers: a vector for features and, for discrete spaces, the index of a state."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate

from aapi.errors import InvalidInput, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from aapi.array_types import AnyArray, Array, Integers
    from aapi.gymnasium_types import Observation, Space


Encoder: TypeAlias = "Callable[[Observation], Any]"  # from an observation to a state: an index or a vector
Reader: TypeAlias = "Callable[[Observation], Iterable[Any]]"  # from an observation to its numbers, in order
Writer: TypeAlias = "Callable[[Iterator[Any]], Observation]"  # and back

MOST_STATES = 10_000_000
SMALL_BOX = 10_000  # states up to which a box of whole numbers is a table by default


@dataclass(frozen=True, eq=False)
class Observations:
    """The numbers of an observation: the bounds of each, and how many values it has if it is discrete.

    scalar: whether an observation is one whole number. flat: whether it is its own vector. boxed: whether some of its
    numbers come from a Box.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]  # 0 where a number is continuous
    read: Reader
    write: Writer
    scalar: bool = False
    flat: bool = False
    boxed: bool = False

    @property
    def fits_table(self) -> bool:
        """Whether a table is the thing for it: it is countable, and not too large; if it is a box, small."""
        return all(self.counts) and math.prod(self.counts) <= (SMALL_BOX if self.boxed else MOST_STATES)

    @property
    def to_vector(self) -> Encoder:
        """`vector`, as fast as can be where observations are vectors."""
        if not self.flat:
            return self.vector
        array, kind, dimension = np.array, np.float64, len(self.low)
        shape = (dimension,)

        def encode(observation: Observation) -> Array:
            vector = array(observation, kind)
            return vector if vector.shape == shape else check_vector(vector, dimension)

        return encode

    @property
    def to_state(self) -> Encoder:
        """`state`, as fast as can be where observations are whole numbers."""
        if not self.scalar:
            return self.state
        index, low, count, state = operator.index, int(self.low[0]), self.counts[0], self.state

        def encode(observation: Observation) -> int:
            place = index(observation) - low
            return place if 0 <= place < count else state(observation)

        return encode

    def vector(self, observation: Observation) -> Array:
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

    def observation(self, state: Any) -> Observation:
        """The observation that a vector or the index of a state stands for."""
        if np.ndim(state):
            return self.write(iter(state.tolist()))
        numbers, left = [], int(state)
        for low, count in zip(reversed(self.low), reversed(self.counts), strict=True):
            left, place = divmod(left, count)
            numbers.append(int(low) + place)
        return self.write(reversed(numbers))

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


class Batches:
    """Observations of a space, several at once: each part has one axis more."""

    def __init__(self, space: Space, observations: Observations) -> None:
        self.space, self.numbers = space, observations
        self._axes = None if isinstance(space, spaces.Dict | spaces.Tuple) else len(space.shape or ())

    def read(self, observation: Observation) -> Batch | None:
        """A batch, or None if this is one observation, or nothing of the kind."""
        if self._axes is None:
            leaves = [*_leaves(self.space, observation)]
            if not leaves or not all(np.ndim(leaf) == len(part.shape or ()) + 1 for part, leaf in leaves):
                return None
            return self._checked(observation, [np.asarray(leaf) for _, leaf in leaves])
        if isinstance(observation, int | float | np.number):
            return None
        axes = observation.ndim if isinstance(observation, np.ndarray) else np.ndim(observation)
        return self._checked(observation, [np.asarray(observation)]) if axes == self._axes + 1 else None

    def _checked(self, observation: Observation, leaves: list[AnyArray]) -> Batch:
        parts = [part for part, _ in _leaves(self.space, observation)]
        number = len(leaves[0])
        for part, leaf in zip(parts, leaves, strict=True):
            if leaf.shape != (number, *(part.shape or ())) or leaf.dtype.kind not in "biuf":
                raise InvalidInput(
                    f"a batch of {number} observations has numbers of shape {(number, *(part.shape or ()))} here, not "
                    f"{leaf.dtype} of shape {leaf.shape}"
                )
        return Batch(number, observation, leaves)

    def states(self, batch: Batch) -> Integers:
        """The indices of its observations, (n,)."""
        states = np.zeros(batch.number, dtype=np.int64)
        columns = (column for leaf in batch.leaves for column in _rows(leaf).T)
        for column, low, count in zip(columns, self.numbers.low, self.numbers.counts, strict=True):
            if column.dtype.kind == "f":
                raise InvalidInput("observations of this space are whole numbers, and the batch is of floats")
            places = column.astype(np.int64) - int(low)
            if len(places) and not (places.min() >= 0 and places.max() < count):
                wrong = int(np.flatnonzero((places < 0) | (places >= count))[0])
                raise InvalidInput(f"observation {wrong} of the batch is not in its space")
            states = states * count + places
        return states

    def vectors(self, batch: Batch) -> Array:
        """Its observations as vectors, (n, dimension)."""
        columns = [_rows(leaf).astype(np.float64) for leaf in batch.leaves]
        vectors = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        if not np.isfinite(vectors).all():
            wrong = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise InvalidInput(f"observation {wrong} of the batch holds a number that is not finite")
        return vectors

    def split(self, batch: Batch) -> Iterable[Observation]:
        """Its observations, one by one."""
        if not isinstance(self.space, spaces.Dict | spaces.Tuple):
            return iter(batch.leaves[0])
        return iterate(batch_space(self.space, batch.number), batch.observation)


class Batch(NamedTuple):
    """So many observations, as given, and their arrays, in order."""

    number: int
    observation: Observation
    leaves: list[AnyArray]


def _rows(leaf: AnyArray) -> AnyArray:
    """A row of numbers for each observation."""
    return leaf.reshape(len(leaf), math.prod(leaf.shape[1:]))


def _leaves(space: Space, observation: Observation) -> Iterator[tuple[Space, Any]]:
    """The parts of a space that hold numbers, and what an observation has for them; none if it has not all."""
    if not isinstance(space, spaces.Dict | spaces.Tuple):
        yield space, observation
        return
    if not isinstance(observation, Mapping if isinstance(space, spaces.Dict) else Sequence):
        return
    for key, part in _parts(space):
        yield from _leaves(part, observation[key])


def check_vector(vector: Array, dimension: int) -> Array:
    """The vector, or an error if it does not have `dimension` numbers."""
    if vector.shape != (dimension,):
        raise InvalidInput(f"an observation has {dimension} numbers, not the shape {vector.shape}")
    return vector


def observations_of(space: Space) -> Observations:
    """How to read the observations of a space."""
    numbers = _numbers(space)
    low, high = (tuple(number[i] for number in numbers) for i in (0, 1))
    counts, flat = tuple(count for _, _, count in numbers), isinstance(space, spaces.Box) and len(space.shape) == 1
    scalar = isinstance(space, spaces.Discrete)
    return Observations(low, high, counts, _reader(space), _writer(space), scalar, flat, _is_boxed(space))


def _numbers(space: Space) -> list[tuple[float, float, int]]:
    """The lower bound, the upper bound and the count of each number of an observation."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return [number for _, part in _parts(space) for number in _numbers(part)]
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        sizes = space.n if isinstance(space, spaces.Discrete) else space.nvec
        pairs = zip(np.ravel(space.start), np.ravel(sizes), strict=True)
        return [(float(start), float(start + n - 1), int(n)) for start, n in pairs]
    if isinstance(space, spaces.MultiBinary):
        return [(0.0, 1.0, 2)] * math.prod(space.shape)
    if isinstance(space, spaces.Box):
        whole = np.issubdtype(space.dtype, np.integer)
        bounds = zip(np.ravel(space.low), np.ravel(space.high), strict=True)
        return [(float(a), float(b), int(b) - int(a) + 1 if whole else 0) for a, b in bounds]
    raise InvalidInput(
        f"observations of {space} are not supported: they may be Box, Discrete, MultiDiscrete or MultiBinary, "
        "or a Tuple or Dict of these"
    )


def _is_boxed(space: Space) -> bool:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return any(_is_boxed(part) for _, part in _parts(space))
    return isinstance(space, spaces.Box)


def _parts(space: spaces.Dict | spaces.Tuple[Any]) -> Iterable[tuple[Any, Space]]:
    """The parts of a space, by what an observation has them under."""
    return space.items() if isinstance(space, spaces.Dict) else enumerate(space)


def _reader(space: Space) -> Reader:
    """A function from an observation to its numbers, fast in the common cases."""
    if isinstance(space, spaces.Discrete):
        return lambda observation: (observation,)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = [(key, _reader(part)) for key, part in _parts(space)]
        return lambda observation: [number for key, read in parts for number in read(observation[key])]
    if len(space.shape or ()) == 1:
        return lambda observation: observation
    return np.ravel


def _writer(space: Space) -> Writer:
    """A function from numbers, as the reader gives them, to an observation."""
    if isinstance(space, spaces.Discrete):
        return lambda numbers: int(next(numbers))
    if isinstance(space, spaces.Tuple):
        members = [_writer(part) for _, part in _parts(space)]
        return lambda numbers: tuple(write(numbers) for write in members)
    if isinstance(space, spaces.Dict):
        parts = [(key, _writer(part)) for key, part in _parts(space)]
        return lambda numbers: {key: write(numbers) for key, write in parts}
    shape, kind = space.shape or (), space.dtype
    size = math.prod(shape)
    return lambda numbers: np.array([*itertools.islice(numbers, size)], dtype=kind).reshape(shape)
