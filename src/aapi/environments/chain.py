"""Chain: Strens (2000), after Dearden, Friedman and Russell (1998)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least, check_probability
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


def chain(num_states: int = 5, slip: float = 0.2) -> FiniteMDP:
    """Go on to the last state, where going on pays 10; or return to the first one, which pays 2.

    With probability `slip` the other action happens. Ergodic. λ_* = 3.6768 with the defaults, by always going on.
    """
    at_least(2, num_states=num_states)
    check_probability(slip=slip)
    last = num_states - 1

    def outcomes(state: int, action: int) -> list[tuple[float, int, float]]:
        onward = 1.0 - slip if action == 0 else slip
        return [(onward, min(state + 1, last), 10.0 * (state == last)), (1.0 - onward, 0, 2.0)]

    return tabulate(range(num_states), ["onward", "return"], outcomes, start=0)
