"""A map with traps that pay a little and are hard to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.environments.grid import grid_model

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP

TRAPS, HOLD, SLIP = 0.2, 0.9, 0.1


def trap_grid(size: int = 8, seed: int = 0) -> FiniteMDP:
    """A size × size map: a fifth of its cells, drawn at random, are traps, which pay .01 and hold with probability .9.

    One starts in the upper left corner. The goal in the lower right corner pays 1 and leads back to the start. A move
    goes in a direction drawn evenly with probability .1. The same arguments give the same model. Communicating.
    """
    at_least(3, size=size)
    at_least(0, seed=seed)
    cells = np.full(size * size, ".")
    count = int(TRAPS * size * size)
    cells[1 + np.random.default_rng(seed).choice(size * size - 2, count, replace=False)] = "T"
    cells[0], cells[-1] = "S", "G"
    return grid_model(["".join(row) for row in cells.reshape(size, size)], slip=SLIP, hold=HOLD)
