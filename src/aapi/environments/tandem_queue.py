"""Two queues in a row, with a first server whose speed is chosen."""

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

SPEEDS = (0.0, 0.2, 0.4)
COSTS = (0.0, 0.05, 0.2)
SECOND = 0.3
PAYMENT, HOLDING = 5.0, (0.05, 0.15)


def tandem_queue(capacity: int = 10, arrivals: float = 0.25) -> FiniteMDP:
    """Customers pass two servers; each that leaves the second one pays 5. Each queue has room for `capacity`.

    A step is one event: an arrival with probability `arrivals`, lost if the first queue is full; the first server is
    done with 0, .2 or .4, as chosen (which costs 0, .05 or .2), unless the second queue is full; the second one with
    .3; else nothing happens. A customer costs .05 a step in the first queue and .15 in the second.

    Unichain, not ergodic: a first server that is off for ever fills its queue.
    """
    at_least(1, capacity=capacity)
    finite(0.0, strictly=True, arrivals=arrivals)
    if arrivals > 0.3:
        raise InvalidInput(f"arrivals must be at most 0.3, for events are one at a time, not {arrivals}")

    def outcomes(queues: Queues, action: int) -> Iterator[tuple[float, Queues, float]]:
        first, second = queues
        cost = -HOLDING[0] * first - HOLDING[1] * second - COSTS[action]
        yield arrivals, (min(first + 1, capacity), second), cost
        speed = SPEEDS[action] if first and second < capacity else 0.0
        if speed:
            yield speed, (first - 1, second + 1), cost
        if second:
            yield SECOND, (first, second - 1), cost + PAYMENT
        yield 1.0 - arrivals - speed - SECOND * (second > 0), queues, cost

    states: list[Queues] = list(itertools.product(range(capacity + 1), range(capacity + 1)))
    return tabulate(
        states, ["off", "slow", "fast"], outcomes, start=(0, 0), names=lambda x: f"{x[0]} then {x[1]}",
        coordinates=states,
    )  # fmt: skip
