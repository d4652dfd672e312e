"""A battery that buys power where it is cheap and sells it where it is dear."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least, finite
from aapi.environments.tabulate import tabulate
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Store: TypeAlias = tuple[int, int, int]  # the time of day, whether power is scarce, and the charge

PRICES = (2.0, 1.0, 1.0, 4.0, 3.0, 2.0, 6.0, 5.0)  # in the course of a day
SCARCE = 2.0  # times as much then
YIELD = 0.9  # of what is sold


def battery(capacity: int = 10, turns: float = 0.1) -> FiniteMDP:
    """Sell a unit of power, wait, or buy one, eight times a day; the battery holds `capacity`.

    Prices go through 2, 1, 1, 4, 3, 2, 6 and 5 in a day, and are twice as high while power is scarce, which begins and
    ends with probability `turns` a step. Of a unit that is sold, .9 arrive and are paid. An empty battery sells
    nothing, and a full one buys nothing.

    Communicating, with period 8.
    """
    at_least(1, capacity=capacity)
    finite(0.0, turns=turns)
    if turns >= 1.0:
        raise InvalidInput(f"turns must be below 1, not {turns}")

    def outcomes(state: Store, action: int) -> Iterator[tuple[float, Store, float]]:
        time, scarce, charge = state
        after = min(max(charge + action - 1, 0), capacity)
        price = PRICES[time] * (SCARCE if scarce else 1.0)
        paid = price * (YIELD * (after < charge) - (after > charge))
        for chance, then in ((1.0 - turns, scarce), (turns, 1 - scarce)):
            if chance:
                yield chance, ((time + 1) % len(PRICES), then, after), paid

    states: list[Store] = list(itertools.product(range(len(PRICES)), range(2), range(capacity + 1)))
    return tabulate(
        states, ["sell", "wait", "buy"], outcomes, start=(0, 0, 0), coordinates=states,
        names=lambda x: f"time {x[0] + 1}, {'scarce' if x[1] else 'plenty'}, charge {x[2]}",
    )  # fmt: skip
