"""A rare event: a game that mostly pays nothing, at the end of a corridor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least, check_probability
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP

WAGE, MEAN = 0.1, 0.5


def lottery(length: int = 3, chance: float = 0.005) -> FiniteMDP:
    """Work for .1 a step wherever one is, or walk to the last of `length` states and play there.

    Playing pays nothing, but .5/chance with probability `chance`. Working at the last state leads back to the first.

    Communicating. λ_* = .5, by playing for ever.
    """
    at_least(1, length=length)
    check_probability(chance=chance)
    last = length - 1

    def outcomes(state: int, action: int) -> list[tuple[float, int, float]]:
        if action == 0:
            return [(1.0, 0 if state == last else state, WAGE)]
        if state < last:
            return [(1.0, state + 1, 0.0)]
        return [(chance, last, MEAN / chance), (1.0 - chance, last, 0.0)]

    return tabulate(range(length), ["work", "play"], outcomes, start=0)
