"""Learning rates η_k(x): the temperature of the next policy in each state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from aapi.checks import at_least, finite, one_of
from aapi.errors import InvalidInput
from aapi.improvement.history import NORMS

if TYPE_CHECKING:
    from aapi.improvement.history import QHistory

__all__ = ["SCHEDULES", "Adaptive", "LearningRate", "SampledAdaptive", "Scheduled"]

SCHEDULES = ("constant", "sqrt", "horizon")


class LearningRate(Protocol):
    """The temperatures after phase k."""

    @property
    def norm(self) -> str:
        """How surprise is measured: `sup` or `span`."""

    @property
    def num_sampled(self) -> int | None:
        """How many past differences it samples; 0 if it looks at none, None if at all of them."""

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, history: QHistory) -> Any:
        """η_k(x), of shape (runs, states); or, where Q-functions are weights, what the history makes of it."""


@dataclass(frozen=True)
class Adaptive:
    """η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s(x,·) − M_s(x,·)‖²)^½: the paper's equation 3.2.

    Exactly for tables. For weights, where that takes all of the past, as `SampledAdaptive` with 30 samples.
    """

    eta: float = 1.0
    norm: str = "sup"
    num_sampled = None

    def check(self) -> None:
        """η must be positive, the norm known."""
        finite(0.0, strictly=True, eta=self.eta)
        one_of(NORMS, norm=self.norm)

    def __call__(self, history: QHistory) -> Any:
        """η_k(x)."""
        return history.adaptive_temperature(self.eta)


@dataclass(frozen=True)
class SampledAdaptive:
    """The paper's estimate of the adaptive rate from n_k = min(k, num_sampled) past differences.

    η̂_k(x) = η (2 (k/n_k) Σ_{s in sample} ‖Q̂_s(x,·) − M_s(x,·)‖²)^½, the sample drawn anew in each phase, without
    replacement, by each run on its own. keep_first: always take s = 1, which carries up to half of the sum, at its own
    weight; the correction is then (k − 1)/(n_k − 1), for the others.
    """

    eta: float = 1.0
    norm: str = "sup"
    num_sampled: int = 30
    keep_first: bool = False

    def check(self) -> None:
        """η must be positive, the norm known, the sample not empty."""
        finite(0.0, strictly=True, eta=self.eta)
        one_of(NORMS, norm=self.norm)
        at_least(2 if self.keep_first else 1, num_sampled=self.num_sampled)

    def __call__(self, history: QHistory) -> Any:
        """η̂_k(x)."""
        return history.sampled_temperature(self.eta, self.num_sampled, self.keep_first)


@dataclass(frozen=True)
class Scheduled:
    """One temperature for all states, known beforehand: POLITEX.

    schedule: `constant`, η_k = η, greedy with η = 0; `sqrt`, η √k; `horizon`, η (K / (8 ln A))^½, the analysed one, in
    which η stands for the range of the Q-functions.
    """

    eta: float = 1.0
    schedule: str = "constant"
    norm = "sup"
    num_sampled = 0

    def check(self) -> None:
        """η must not be negative, the schedule known."""
        finite(0.0, eta=self.eta)
        one_of(SCHEDULES, schedule=self.schedule)

    def __call__(self, history: QHistory) -> Any:
        """η_k."""
        growth = 1.0
        if self.schedule == "sqrt":
            growth = math.sqrt(history.phase)
        elif self.schedule == "horizon":
            if history.num_phases is None:
                raise InvalidInput("the horizon schedule needs a known number of phases; an agent has none: use sqrt")
            num_actions = max(2, history.total.shape[2])  # with one action any temperature will do
            growth = math.sqrt(history.num_phases / (8.0 * math.log(num_actions)))
        return history.constant_temperature(self.eta * growth)
