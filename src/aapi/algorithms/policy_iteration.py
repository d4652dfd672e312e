"""Algorithm 1 of Hao et al. (2021), with all its parts open: AAPI, POLITEX and classical API are settings of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least, finite
from aapi.improvement import LearningRate, PreviousEstimate, QHistory, SideInformation, boltzmann

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from aapi.evaluation import Evaluation
    from aapi.simulation import FiniteSimulation, PhaseData

__all__ = ["Phase", "PolicyIteration", "uniform_policy"]


@dataclass(frozen=True, eq=False)
class Phase:
    """Phase k of a batch of runs, for whoever logs, records or stops.

    policy: π_k, (runs, states, actions); next_policy: π_{k+1}. data: D_k.
    q_hat: Q̂_k; temperature: η_k(x), (runs, states); surprise: ‖Q̂_k − M_k‖, (runs, states). All three are missing in a
    last phase that is too short to be evaluated, the latter two in algorithms that have none.
    """

    number: int
    policy: NDArray[np.float64]
    data: PhaseData
    next_policy: NDArray[np.float64]
    q_hat: NDArray[np.float64] | None = None
    temperature: NDArray[np.float64] | None = None
    surprise: NDArray[np.float64] | None = None


@dataclass(frozen=True, kw_only=True)
class PolicyIteration:
    """Approximate policy iteration in phases, by follow-the-regularised-leader in every state.

    decay: what the sum of Q-functions keeps in each phase: 1 for the paper's algorithms, 0 for the last one alone.
    """

    phase_length: int
    evaluate: Evaluation
    learning_rate: LearningRate
    side_information: SideInformation = PreviousEstimate()  # noqa: RUF009 - frozen
    decay: float = 1.0

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length)
        self.evaluate.check(self.phase_length)
        self.learning_rate.check()
        finite(0.0, decay=self.decay)

    def phases(self, simulation: FiniteSimulation, num_steps: int) -> Iterator[Phase]:
        """Algorithm 1: one Phase per policy. The steps left over at the end are spent with the last policy."""
        num_phases, left_over = divmod(num_steps, self.phase_length)
        rate = self.learning_rate
        history = QHistory(
            simulation.shape, num_phases, simulation.streams,
            norm=rate.norm, decay=self.decay, keep_surprises=rate.keep_surprises,
        )  # fmt: skip
        policy = uniform_policy(simulation)  # line 2: π_1
        for k in range(1, num_phases + 1):
            data = simulation.rollout(policy, self.phase_length)  # line 5: D_k
            q_hat = self.evaluate(simulation, policy, data)  # line 6: Q̂_k by G
            history.add(q_hat)
            temperature = rate(history)  # line 7: η_k(x)
            history.predict(self.side_information)  # M_{k+1}
            next_policy = boltzmann(history.index, temperature)  # lines 8 and 9: index and π_{k+1}
            yield Phase(k, policy, data, next_policy, history.q_hat, temperature, history.surprise)
            policy = next_policy
        if left_over:
            yield Phase(num_phases + 1, policy, simulation.rollout(policy, left_over), policy)


def uniform_policy(simulation: FiniteSimulation) -> NDArray[np.float64]:
    """π(a|x) = 1/A in every run."""
    return np.full(simulation.shape, 1.0 / simulation.shape[2])
