"""Side information M_{k+1}: a guess at the next Q-function, made before it is seen, from where Algorithm 1 stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from aapi.checks import as_part, finite
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.approximation import Policy, QSpace, Temperature
    from aapi.array_types import Array
    from aapi.evaluation import Evaluation
    from aapi.memory import Experience

    SideInformationLike: TypeAlias = "SideInformation | Callable[[Leader], Array]"


@dataclass(frozen=True, eq=False)
class Leader:
    """All that is known after phase k, before M_{k+1} is chosen.

    total: Σ_{s≤k} Q̂_s; q_hat: Q̂_k; prediction: M_k; arrays (runs, rows, actions). temperature: η_k.
    weight: what phase k + 1 will count.
    """

    k: int
    total: Array
    q_hat: Array
    prediction: Array
    temperature: Temperature
    weight: float
    evaluation: Evaluation
    seen: Experience

    @property
    def space(self) -> QSpace:
        """How Q-functions are held."""
        return self.seen.space

    def follow(self, prediction: Array) -> Policy:
        """Lines 8 and 9: π ∝ exp((Σ_{s≤k} Q̂_s + prediction)/η_k)."""
        return self.space.softmax(self.total + self.weight * prediction, self.temperature)

    def evaluate(self, policy: Policy) -> Array:
        """An estimate of Q of any policy from the data so far, by an evaluation that is able to."""
        return self.evaluation.estimate(policy, self.seen).q_hat


class SideInformation:
    """A guess at Q̂_{k+1} from what is known after phase k. One of yours needs `__call__` alone; a function will do.

    off_policy: whether it evaluates policies that have not acted yet, which not every evaluation can.
    """

    off_policy: bool = False

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, leader: Leader) -> Array:
        """M_{k+1}, an array of the shape of `leader.q_hat`."""
        raise NotImplementedError


def as_side_information(part: SideInformationLike) -> SideInformation:
    """Side information, or a function as it, which may call `leader.evaluate` if the evaluation is able to."""
    return as_part(part, SideInformation, "side_information", "such as PreviousEstimate()")


@dataclass(frozen=True)
class PreviousEstimate(SideInformation):
    """M_{k+1} = Q̂_k, the paper's choice: policies change slowly, so Q-functions do."""

    def __call__(self, leader: Leader) -> Array:
        """Q̂_k."""
        return leader.q_hat


@dataclass(frozen=True)
class Zero(SideInformation):
    """M ≡ 0: no optimism."""

    def __call__(self, leader: Leader) -> Array:
        """Zeros."""
        return np.zeros_like(leader.q_hat)


@dataclass(frozen=True)
class ExponentialAverage(SideInformation):
    """M_{k+1} = M_k + share · (Q̂_k − M_k), and M_2 = Q̂_1: noise of single estimates is averaged away, at some delay."""

    share: float = 0.5

    def check(self) -> None:
        """The share must lie in (0, 1]."""
        finite(0.0, strictly=True, share=self.share)
        if self.share > 1.0:
            raise InvalidInput(f"share must be at most 1, not {self.share}")

    def __call__(self, leader: Leader) -> Array:
        """The average of Q̂_1 … Q̂_k."""
        if leader.k == 1:
            return leader.q_hat
        return leader.prediction + self.share * (leader.q_hat - leader.prediction)


@dataclass(frozen=True)
class Predicted(SideInformation):
    """M_{k+1} is an estimate of Q of the policy that would come next, were M_{k+1} = Q̂_k; made before it acts.

    That takes an evaluation that is able to evaluate policies which did not make the data.
    """

    off_policy = True

    def __call__(self, leader: Leader) -> Array:
        """Q̂ of the policy to come."""
        return leader.evaluate(leader.follow(leader.q_hat))
