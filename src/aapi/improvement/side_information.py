"""Side information M_{k+1}: a guess at the next Q-function, made before it is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aapi.checks import finite
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.improvement.history import QHistory

    Evaluate = Callable[[Any], NDArray[np.float64]]

__all__ = ["ExponentialAverage", "Predicted", "PreviousEstimate", "SideInformation", "Zero"]


class SideInformation(Protocol):
    """A guess at Q̂_{k+1} from what is known after phase k. A function of yours will do.

    One that calls `evaluate` has an attribute `off_policy = True`.
    """

    def __call__(self, history: QHistory, evaluate: Evaluate | None) -> NDArray[np.float64]:
        """M_{k+1}, of shape (runs, states, actions). evaluate: estimates Q of any policy from the data so far."""


@dataclass(frozen=True)
class PreviousEstimate:
    """M_{k+1} = Q̂_k, the paper's choice: policies change slowly, so Q-functions do."""

    def __call__(self, history: QHistory, evaluate: Any) -> NDArray[np.float64]:
        """Q̂_k."""
        return history.q_hat


@dataclass(frozen=True)
class Zero:
    """M ≡ 0: no optimism."""

    def __call__(self, history: QHistory, evaluate: Any) -> NDArray[np.float64]:
        """Zeros."""
        return np.zeros_like(history.q_hat)


@dataclass(frozen=True)
class ExponentialAverage:
    """M_{k+1} = M_k + share · (Q̂_k − M_k), and M_2 = Q̂_1: noise of single estimates is averaged away, at some delay."""

    share: float = 0.5

    def check(self) -> None:
        """The share must lie in (0, 1]."""
        finite(0.0, strictly=True, share=self.share)
        if self.share > 1.0:
            raise InvalidInput(f"share must be at most 1, not {self.share}")

    def __call__(self, history: QHistory, evaluate: Any) -> NDArray[np.float64]:
        """The average of Q̂_1 … Q̂_k."""
        if history.phase == 1:
            return history.q_hat
        return np.asarray(history.side_information + self.share * (history.q_hat - history.side_information))


@dataclass(frozen=True)
class Predicted:
    """M_{k+1} is an estimate of Q of the policy that would come next, were M_{k+1} = Q̂_k; made before it acts.

    That takes an evaluation that is able to evaluate policies which did not make the data.
    """

    off_policy = True

    def __call__(self, history: QHistory, evaluate: Evaluate | None) -> NDArray[np.float64]:
        """Q̂ of the policy to come."""
        if evaluate is None:
            raise InvalidInput("a prediction by evaluation needs something to evaluate with")
        return evaluate(history.leader(history.q_hat))
