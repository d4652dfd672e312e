"""A taxi that never stops (C-suite, Zhao et al. 2022; Dietterich 2000)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Ride: TypeAlias = tuple[int, int, int, int]  # row, column, where the passenger is, where to

SIZE = 5
RANKS = ((0, 0), (0, 4), (4, 0), (4, 3))
NAMES = ("red", "green", "yellow", "blue", "the taxi")
RIDING = len(RANKS)  # in place of a rank: in the taxi
MOVES = ((-1, 0), (0, -1), (1, 0), (0, 1))
ACTIONS = ("up", "left", "down", "right", "pick up", "drop off")
PICK_UP, DROP_OFF = 4, 5
WALLS = frozenset({(0, 1), (1, 1), (3, 0), (4, 0), (3, 2), (4, 2)})  # on the right of these cells
FARE, OUT_OF_PLACE = 20.0, -10.0


def continuing_taxi() -> FiniteMDP:
    """Drive passengers from one rank to another: 20 for a drop-off where one wants to go, −10 for any other action out
    of place, and nothing for a move.

    When a passenger gets off, the taxi stays where it is, and the next one waits at a rank drawn evenly, for a rank
    drawn evenly, perhaps the same. The map is that of Gymnasium's Taxi, of which `taxi` is the model; there a step
    costs 1, a ride begins with the taxi anywhere, and nobody wants to go where they are. The environment aapi/Taxi-v0
    begins anywhere, the model in the middle.

    λ_* = 20 / (2 + 2 d), where d is the mean way between two ranks drawn evenly. Communicating, not unichain.
    """

    def outcomes(ride: Ride, action: int) -> Iterator[tuple[float, Ride, float]]:
        row, column, passenger, home = ride
        if action < len(MOVES):
            yield 1.0, (*moved(row, column, action), passenger, home), 0.0
        elif action == PICK_UP and passenger != RIDING and RANKS[passenger] == (row, column):
            yield 1.0, (row, column, RIDING, home), 0.0
        elif action == DROP_OFF and passenger == RIDING and RANKS[home] == (row, column):
            for waiting, to in itertools.product(range(len(RANKS)), repeat=2):
                yield 1.0 / len(RANKS) ** 2, (row, column, waiting, to), FARE
        else:
            yield 1.0, ride, OUT_OF_PLACE

    rides: list[Ride] = list(
        itertools.product(range(SIZE), range(SIZE), range(len(RANKS) + 1), range(len(RANKS)))
    )  # fmt: skip
    return tabulate(
        rides, ACTIONS, outcomes, start=(SIZE // 2, SIZE // 2, 0, 1),
        names=lambda ride: f"({ride[0]},{ride[1]}) from {NAMES[ride[2]]} to {NAMES[ride[3]]}",
    )  # fmt: skip


def moved(row: int, column: int, action: int) -> tuple[int, int]:
    """Where a move leads: nowhere, against a wall or the border."""
    down, right = MOVES[action]
    edge = (row, min(column, column + right))
    if right and edge in WALLS:
        return row, column
    return min(max(row + down, 0), SIZE - 1), min(max(column + right, 0), SIZE - 1)
