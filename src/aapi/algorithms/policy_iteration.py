"""Algorithm 1 of Hao et al. (2021), with all its parts open: AAPI, POLITEX and classical API are settings of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.improvement import LearningRate, PreviousEstimate, QHistory, SideInformation, new_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from aapi.evaluation import Evaluation
    from aapi.simulation import PhaseData, Simulation

__all__ = ["Phase", "PolicyIteration", "in_phases"]


@dataclass(frozen=True, eq=False)
class Phase:
    """Phase k of a batch of runs, for whoever logs, records or stops.

    policy: π_k, (runs, states, actions); next_policy: π_{k+1}. data: D_k.
    q_hat: Q̂_k; temperature: η_k(x), (runs, states); surprise: ‖Q̂_k − M_k‖, (runs, states); prediction: M_{k+1}. All are
    missing in a last phase that is too short to be evaluated, and all but q_hat in algorithms that have none.
    Where Q-functions are linear in features, policies are `LinearPolicy`, q_hat is the weights, (runs, features,
    actions), the temperature a `LinearTemperature` or a number for each run, and there is no table of surprises.
    """

    number: int
    policy: Any
    data: PhaseData
    next_policy: Any
    q_hat: NDArray[np.float64] | None = None
    temperature: Any = None
    surprise: NDArray[np.float64] | None = None
    prediction: Any = None


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
        if self.decay > 1.0:
            raise InvalidInput(f"decay must be at most 1, not {self.decay}")
        if 0.0 < self.decay < 1.0 and self.learning_rate.num_sampled != 0:
            raise InvalidInput(
                f"decay {self.decay} bounds the sum of Q-functions but not an adaptive temperature, and policies would "
                "tend to the uniform one: use a Scheduled rate"
            )

    def start(self, simulation: Simulation, num_phases: int | None = None) -> QHistory:
        """Line 2: π_1 uniform, M_1 = 0. The history is all that is remembered from phase to phase."""
        rate = self.learning_rate
        return new_history(simulation, num_phases, norm=rate.norm, decay=self.decay, num_sampled=rate.num_sampled)

    def improve(self, simulation: Simulation, history: QHistory, data: PhaseData) -> Phase:
        """Lines 6 to 9: from the data D_k of policy π_k to π_{k+1}."""
        policy = history.policy
        history.add(self.evaluate(simulation, policy, data))  # line 6: Q̂_k by G
        temperature = self.learning_rate(history)  # line 7: η_k(x)
        history.predict(self.side_information)  # M_{k+1}
        history.improve(temperature)  # lines 8 and 9: index and π_{k+1}
        surprise = getattr(history, "surprise", None)
        prediction = history.side_information
        return Phase(history.phase, policy, data, history.policy, history.q_hat, temperature, surprise, prediction)

    def phases(self, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
        """Algorithm 1: one Phase per policy. The steps left over at the end are spent with the last policy."""
        return in_phases(self, simulation, num_steps)


def in_phases(algorithm: Any, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
    """Act for a phase, improve, and again: the loop of every algorithm that has `start` and `improve`."""
    num_phases, left_over = divmod(num_steps, algorithm.phase_length)
    history = algorithm.start(simulation, num_phases)
    for _ in range(num_phases):
        data = simulation.rollout(history.policy, algorithm.phase_length)  # line 5: D_k
        yield algorithm.improve(simulation, history, data)
    if left_over:
        data = simulation.rollout(history.policy, left_over)
        yield Phase(num_phases + 1, history.policy, data, history.policy)
