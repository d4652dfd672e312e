"""What Algorithm 1 asks of a policy evaluation, the paper's G."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["Evaluation"]


class Evaluation(Protocol):
    """G: an estimate of Q_π for every run of a batch."""

    def check(self, phase_length: int) -> None:
        """Raise an error if phases of this length cannot be evaluated."""

    def __call__(self, simulation: Simulation, policy: Any, data: PhaseData) -> NDArray[np.float64]:
        """Q̂_k from the phase's data: an array of `simulation.shape`, a table or weights for every run."""
