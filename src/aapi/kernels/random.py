"""Random streams: one xoshiro256++ generator per run (Blackman and Vigna 2021), derived from (seed, run)."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least
from aapi.kernels.elementary import exp, log
from aapi.kernels.jit import kernel, step_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


_11, _17, _23, _41, _45, _19, _255 = (np.uint64(n) for n in (11, 17, 23, 41, 45, 19, 255))
UNIT = 2.0**-53
# The bell is covered by 256 layers of the same area, the lowest with a tail beyond x = TAIL.
TAIL, AREA = 3.6541528853610088, 0.004928673233974655


def _ziggurat() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of each layer, from the bottom: its width, the part of it below the whole layer above, e^(−width²/2).

    The lowest is as wide as if its tail were part of a rectangle. Decimal numbers have the same digits everywhere.
    """

    def bell(x: Decimal) -> Decimal:
        return (-x * x / 2).exp()

    tail, area = Decimal(TAIL), Decimal(AREA)
    edges = [area / bell(tail), tail]
    while len(edges) < 256:
        edges.append((-2 * (area / edges[-1] + bell(edges[-1])).ln()).sqrt())
    edges.append(Decimal(0))
    widths = np.array(edges, dtype=np.float64)
    return widths, widths[1:] / widths[:-1], np.array([bell(x) for x in edges], dtype=np.float64)


EDGES, INNER, HEIGHTS = _ziggurat()


def streams(seed: int, runs: Iterable[int]) -> NDArray[np.uint64]:
    """The initial states of the streams of `runs`, of shape (runs, 4). A run's stream depends on nothing else."""
    at_least(0, seed=seed)
    states = [np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(4, np.uint64) for run in runs]
    return np.array(states, dtype=np.uint64).reshape(-1, 4)


@step_kernel
def advance(s0: Any, s1: Any, s2: Any, s3: Any) -> Any:
    """One step of a stream: its new state, and 64 random bits."""
    mixed = s0 + s3
    bits = ((mixed << _23) | (mixed >> _41)) + s0
    shifted = s1 << _17
    s2 = s2 ^ s0
    s3 = s3 ^ s1
    s1 = s1 ^ s2
    s0 = s0 ^ s3
    s2 = s2 ^ shifted
    s3 = (s3 << _45) | (s3 >> _19)
    return s0, s1, s2, s3, bits


@step_kernel
def to_unit(bits: Any) -> Any:
    """64 random bits as a uniform number in [0, 1)."""
    return float(bits >> _11) * UNIT


@step_kernel
def draw(stream: Any) -> Any:
    """A uniform number in [0, 1) from the stream that an array of four holds, which moves on."""
    s0, s1, s2, s3, bits = advance(stream[0], stream[1], stream[2], stream[3])
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
    return to_unit(bits)


@step_kernel
def fill_normal(stream: Any, out: Any) -> None:
    """Fill the vector `out` with standard normal numbers."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(out.size):
        s0, s1, s2, s3, out[i] = next_normal(s0, s1, s2, s3, stream)
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3


@step_kernel
def next_normal(s0: Any, s1: Any, s2: Any, s3: Any, room: Any) -> Any:
    """A stream after it, and a standard normal number, by the ziggurat of Marsaglia and Tsang (2000).

    The area below the bell is covered by layers of the same area. In one that is chosen at random, a random place is
    mostly below the bell for sure, and no logarithm or root is needed. Layer and place use different bits.
    room: for a stream, such as the array that this one is from.
    """
    while True:
        s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
        layer = int(bits & _255)
        place = 2.0 * to_unit(bits) - 1.0
        x = place * EDGES[layer]
        if abs(place) < INNER[layer]:
            return s0, s1, s2, s3, x
        room[0], room[1], room[2], room[3] = s0, s1, s2, s3
        settled, x = _at_the_edge(room, layer, x)
        s0, s1, s2, s3 = room[0], room[1], room[2], room[3]
        if settled:
            return s0, s1, s2, s3, x


@step_kernel
def _at_the_edge(stream: Any, layer: Any, x: Any) -> Any:
    """Whether x, at the edge of a layer, is below the bell, and x; in the lowest layer, a number from the tail."""
    if layer > 0:
        height = HEIGHTS[layer] + draw(stream) * (HEIGHTS[layer + 1] - HEIGHTS[layer])
        return height < exp(-0.5 * x * x), x
    beyond, limit = 0.0, -1.0
    while beyond * beyond > limit:
        beyond = -log(1.0 - draw(stream)) / TAIL
        limit = -2.0 * log(1.0 - draw(stream))
    return True, math.copysign(TAIL + beyond, x)


@kernel
def sample_without_replacement(stream: Any, population: Any, out: Any) -> None:
    """Fill `out` with distinct numbers from 0 … population − 1, drawn uniformly (Floyd 1987)."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(out.size):
        top = population - out.size + i
        s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
        drawn = min(int(to_unit(bits) * (top + 1)), top)
        for j in range(i):
            if out[j] == drawn:
                drawn = top
                break
        out[i] = drawn
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
