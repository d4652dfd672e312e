"""A tree of decisions whose leaves pay, each with a probability of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP


def tree(depth: int = 6, seed: int = 0) -> FiniteMDP:
    """Go left or right `depth` times from the root; the leaf pays 1 or 0, and leads back to the root.

    Each of the 2 ** depth leaves pays with a probability of its own, u⁴ with u drawn evenly from [0, 1]: few pay
    often. What one does in a leaf does not matter. The same arguments give the same model.

    Communicating, with period depth + 1. λ_* is the largest of the probabilities, over depth + 1, and acting at random
    earns their mean, over depth + 1.
    """
    at_least(1, depth=depth)
    at_least(0, seed=seed)
    inner = 2**depth - 1  # node x has the children 2x + 1 and 2x + 2
    pays = (np.random.default_rng(seed).random(inner + 1) ** 4).tolist()

    def outcomes(node: int, action: int) -> Iterator[tuple[float, int, float]]:
        if node < inner:
            yield 1.0, 2 * node + 1 + action, 0.0
            return
        yield pays[node - inner], 0, 1.0
        yield 1.0 - pays[node - inner], 0, 0.0

    def path(node: int) -> str:
        return "".join("R" if step == "1" else "L" for step in f"{node + 1:b}"[1:]) or "root"

    return tabulate(range(2 * inner + 1), ["left", "right"], outcomes, start=0, names=path)
