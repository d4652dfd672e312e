"""Two or four rooms with doors between them (Sutton, Precup and Singh 1999), without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least, finite
from aapi.environments.grid import grid_model
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


def rooms(size: int = 10, num_rooms: int = 2, slip: float = 0.1) -> FiniteMDP:
    """A size × size map with a wall down the middle, and across it if there are four rooms; each wall has a door.

    One starts in the upper left corner. The goal in the lower right corner pays 1 and leads back to the start. With
    probability `slip` a move goes in a direction drawn evenly.

    Communicating; λ_* = 1/(1 + the least expected number of steps to the goal).
    """
    at_least(5, size=size)
    finite(0.0, slip=slip)
    if num_rooms not in (2, 4) or slip >= 1.0:
        bad, value = ("num_rooms must be 2 or 4", num_rooms) if slip < 1.0 else ("slip must be below 1", slip)
        raise InvalidInput(f"{bad}, not {value}")
    middle, door = size // 2, size // 4
    cells = [["."] * size for _ in range(size)]
    for i in range(size):
        cells[i][middle] = "#"
        if num_rooms == 4:
            cells[middle][i] = "#"
    for i in (door, size - 1 - door) if num_rooms == 4 else (size - 1 - door,):
        cells[i][middle] = "."
        if num_rooms == 4:
            cells[middle][i] = "."
    cells[0][0], cells[-1][-1] = "S", "G"
    return grid_model(["".join(row) for row in cells], slip=slip)
