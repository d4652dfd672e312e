"""Q-learning and Sarsa for average reward, one step at a time; in tables, and in weights of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.temporal_differences import GAIN, Rates, best_value
from aapi.checks import finite, one_of
from aapi.errors import InvalidInput
from aapi.kernels.jit import step_kernel
from aapi.learners.online import OnlineLearner
from aapi.schedules import Decay

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.approximation.temporal_differences import Rule
    from aapi.learners.learner import Phase
    from aapi.learners.online import OnlineState
    from aapi.schedules import DecayLike
    from aapi.simulation import PhaseData


@dataclass(frozen=True, kw_only=True)
class TDLearner(OnlineLearner):
    """ε-greedy in Q, which moves by α δ at every step.

    step_size: α, a number, or one that falls with the n visits of a pair, such as 0.5/n^0.7.
    epsilon: ε, how often any action is tried, a number, or one that falls with the n steps taken, such as 1/n^0.5.
    """

    step_size: DecayLike = 0.1
    epsilon: DecayLike = 0.1

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        Decay.of(self.step_size, "step_size").check("step_size")
        Decay.of(self.epsilon, "epsilon").check("epsilon", most=1.0)

    def update(self, state: OnlineState, data: PhaseData) -> tuple[OnlineState, Phase]:
        """All was learnt already, unless steps were too large for that."""
        if not (np.isfinite(state.q).all() and np.isfinite(state.numbers).all()):
            rates = " or ".join(name for name in ("step_size", "gain_rate") if name in vars(self))
            raise InvalidInput(f"Q is not finite after {data.time} steps: give a smaller {rates}, or smaller rewards")
        return super().update(state, data)

    def rates(self, gain_rate: float, discount: float = 1.0) -> Rates:
        """As kernels need them."""
        step_size, epsilon = Decay.of(self.step_size), Decay.of(self.epsilon)
        return Rates(*map(float, (step_size.start, step_size.power, epsilon.start, epsilon.power, gain_rate, discount)))


@dataclass(frozen=True, kw_only=True)
class DifferentialQ(TDLearner):
    """Differential Q-learning (Wan, Naik and Sutton 2021): the temporal difference moves the gain as well.

    δ = r − R̄ + max_b Q(y, b) − Q(x, a);  Q(x, a) += α δ;  R̄ += gain_rate α δ.

    gain_rate: η, how fast the gain moves, as a multiple of the step size.
    """

    gain_rate: float = 1.0

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        super().check()
        finite(0.0, gain_rate=self.gain_rate)

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """Q = 0."""
        return space.temporal_differences(_differential, self.rates(self.gain_rate), runs)


@dataclass(frozen=True, kw_only=True)
class DifferentialSarsa(DifferentialQ):
    """Differential Sarsa (Sutton and Barto 2018, 10.3): the same with the action that is taken next.

    δ = r − R̄ + Q(y, b) − Q(x, a).
    """

    on_policy = True

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """Q = 0."""
        return space.temporal_differences(_sarsa, self.rates(self.gain_rate), runs)


@dataclass(frozen=True, kw_only=True)
class CentredQ(DifferentialQ):
    """Discounted Q-learning with centred rewards (Naik, Wan, Tomar and Sutton 2024).

    δ = r − R̄ + γ max_b Q(y, b) − Q(x, a);  Q(x, a) += α δ;  R̄ += gain_rate α δ. Without centring, gain_rate = 0.

    discount: γ, below 1.
    """

    gain_rate: float = 0.1
    discount: float = 0.99

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        super().check()
        finite(0.0, discount=self.discount)
        if self.discount >= 1.0:
            raise InvalidInput(f"discount must be below 1, not {self.discount}: with 1 it is differential-q")

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """Q = 0."""
        return space.temporal_differences(_differential, self.rates(self.gain_rate, self.discount), runs)


@dataclass(frozen=True, kw_only=True)
class RLearning(DifferentialQ):
    """R-learning (Schwartz 1993): the gain is learnt from steps that were greedy.

    δ = r − R̄ + max_b Q(y, b) − Q(x, a);  Q(x, a) += α δ;  and where a was best in x,
    R̄ += gain_rate α (r − R̄ + max_b Q(y, b) − max_b Q(x, b)), all of them values from before the step.
    """

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """Q = 0."""
        return space.temporal_differences(_r_learning, self.rates(self.gain_rate), runs)


@dataclass(frozen=True, kw_only=True)
class RVIQ(TDLearner):
    """RVI Q-learning (Abounadi, Bertsekas and Borkar 2001): a reference value of Q stands for the gain.

    δ = r − f(Q) + max_b Q(y, b) − Q(x, a);  Q(x, a) += α δ. In tables only.

    reference: f, the value of the `first` pair, or the `mean` of all.
    """

    reference: str = "first"

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        super().check()
        one_of(("first", "mean"), reference=self.reference)

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """Q = 0."""
        space.require_countable("RVIQ needs")
        difference = _relative_to_first if self.reference == "first" else _relative_to_mean
        return space.temporal_differences(difference, self.rates(0.0), runs)


@step_kernel
def _differential(
    numbers: Any, rates: Any, run: Any, q: Any, row: Any, x: Any, a: Any, reward: Any, y: Any, b: Any, step_size: Any
) -> Any:  # fmt: skip
    change = step_size * (reward - numbers[run, GAIN] + rates.discount * best_value(q, row, y) - q[row, x, a])
    numbers[run, GAIN] += rates.gain_rate * change
    return change


@step_kernel
def _sarsa(
    numbers: Any, rates: Any, run: Any, q: Any, row: Any, x: Any, a: Any, reward: Any, y: Any, b: Any, step_size: Any
) -> Any:
    change = step_size * (reward - numbers[run, GAIN] + q[row, y, b] - q[row, x, a])
    numbers[run, GAIN] += rates.gain_rate * change
    return change


@step_kernel
def _r_learning(
    numbers: Any, rates: Any, run: Any, q: Any, row: Any, x: Any, a: Any, reward: Any, y: Any, b: Any, step_size: Any
) -> Any:  # fmt: skip
    change = step_size * (reward - numbers[run, GAIN] + best_value(q, row, y) - q[row, x, a])
    if q[row, x, a] == best_value(q, row, x):
        numbers[run, GAIN] += rates.gain_rate * change
    return change


@step_kernel
def _relative_to_first(
    numbers: Any, rates: Any, run: Any, q: Any, row: Any, x: Any, a: Any, reward: Any, y: Any, b: Any, step_size: Any
) -> Any:  # fmt: skip
    numbers[run, GAIN] = q[row, 0, 0]
    return step_size * (reward - numbers[run, GAIN] + best_value(q, row, y) - q[row, x, a])


@step_kernel
def _relative_to_mean(
    numbers: Any, rates: Any, run: Any, q: Any, row: Any, x: Any, a: Any, reward: Any, y: Any, b: Any, step_size: Any
) -> Any:  # fmt: skip
    change = step_size * (reward - numbers[run, GAIN] + best_value(q, row, y) - q[row, x, a])
    numbers[run, GAIN] += change / (q.shape[1] * q.shape[2])
    return change
