"""Least-squares Monte Carlo from the steps of other policies, by importance weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation.evaluation import Evaluation
from aapi.evaluation.monte_carlo import truncated_returns
from aapi.kernels.jit import kernel
from aapi.memory import KeepSteps

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array
    from aapi.memory import Experience


@dataclass(frozen=True)
class ImportanceMonteCarlo(Evaluation):
    """Q̂ = φᵀw with w = argmin Σ_t u_t (φ(x_t, a_t)ᵀw − G_t)² + ridge ‖w‖², over the last `window` steps.

    G_t = Σ_{i=t}^{t+H−1} (r_i − c) as in `MonteCarlo`, c being the mean reward of the window if `centre`, and
    u_t = min(clip, Π_{i=t+1}^{t+H−1} π(a_i|x_i)/b(a_i|x_i)), where b is the policy that acted. The first action has no
    part in it: Q̂ is about what follows. Without a window, the data is the last phase's, whose b is π; then this is
    `MonteCarlo`.

    It is sound where b left every action possible that π takes, and for short horizons: products of H − 1 ratios vary
    the more, the longer they are and the further π is from b. Clipping bounds what a single return can count, and so
    the variance; it biases Q̂ towards the policies that acted. c, too, is their mean reward rather than π's.

    horizon: H, the length of returns. window: how many of the last steps are used. centre: subtract the mean reward
    from returns. ridge: ℓ2 penalty of the regression. clip: the largest weight of a return.
    """

    horizon: int
    window: int | None = 10_000
    centre: bool = False
    ridge: float = 1.0
    clip: float = 10.0
    off_policy = True

    @property
    def memory(self) -> KeepSteps:
        """The steps of the window, and how likely each action was."""
        return KeepSteps(self.window, probabilities=True)

    @property
    def shortest_phase(self) -> int:
        """H: a window of returns must fit."""
        return int(self.horizon)

    def check(self, phase_length: int) -> None:
        """Refuse arguments that leave nothing to regress on."""
        at_least(1, horizon=self.horizon)
        finite(0.0, ridge=self.ridge)
        finite(0.0, strictly=True, clip=self.clip)
        if self.window is not None:
            at_least(1, window=self.window)
        shortest = phase_length if self.window is None else min(phase_length, self.window)
        if self.horizon > shortest:
            raise InvalidInput(
                f"horizon must be at most the phase length and the window, {shortest}, not {self.horizon}: "
                "no window of returns would fit"
            )

    def for_space(self, space: QSpace) -> Evaluation:
        """Where the steps of the window are those of several copies of an environment, returns must fit, too."""
        if self.window is not None and self.horizon > self.window // space.copies:
            raise InvalidInput(
                f"horizon must be at most {self.window // space.copies}, not {self.horizon}: of a window of "
                f"{self.window} steps, that is what each of {space.copies} copies has"
            )
        return self

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q̂_k, a weighted regression of returns on features."""
        data = seen.recall(self.memory)
        copies = seen.space.copies
        returns = truncated_returns(data.rewards, self.horizon, self.centre, copies)
        ratios = seen.space.action_probabilities(policy, data.states, data.actions) / data.probabilities
        weights = np.empty_like(returns)
        _fill_weights(ratios, int(self.horizon), float(self.clip), copies, weights)
        return seen.space.fit(data.states, data.actions, returns, float(self.ridge), weights)


@kernel
def _fill_weights(ratios: Any, horizon: Any, clip: Any, copies: Any, weights: Any) -> None:
    """min(clip, Π_{i=t+1}^{t+H−1} ratio_i) of every run, the steps i being those of one copy."""
    for run in range(weights.shape[0]):
        for t in range(weights.shape[1]):
            product = 1.0
            for i in range(t + copies, t + horizon * copies, copies):
                if ratios[run, i] == 0.0:  # also after an overflow
                    product = 0.0
                    break
                product *= ratios[run, i]
            weights[run, t] = min(clip, product)
