"""What every simulation offers, and D_k, what its rollout returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PhaseData", "Simulation", "stretches"]


@dataclass(frozen=True, eq=False)
class PhaseData:
    """D_k: what happened in a phase, each of shape (runs, steps), and the state it led to, of shape (runs,).

    states: whole numbers for finite problems; for others observation vectors, with one more axis, as in last_state.
    reward_sums: sums over stretches of the phase, (runs, stretches), which end at the steps `stretch_ends`, counted
    from the phase's first.
    """

    states: NDArray[Any]
    actions: NDArray[np.int32]
    rewards: NDArray[np.float64]
    last_state: NDArray[Any]
    reward_sums: NDArray[np.float64]
    stretch_ends: NDArray[np.int64]


class Simulation(Protocol):
    """A batch of runs that an algorithm can act in.

    features: how Q-functions are represented: `ActiveFeatures` for tables of finitely many states, `Basis` for weights.
    time: steps taken so far. grid: steps at which sums of rewards are cut, whatever the phases.
    """

    features: Any
    streams: NDArray[np.uint64]
    time: int
    grid: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int, int]:
        """(runs, states or features, actions): the shape of a batch of Q-functions."""

    def rollout(self, policy: Any, steps: int) -> PhaseData:
        """Act by `policy` for a number of steps."""


def stretches(grid: NDArray[np.int64], time: int, steps: int) -> NDArray[np.int64]:
    """Where to cut the next `steps` steps, counted from `time` on: at the steps of the grid, and at the end."""
    first, last = grid.searchsorted((time + 1, time + steps))
    return np.append(grid[first:last] - time, steps).astype(np.int64)
