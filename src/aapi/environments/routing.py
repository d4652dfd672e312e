"""Two queues side by side: which one to send a customer to."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least, finite
from aapi.environments.tabulate import tabulate
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Queues: TypeAlias = tuple[int, int]

SPEEDS = (0.35, 0.15)
LOST = 20.0


def routing(capacity: int = 8, arrivals: float = 0.4) -> FiniteMDP:
    """Send each customer to the fast server or to the slow one. Each queue has room for `capacity`.

    A step is one event: an arrival with probability `arrivals`, lost at a cost of 20 if the queue it is sent to is
    full; the fast server is done with .35, the slow one with .15. Every customer costs 1 a step, so λ_* is negative:
    minus the average number of customers, and what is lost.

    Unichain, not ergodic: a queue that nobody is sent to stays empty.
    """
    at_least(1, capacity=capacity)
    finite(0.0, strictly=True, arrivals=arrivals)
    if arrivals > 0.5:
        raise InvalidInput(f"arrivals must be at most 0.5, for events are one at a time, not {arrivals}")

    def outcomes(queues: Queues, action: int) -> Iterator[tuple[float, Queues, float]]:
        cost = -float(sum(queues))
        full = queues[action] == capacity
        yield arrivals, _changed(queues, action, 0 if full else 1), cost - LOST * full
        rest = 1.0 - arrivals
        for queue, speed in enumerate(SPEEDS):
            if queues[queue]:
                rest -= speed
                yield speed, _changed(queues, queue, -1), cost
        yield max(rest, 0.0), queues, cost

    states: list[Queues] = list(itertools.product(range(capacity + 1), range(capacity + 1)))
    return tabulate(
        states, ["fast", "slow"], outcomes, start=(0, 0), names=lambda x: f"{x[0]} fast, {x[1]} slow",
        coordinates=states,
    )  # fmt: skip


def _changed(queues: Queues, which: int, by: int) -> Queues:
    return (queues[0] + by, queues[1]) if which == 0 else (queues[0], queues[1] + by)
