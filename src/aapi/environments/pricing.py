"""Pricing of seats that are worth nothing after departure (Gallego and van Ryzin 1994), flight after flight."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Sale: TypeAlias = tuple[int, int]  # the day, and how many seats are left

PRICES = (1.0, 2.0, 4.0, 8.0)
EARLY, LATE = 4.0, 12.0  # the most that a customer would pay


def pricing(capacity: int = 8, days: int = 24) -> FiniteMDP:
    """Choose each day's price, 1, 2, 4 or 8, for the seats of a flight, which begin at `capacity`.

    One customer a day asks. What a seat is worth to them is uniform on [0, 4], and on [0, 12] in the last third of the
    `days`; who values it above the price buys. Then the sale for the next flight begins, with all its seats.

    Unichain, with period `days`. λ_* is what the best prices of a flight are expected to earn, over `days`.
    """
    at_least(1, capacity=capacity)
    at_least(3, days=days)

    def outcomes(sale: Sale, action: int) -> Iterator[tuple[float, Sale, float]]:
        day, seats = sale
        buys = max(0.0, 1.0 - PRICES[action] / (LATE if 3 * day >= 2 * days else EARLY)) if seats else 0.0
        for chance, left, paid in ((buys, seats - 1, PRICES[action]), (1.0 - buys, seats, 0.0)):
            if chance:
                yield chance, (day + 1, left) if day < days - 1 else (0, capacity), paid

    states: list[Sale] = list(itertools.product(range(days), range(capacity + 1)))
    return tabulate(
        states, [f"price {price:g}" for price in PRICES], outcomes, start=(0, capacity), coordinates=states,
        names=lambda x: f"day {x[0] + 1}, {x[1]} left",
    )  # fmt: skip
