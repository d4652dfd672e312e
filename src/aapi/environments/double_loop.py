"""Loop: two loops that share a state (Strens 2000)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


def double_loop(length: int = 5) -> FiniteMDP:
    """Two loops of `length` steps from state 0. Action 0 enters the first: whatever one does there, its end pays 1.

    Action 1 enters the second: only action 1 goes on in it, action 0 leads back, and its end pays 2. λ_* = 2/length.
    """
    at_least(2, length=length)

    def outcomes(state: int, action: int) -> list[tuple[float, int, float]]:
        if state == 0:
            return [(1.0, 1 if action == 0 else length, 0.0)]
        first = state < length
        end = length - 1 if first else 2 * length - 2
        if not first and action == 0:
            return [(1.0, 0, 0.0)]
        return [(1.0, 0, 1.0 if first else 2.0)] if state == end else [(1.0, state + 1, 0.0)]

    return tabulate(range(2 * length - 1), ["first", "second"], outcomes, start=0)
