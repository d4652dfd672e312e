"""Learning rates η_k(x): the temperature of the next policy in each state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from aapi.approximation import NORMS
from aapi.checks import as_part, at_least, finite, one_of
from aapi.errors import InvalidInput
from aapi.kernels.elementary import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.approximation import Surprise, Temperature

    LearningRateLike: TypeAlias = "LearningRate | Callable[[int, Surprise], Temperature]"


SCHEDULES = ("constant", "sqrt", "horizon")


class LearningRate:
    """Sets η_k(x), the paper's learning rate, which divides: it is the temperature of π_{k+1} in state x.

    One of yours needs `__call__` alone; a function will do.
    norm: how surprise is measured, `sup` or `span`. num_sampled: how many past differences it samples in each phase; 0
    if it looks at none, None for all of them, or 30 where that would take too much room.
    """

    norm: str = "sup"
    num_sampled: int | None = None

    @property
    def needs_equal_phases(self) -> bool:
        """Whether it counts phases, which then must be of one length."""
        return False

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, k: int, surprise: Surprise) -> Temperature:
        """η_k: a number, one for each run, or one for each run and state, such as `surprise.root()` gives."""
        raise NotImplementedError


def as_learning_rate(part: LearningRateLike) -> LearningRate:
    """A learning rate, or a function as one; or an error."""
    return as_part(part, LearningRate, "learning_rate", "one such as Adaptive()")


@dataclass(frozen=True)
class Adaptive(LearningRate):
    """η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s(x,·) − M_s(x,·)‖²)^½: the paper's equation 3.2.

    Exactly for tables. For weights, where that takes all of the past, as `SampledAdaptive` with 30 samples.
    """

    eta: float = 1.0
    norm: str = "sup"

    def check(self) -> None:
        """η must be positive, the norm known."""
        finite(0.0, strictly=True, eta=self.eta)
        one_of(NORMS, norm=self.norm)

    def __call__(self, k: int, surprise: Surprise) -> Temperature:
        """η_k(x)."""
        return surprise.root(self.eta * math.sqrt(2.0))


@dataclass(frozen=True)
class SampledAdaptive(Adaptive):
    """The paper's estimate of the adaptive rate from n_k = min(k, num_sampled) past differences.

    η̂_k(x) = η (2 (k/n_k) Σ_{s in sample} ‖Q̂_s(x,·) − M_s(x,·)‖²)^½, the sample drawn anew in each phase, without
    replacement, by each run on its own. keep_first: always take s = 1, which carries up to half of the sum, at its own
    weight; the correction is then (k − 1)/(n_k − 1), for the others.
    """

    num_sampled: int = 30
    keep_first: bool = False

    def check(self) -> None:
        """η must be positive, the norm known, the sample not empty."""
        super().check()
        at_least(2 if self.keep_first else 1, num_sampled=self.num_sampled)

    def __call__(self, k: int, surprise: Surprise) -> Temperature:
        """η̂_k(x)."""
        return surprise.sampled_root(self.eta * math.sqrt(2.0), self.num_sampled, self.keep_first)


@dataclass(frozen=True)
class Scheduled(LearningRate):
    """One temperature for all states, known beforehand: POLITEX.

    schedule: `constant`, η_k = η, greedy with η = 0; `sqrt`, η √k; `horizon`, η (K / (8 ln A))^½, the analysed one, in
    which η stands for the range of the Q-functions.
    """

    eta: float = 1.0
    schedule: str = "constant"
    num_sampled = 0

    @property
    def needs_equal_phases(self) -> bool:
        """True if the temperature grows with the number of phases."""
        return self.schedule != "constant"

    def check(self) -> None:
        """η must not be negative, the schedule known."""
        finite(0.0, eta=self.eta)
        one_of(SCHEDULES, schedule=self.schedule)

    def __call__(self, k: int, surprise: Surprise) -> Temperature:
        """η_k."""
        growth = 1.0
        if self.schedule == "sqrt":
            growth = math.sqrt(k)
        elif self.schedule == "horizon":
            if surprise.num_phases is None:
                raise InvalidInput("the horizon schedule needs a known number of phases; an agent has none: use sqrt")
            num_actions = max(2, surprise.num_actions)  # with one action any temperature will do
            growth = math.sqrt(surprise.num_phases / (8.0 * log(float(num_actions))))
        return self.eta * growth
