"""What is remembered of past phases, for the parts that look further back than the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["Memory", "Remembers"]


class Memory(Protocol):
    """D_1 … D_k of a batch of runs, or what is kept of them. Its size does not grow with time."""

    def add(self, data: PhaseData, policy: Any) -> None:
        """Take in what happened under a policy."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that has to be stored to go on later."""

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""


class Remembers(Protocol):
    """What a part wants to be remembered. Equal wishes of two parts are one memory."""

    def start(self, simulation: Simulation) -> Memory:
        """An empty memory."""
