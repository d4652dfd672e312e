"""DeepSea as a continuing problem: the version of Hao et al. (2021) of the problem of Osband et al. (2017)."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from aapi.checks import at_least
from aapi.mdp import FiniteMDP


def deep_sea(size: int = 10) -> FiniteMDP:
    """A size × size grid: every step goes one row down, and from the bottom to the top in the same column.

    State (row, column) has the number row · size + column; the start is (0, 0). Action 0 moves one column to the left
    and pays 0, action 1 one column to the right and pays −1; columns are clipped at the walls. Entering the bottom
    right cell pays 2 · size in addition.

    Not ergodic: every chain is periodic, with a period that `size` divides, and many policies avoid most states.
    λ_* = 1.5 for even sizes, 1.5 − 1/(2 · size) for odd ones; always right earns 1, always left 0, the uniform policy
    2/size − 1/2.
    """
    at_least(2, size=size)
    row, column, action = np.meshgrid(np.arange(size), np.arange(size), np.arange(2), indexing="ij")
    next_row = (row + 1) % size
    next_column = np.clip(column + 2 * action - 1, 0, size - 1)
    rewards = -1.0 * action + 2.0 * size * ((next_row == size - 1) & (next_column == size - 1))
    successors = (next_row * size + next_column).ravel()
    transitions = scipy.sparse.csr_array(
        (np.ones(len(successors)), successors, np.arange(len(successors) + 1)), shape=(len(successors), size * size)
    )
    names = [f"({r},{c})" for r in range(size) for c in range(size)]
    cells = np.stack([row[:, :, 0].ravel(), column[:, :, 0].ravel()], axis=1)
    return FiniteMDP(
        transitions, rewards.reshape(-1, 2), state_names=names, action_names=["left", "right"], coordinates=cells
    )
