"""Least-squares Monte Carlo: regression from features to truncated returns, the paper's choice of G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation.evaluation import Evaluation
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from aapi.approximation import Policy
    from aapi.array_types import Array
    from aapi.memory import Experience


@dataclass(frozen=True)
class MonteCarlo(Evaluation):
    """Q̂ = φᵀw with w = argmin Σ_t (φ(x_t, a_t)ᵀw − G_t)² + ridge ‖w‖².

    G_t = Σ_{i=t}^{t+H−1} (r_i − c), every visit t whose window lies in the phase, and in one copy of the environment; c
    is the phase's mean reward if `centre`, else 0. With one-hot features this is an average, and pairs without data get
    the value 0.

    horizon: H, the length of returns. centre: subtract the mean reward from returns. ridge: ℓ2 penalty of the
    regression.
    """

    horizon: int
    centre: bool = False
    ridge: float = 1.0

    @property
    def shortest_phase(self) -> int:
        """H: a window of returns must fit."""
        return int(self.horizon)

    def check(self, phase_length: int) -> None:
        """Refuse arguments that leave nothing to regress on."""
        at_least(1, horizon=self.horizon)
        finite(0.0, ridge=self.ridge)
        if self.horizon > phase_length:
            raise InvalidInput(
                f"horizon must be at most the phase length, {phase_length}, not {self.horizon}: "
                "no window of returns would fit"
            )

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q̂_k, a regression of returns on features."""
        data = seen.data
        returns = truncated_returns(data.rewards, self.horizon, self.centre, seen.space.copies)
        return seen.space.fit(data.states, data.actions, returns, float(self.ridge))


def truncated_returns(rewards: Array, horizon: int, centre: bool, copies: int = 1) -> Array:
    """G_t = Σ_{i<H} (r_{t+i·copies} − c) for every t whose window lies in the data, which are its first steps."""
    returns = np.empty((len(rewards), rewards.shape[1] - (int(horizon) - 1) * copies))
    _fill_returns(rewards, int(horizon), bool(centre), copies, returns)
    return returns


@kernel
def _fill_returns(rewards: Any, horizon: Any, centre: Any, copies: Any, returns: Any) -> None:
    """G_t of every run, for every t whose window lies in the data, from rewards cumulated in each copy."""
    cumulated = np.zeros(rewards.shape[1] + copies)
    for run in range(returns.shape[0]):
        total = 0.0
        for copy in range(copies):
            earned = 0.0
            for t in range(copy, rewards.shape[1], copies):
                earned += rewards[run, t]
                cumulated[t + copies] = earned
            total += earned
        baseline = horizon * (total / rewards.shape[1]) if centre else 0.0
        for t in range(returns.shape[1]):
            returns[run, t] = (cumulated[t + horizon * copies] - cumulated[t]) - baseline
