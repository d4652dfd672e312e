"""Pig, the dice game (Neller and Presser 2004), for points a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

ROLLS = 6  # a turn holds no more points than so many best rolls


def pig(sides: int = 6) -> FiniteMDP:
    """Roll a die, whose points add up, but a 1 loses them all; or hold, and be paid the points of this turn.

    Either takes a step, and a turn without points follows on a 1 and on holding. A turn has 6 · sides points at most:
    what comes on top is not counted.

    Communicating. The best policy holds from some number of points on.
    """
    at_least(3, sides=sides)
    most = ROLLS * sides

    def outcomes(points: int, action: int) -> Iterator[tuple[float, int, float]]:
        if action == 1:
            yield 1.0, 0, float(points)
            return
        for pips in range(1, sides + 1):
            yield 1.0 / sides, 0 if pips == 1 else min(points + pips, most), 0.0

    return tabulate([0, *range(2, most + 1)], ["roll", "hold"], outcomes, start=0, names=lambda x: f"{x} points")
