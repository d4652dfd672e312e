"""Polling: one server for two queues, who pays for going from one to the other (Takagi 1988)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Polled: TypeAlias = tuple[int, int, int]  # both queues, and where the server is

ARRIVALS, SERVICE = (0.2, 0.1), 0.45
PAYMENTS, HOLDING, SWITCH = (2.0, 6.0), 0.05, 2.0


def polling(capacity: int = 8) -> FiniteMDP:
    """Stay and serve where one is, or go to the other queue: that costs 2, and nobody is served in this step.

    A step is one event. Customers arrive with probability .2 at the first queue and .1 at the second, where those who
    find `capacity` before them are lost. A server who stays is done with .45, and is paid 2 in the first queue, 6 in
    the second. Every customer in a queue costs .05 a step.

    Communicating, not unichain: one may stay for ever at either queue.
    """
    at_least(1, capacity=capacity)

    def outcomes(state: Polled, action: int) -> Iterator[tuple[float, Polled, float]]:
        first, second, where = state
        goes = action == 1
        after = 1 - where if goes else where
        reward = -HOLDING * (first + second) - SWITCH * goes
        yield ARRIVALS[0], (min(first + 1, capacity), second, after), reward
        yield ARRIVALS[1], (first, min(second + 1, capacity), after), reward
        served = 0.0 if goes or not state[where] else SERVICE
        if served:
            yield served, (first - (where == 0), second - (where == 1), after), reward + PAYMENTS[where]
        yield 1.0 - sum(ARRIVALS) - served, (first, second, after), reward

    room = range(capacity + 1)
    states: list[Polled] = list(itertools.product(room, room, range(2)))
    return tabulate(
        states, ["stay", "go"], outcomes, start=(0, 0, 0), coordinates=states,
        names=lambda x: f"{x[0]} and {x[1]}, at queue {x[2] + 1}",
    )  # fmt: skip
