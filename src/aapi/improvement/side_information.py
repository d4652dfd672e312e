"""Side information M_{k+1}: a guess at the next Q-function, made before it is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.improvement.history import QHistory

__all__ = ["PreviousEstimate", "SideInformation", "Zero"]


class SideInformation(Protocol):
    """A guess at Q̂_{k+1} from what is known after phase k."""

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """M_{k+1}, of shape (runs, states, actions)."""


@dataclass(frozen=True)
class PreviousEstimate:
    """M_{k+1} = Q̂_k, the paper's choice: policies change slowly, so Q-functions do."""

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """Q̂_k."""
        return history.q_hat


@dataclass(frozen=True)
class Zero:
    """M ≡ 0: no optimism."""

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """Zeros."""
        return np.zeros_like(history.q_hat)
