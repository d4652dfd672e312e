"""The combination lock: one right action in every state, and all others lose the way (Whitehead 1991)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


def combination_lock(length: int = 10, num_actions: int = 3, seed: int = 0) -> FiniteMDP:
    """States 0 … length − 1: the right action, drawn at random for each, goes on, any other leads back to state 0.

    The right action in the last state pays 1 and leads to state 0. The same arguments give the same model.

    Communicating. λ_* = 1/length; acting at random opens it once in about num_actions ** length steps.
    """
    at_least(2, length=length, num_actions=num_actions)
    at_least(0, seed=seed)
    right = np.random.default_rng(seed).integers(num_actions, size=length).tolist()

    def outcomes(state: int, action: int) -> list[tuple[float, int, float]]:
        opens = action == right[state]
        return [(1.0, (state + 1) % length if opens else 0, 1.0 * (opens and state == length - 1))]

    return tabulate(range(length), [f"turn {a}" for a in range(num_actions)], outcomes, start=0)
