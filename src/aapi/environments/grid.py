"""Problems on a map: walls, a goal, traps, wind, and moves that may go astray."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.mdp import FiniteMDP

Cell: TypeAlias = tuple[int, int]

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
KINGS_MOVES = MOVES | {"up right": (-1, 1), "down right": (1, 1), "down left": (1, -1), "up left": (-1, -1)}
TRAP_REWARD = 0.01


def grid_model(
    layout: Sequence[str], *, slip: float = 0.0, hold: float = 0.0, wind: Sequence[int] = (), kings: bool = False
) -> FiniteMDP:
    """A model on a map of text: `#` a wall, `S` the start, `G` the goal, `T` a trap, anything else a free cell.

    A move against a wall, or off the map, does not happen. Every action in the goal pays 1 and leads to the start. A
    trap pays .01, and holds with probability `hold` whatever one does. slip: the probability that a move is one drawn
    evenly from all. wind: how many cells each column blows upwards, besides the move. kings: whether diagonal moves
    are allowed.
    """
    moves = KINGS_MOVES if kings else MOVES
    cells = {(r, c): mark for r, line in enumerate(layout) for c, mark in enumerate(line) if mark != "#"}
    (start,) = (cell for cell, mark in cells.items() if mark == "S")

    def landing(cell: Cell, step: Cell) -> Cell:
        row = cell[0] + step[0] - (wind[cell[1]] if wind else 0)
        target = min(max(row, 0), len(layout) - 1), min(max(cell[1] + step[1], 0), len(layout[0]) - 1)
        return target if target in cells else cell

    def outcomes(cell: Cell, action: int) -> Iterator[tuple[float, Cell, float]]:
        if cells[cell] == "G":
            yield 1.0, start, 1.0
            return
        held, reward = (hold, TRAP_REWARD) if cells[cell] == "T" else (0.0, 0.0)
        if held:
            yield held, cell, reward
        for i, step in enumerate(moves.values()):
            chance = (1.0 - held) * ((1.0 - slip) * (i == action) + slip / len(moves))
            if chance:
                yield chance, landing(cell, step), reward

    return tabulate(
        list(cells), list(moves), outcomes, start=start, names=lambda cell: f"({cell[0]},{cell[1]})",
        coordinates=list(cells),
    )  # fmt: skip
