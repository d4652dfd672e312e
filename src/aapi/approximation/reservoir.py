"""Which past differences the sampled learning rate sees: bounded memory, and in each phase a fresh sample.

Of the differences 1 … k a reservoir keeps the first and a uniform choice of the others (Waterman; Knuth 1981): all
of them as long as they fit. A sample drawn from it is distributed as one drawn from all k.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw, sample_without_replacement

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Streams


ROOM = 10  # a reservoir holds so many times what a sample takes


def reservoir_size(num_sampled: int, num_phases: int | None) -> int:
    """How many differences are kept to draw `num_sampled` from."""
    size = max(2, ROOM * num_sampled)
    return size if num_phases is None else min(size, num_phases)


def sample_size(phase: int, num_sampled: int, size: int) -> int:
    """n_k; an error if the reservoir was made for fewer."""
    count = min(phase, num_sampled)
    if count > size:
        raise InvalidInput(f"a learning rate that samples {num_sampled} differences must say so: num_sampled")
    return count


def place_in_reservoir(phase: int, size: int, streams: Streams) -> Integers:
    """For each run, the place that the difference of `phase`, counted from 1, takes; −1 if none."""
    if phase <= size:
        return np.full(len(streams), phase - 1)
    places = np.empty(len(streams), dtype=np.int64)
    _place(phase, size, streams, places)
    return places


def draw_sample(phase: int, size: int, count: int, keep_first: bool, streams: Streams) -> Integers:
    """For each run the places, (runs, count), of `count` differences out of 1 … `phase`, the first surely if wished."""
    if count == phase:
        return np.tile(np.arange(count), (len(streams), 1))
    sample = np.empty((len(streams), count), dtype=np.int64)
    _sample(phase, size, keep_first, streams, sample)
    return sample


def sample_scales(phase: int, count: int, keep_first: bool) -> Array:
    """By what to multiply the differences of a sample so that the sum of squares estimates that of all, (count,)."""
    if not keep_first:
        return np.full(count, math.sqrt(phase / count))
    scales = np.full(count, math.sqrt((phase - 1) / (count - 1)) if count > 1 else 1.0)
    scales[0] = 1.0
    return scales


@kernel
def _place(phase: Any, size: Any, streams: Any, places: Any) -> None:
    for run in range(places.size):
        place = 1 + int(draw(streams[run]) * (phase - 1))
        places[run] = place if place < size else -1


@kernel
def _sample(phase: Any, size: Any, keep_first: Any, streams: Any, sample: Any) -> None:
    num_runs, count = sample.shape
    for run in range(num_runs):
        if not keep_first and phase <= size:
            sample_without_replacement(streams[run], phase, sample[run])
            continue
        with_first = keep_first or draw(streams[run]) * phase < count
        others = sample[run, 1:] if with_first else sample[run, 0:]
        sample_without_replacement(streams[run], min(phase, size) - 1, others)
        for i in range(others.size):
            others[i] += 1
        if with_first:
            sample[run, 0] = 0


@kernel
def root_of_squares(sizes: Any) -> Any:
    """(Σ size²)^½ of numbers that are not negative, without squares that over- or underflow."""
    largest = 0.0
    for i in range(sizes.size):
        largest = max(largest, sizes[i])
    if not largest > 0.0:
        return 0.0
    total = 0.0
    for i in range(sizes.size):
        ratio = sizes[i] / largest
        total += ratio * ratio
    return largest * math.sqrt(total)
