"""Where follow-the-regularised-leader stands after line 7 of Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace, Temperature
    from aapi.array_types import Array
    from aapi.evaluation import Evaluation
    from aapi.memory import Experience


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
