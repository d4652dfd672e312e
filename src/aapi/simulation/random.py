"""Random streams: one xoshiro256++ generator per run (Blackman and Vigna 2021), derived from (seed, run)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["advance", "draw", "fill_normal", "sample_without_replacement", "streams", "to_unit"]

_11, _17, _23, _41, _45, _19 = (np.uint64(n) for n in (11, 17, 23, 41, 45, 19))
UNIT = 2.0**-53
TWO_PI = 2.0 * math.pi


def streams(seed: int, runs: Iterable[int]) -> NDArray[np.uint64]:
    """The initial states of the streams of `runs`, of shape (runs, 4). A run's stream depends on nothing else."""
    at_least(0, seed=seed)
    states = [np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(4, np.uint64) for run in runs]
    return np.array(states, dtype=np.uint64).reshape(-1, 4)


@kernel
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


@kernel
def to_unit(bits: Any) -> Any:
    """64 random bits as a uniform number in [0, 1)."""
    return float(bits >> _11) * UNIT


@kernel
def draw(stream: Any) -> Any:
    """A uniform number in [0, 1) from the stream that an array of four holds, which moves on."""
    s0, s1, s2, s3, bits = advance(stream[0], stream[1], stream[2], stream[3])
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
    return to_unit(bits)


@kernel
def fill_normal(stream: Any, out: Any) -> None:
    """Fill the vector `out` with standard normal numbers (Box and Muller 1958)."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(0, out.size, 2):
        s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
        radius = math.sqrt(-2.0 * math.log(1.0 - to_unit(bits)))
        s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
        angle = TWO_PI * to_unit(bits)
        out[i] = radius * math.cos(angle)
        if i + 1 < out.size:
            out[i + 1] = radius * math.sin(angle)
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3


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
