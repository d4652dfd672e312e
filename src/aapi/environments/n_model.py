"""The N-model: two kinds of customers, a server for one kind and a server for both (Harrison 1998)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Queues: TypeAlias = tuple[int, int]

ARRIVALS = (0.16, 0.12)
DEDICATED, SHARED = 0.12, (0.2, 0.2)  # how fast servers are; the shared one, for each kind
COSTS = (3.0, 1.0)
LOST = 10.0


def n_model(capacity: int = 12) -> FiniteMDP:
    """Whom the shared server helps: customers of kind 1, which another server is there for too, or those of kind 2.

    A step is one event. Customers of kind 1 and 2 arrive with probabilities .16 and .12; one who finds `capacity` of
    the kind is lost, at a cost of 10. The server of kind 1 is done with .12, the shared one with .2. Both may work for
    one customer. Customers cost 3 or 1 a step, by their kind, so λ_* is negative.

    Unichain, not ergodic: customers of kind 2 whom nobody helps fill their queue.
    """
    at_least(1, capacity=capacity)

    def outcomes(queues: Queues, action: int) -> Iterator[tuple[float, Queues, float]]:
        first, second = queues
        cost = -COSTS[0] * first - COSTS[1] * second
        full = (first == capacity, second == capacity)
        yield ARRIVALS[0], (first + 1 - full[0], second), cost - LOST * full[0]
        yield ARRIVALS[1], (first, second + 1 - full[1]), cost - LOST * full[1]
        done = [DEDICATED * (first > 0), 0.0]
        done[action] += SHARED[action] * (queues[action] > 0)
        if done[0]:
            yield done[0], (first - 1, second), cost
        if done[1]:
            yield done[1], (first, second - 1), cost
        yield 1.0 - sum(ARRIVALS) - sum(done), queues, cost

    states: list[Queues] = list(itertools.product(range(capacity + 1), range(capacity + 1)))
    return tabulate(
        states, ["help 1", "help 2"], outcomes, start=(0, 0), names=lambda x: f"{x[0]} of 1, {x[1]} of 2",
        coordinates=states,
    )  # fmt: skip
