"""A grid over observation vectors, and the weights by which a point lies between its vertices.

A point lies in one simplex of the Kuhn triangulation of its cell: with its coordinates sorted by how far they are into
the cell, as many vertices as there are coordinates, and one more, have weights that are linear in the point. Functions
of vertices are so interpolated, and linear ones reproduced. Vertices are known by a code, the same for the same place,
and numbered when they are first met: a grid takes room for what was seen of it, in any dimension.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.kernels.elementary import angle
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers


INTERPOLATED = 8  # coordinates that are not whole; with more, a point counts for the nearest vertex alone
CORNERS = INTERPOLATED + 1  # the vertices of a simplex, at the most
ELSEWHERE = 0  # the number that all vertices share that were never met
LOWEST_SIDE = 3
SIDES = {1: 50, 2: 25, 3: 13, 4: 8, 5: 6, 6: 5, 7: 4}  # vertices a side, by how many coordinates are not whole
MOST_WHOLE = 64  # values of a coordinate that takes whole numbers


class Grid(NamedTuple):
    """Coordinates of observations, and where the vertices lie along each of them.

    first, second: coordinate j is observation[first[j]], or, if second[j] ≥ 0, the angle at which that and
    observation[second[j]] lie on the unit circle. knots: the places of vertices along each coordinate, (coordinates,
    most), of which sides[j] count. A vertex of whole numbers `i` has the code Σ_j i_j · steps[j], modulo 2⁶⁴.
    interpolate: else a point counts for the nearest vertex alone.
    """

    first: Integers
    second: Integers
    sides: Integers
    knots: Array
    steps: Integers
    interpolate: bool


def code_steps(dimension: int) -> Integers:
    """An odd number of 64 bits for each coordinate, from the sequence of SplitMix64 (Steele et al. 2014)."""
    steps, seed, mask = [], 0, (1 << 64) - 1
    for _ in range(dimension):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        steps.append((mixed ^ (mixed >> 31)) | 1)
    return np.array(steps, dtype=np.uint64).view(np.int64)


@kernel
def read_point(grid: Any, observation: Any, point: Any) -> None:
    """The coordinates of an observation."""
    for j in range(grid.first.size):
        x = observation[grid.first[j]]
        point[j] = x if grid.second[j] < 0 else angle(x, observation[grid.second[j]])


@kernel
def _place(grid: Any, j: Any, x: Any) -> Any:
    """Where along the knots of coordinate j a number lies: a whole number for the one below, and a part of the next."""
    side, knots = grid.sides[j], grid.knots[j]
    if grid.second[j] >= 0:
        place = (x + math.pi) * (side / (2.0 * math.pi))
        place -= side * math.floor(place / side)
        whole = min(int(place), side - 1)
        return whole, place - whole
    if side == 1 or not x > knots[0]:
        return 0, 0.0
    if x >= knots[side - 1]:
        return side - 1, 0.0
    below, above = 0, side - 1
    while above - below > 1:
        middle = (below + above) // 2
        if knots[middle] <= x:
            below = middle
        else:
            above = middle
    return below, (x - knots[below]) / (knots[above] - knots[below])


@kernel
def find_simplex(grid: Any, point: Any, codes: Any, weights: Any, corners: Any, order: Any, parts: Any) -> Any:
    """The codes, weights and places of the vertices around a point; returns how many there are.

    codes, weights: (CORNERS,); corners: (CORNERS, coordinates). order, parts: room.
    """
    between = 0  # coordinates that lie between two vertices, sorted by how far
    code = np.int64(0)
    for j in range(point.size):
        whole, part = _place(grid, j, point[j])
        if not grid.interpolate and part > 0.0:
            whole, part = (whole + 1) % grid.sides[j] if part >= 0.5 else whole, 0.0
        code += np.int64(whole) * grid.steps[j]
        corners[0, j] = grid.knots[j, whole]
        if part > 0.0:
            k = between
            while k > 0 and part > parts[k - 1]:
                order[k], parts[k] = order[k - 1], parts[k - 1]
                k -= 1
            order[k], parts[k] = j * grid.knots.shape[1] + whole, part
            between += 1
    codes[0], weights[0] = code, 1.0
    for k in range(between):
        j, whole = order[k] // grid.knots.shape[1], order[k] % grid.knots.shape[1]
        after = whole + 1 if whole + 1 < grid.sides[j] else 0  # which only an angle reaches
        corners[k + 1] = corners[k]
        corners[k + 1, j] = grid.knots[j, after]
        codes[k + 1] = codes[k] + np.int64(after - whole) * grid.steps[j]
        weights[k] -= parts[k]
        weights[k + 1] = parts[k]
    return between + 1


@kernel
def find_number(slots: Any, numbers: Any, code: Any) -> Any:
    """Where in a table of 2^n slots a code is, or would be; slots with the number ELSEWHERE are free."""
    mask = slots.size - 1
    mixed = code ^ (code >> 29)
    slot = int(mixed & mask)
    while numbers[slot] != ELSEWHERE and slots[slot] != code:
        slot = (slot + 1) & mask
    return slot
