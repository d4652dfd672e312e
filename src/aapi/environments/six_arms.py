"""SixArms: Strehl and Littman (2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP

ARMS = ((1.0, 50.0), (0.15, 133.0), (0.1, 300.0), (0.05, 800.0), (0.03, 1660.0), (0.01, 6000.0))
BACK = 4  # the action that leaves the first arm's state


def six_arms(num_arms: int = 6) -> FiniteMDP:
    """Arms that pay more the more rarely they open: each opens a state in which one may stay and be paid.

    In state 0, action a opens state a + 1 with probability 1, .15, .1, .05, .03 or .01. State 1 pays 50 for every
    action but the fifth, which leads back. States 2 … 6 pay 133, 300, 800, 1660 and 6000 for the action that opened
    them; all others lead back. num_arms: of these, the first so many.

    Communicating. λ_* = 6000 with six arms.
    """
    at_least(2, num_arms=num_arms)
    if num_arms > len(ARMS):
        raise InvalidInput(f"num_arms must be at most {len(ARMS)}, not {num_arms}")
    back = min(BACK, num_arms - 1)

    def outcomes(state: int, action: int) -> list[tuple[float, int, float]]:
        if state == 0:
            chance = ARMS[action][0]
            return [(chance, action + 1, 0.0), *([(1.0 - chance, 0, 0.0)] if chance < 1.0 else [])]
        stays = action != back if state == 1 else action == state - 1
        return [(1.0, state, ARMS[state - 1][1]) if stays else (1.0, 0, 0.0)]

    names = [f"arm {a + 1}" for a in range(num_arms)]
    return tabulate(range(num_arms + 1), names, outcomes, start=0, names=lambda x: f"arm {x} open" if x else "closed")
