"""A maze whose door needs a key."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least, finite
from aapi.environments.grid import MOVES
from aapi.environments.tabulate import tabulate
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Place: TypeAlias = tuple[int, int, int]  # row and column, and whether one has the key


def key_maze(size: int = 8, slip: float = 0.1) -> FiniteMDP:
    """A size × size map with a wall down column size // 2. Its door, in the first row, opens to who has the key.

    One starts in the upper left corner, and the key lies in the lower left one. Every action in the lower right corner
    pays 1, and leads to the start without the key. With probability `slip` a move goes in a direction drawn evenly.

    Communicating; λ_* = 1/(4 · size − 3) if no move slips.
    """
    at_least(3, size=size)
    finite(0.0, slip=slip)
    if slip >= 1.0:
        raise InvalidInput(f"slip must be below 1, not {slip}")
    last, wall = size - 1, size // 2

    def landing(place: Place, step: tuple[int, int]) -> Place:
        row, column, key = min(max(place[0] + step[0], 0), last), min(max(place[1] + step[1], 0), last), place[2]
        if column == wall and not (row == 0 and key):
            return place
        return row, column, int(key or (row, column) == (last, 0))

    def outcomes(place: Place, action: int) -> Iterator[tuple[float, Place, float]]:
        if place == (last, last, 1):
            yield 1.0, (0, 0, 0), 1.0
            return
        for i, step in enumerate(MOVES.values()):
            chance = (1.0 - slip) * (i == action) + slip / len(MOVES)
            if chance:
                yield chance, landing(place, step), 0.0

    cells = [cell for cell in itertools.product(range(size), range(size)) if cell[1] != wall or cell[0] == 0]
    states = [(*cell, 0) for cell in cells if cell[1] < wall and cell != (last, 0)] + [(*cell, 1) for cell in cells]
    return tabulate(
        states, list(MOVES), outcomes, start=(0, 0, 0), coordinates=states,
        names=lambda x: f"({x[0]},{x[1]})" + (" with the key" if x[2] else ""),
    )  # fmt: skip
