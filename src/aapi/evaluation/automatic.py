"""The evaluation that needs no choice: all data where states can be counted, returns of the phase where they cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aapi.evaluation.monte_carlo import MonteCarlo
from aapi.evaluation.self_consistent import SelfConsistent
from aapi.simulation import Basis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aapi.simulation import Simulation

__all__ = ["Automatic"]

RETURNS = MonteCarlo(horizon=50, ridge=300.0)  # chosen on CartPole, with seeds that no test and no report uses


@dataclass(frozen=True)
class Automatic:
    """`SelfConsistent` on tables; on weights, `MonteCarlo`, uncentred, over 50 steps and with a ridge of 300."""

    off_policy = True  # on tables

    def choose(self, simulation: Simulation) -> Any:
        """The evaluation for a simulation, by whether it has tables or weights."""
        return RETURNS if isinstance(simulation.features, Basis) else SelfConsistent()

    def check(self, phase_length: int) -> None:
        """What it chooses is checked once it is chosen."""

    def __call__(self, simulation: Simulation, policy: Any, data: Any) -> NDArray[np.float64]:
        """Q̂_k."""
        found: NDArray[np.float64] = self.choose(simulation)(simulation, policy, data)
        return found
