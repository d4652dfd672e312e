"""The range of rewards, for learners that have to know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.errors import InvalidInput
from aapi.mdp.arrays import LARGEST

if TYPE_CHECKING:
    from aapi.approximation import QSpace


ROUNDING = 1e-6  # by which a reward may be beyond the range, as a share of the largest
TINIEST = 1e-140  # range of rewards that can be squared, and summed; the largest is its inverse


@dataclass(frozen=True, kw_only=True)
class RewardRange:
    """Two settings of a learner that has to know how low and how high rewards can be.

    reward_low: the lowest reward there can be; if not given, the model's. reward_high: the highest reward there can be.
    """

    reward_low: float | None = None
    reward_high: float | None = None

    def reward_range(self, space: QSpace) -> tuple[float, float]:
        """The lowest and the highest reward there can be: as given, else as the model says; or an error."""
        low, high = self.reward_low, self.reward_high
        if space.model is not None:
            lowest, highest = space.model.reward_range
            low = lowest if low is None else low
            high = highest if high is None else high
        if low is None or high is None:
            raise InvalidInput("the range of rewards is not known: give reward_low and reward_high")
        finite(-np.inf, reward_low=low, reward_high=high)
        if not low <= high:
            raise InvalidInput(f"reward_low, {low:g}, must not be larger than reward_high, {high:g}")
        for name, value in (("reward_low", low), ("reward_high", high)):
            if abs(value) > LARGEST:
                raise InvalidInput(f"{name} must lie between {-LARGEST:g} and {LARGEST:g}, not {value:g}")
        return float(low), float(high)


def check_seen(low: float, high: float, lowest: float, highest: float) -> None:
    """Raise an error if the rewards seen, from lowest to highest, are not all within the range."""
    slack = ROUNDING * max(abs(low), abs(high))  # of rewards in single precision
    if lowest < low - slack or highest > high + slack:
        below = lowest < low - slack
        name, value, bound = ("reward_low", lowest, low) if below else ("reward_high", highest, high)
        raise InvalidInput(f"a reward of {value!r} was seen, beyond {name}, {bound!r}: give the range of all rewards")


def check_squares(name: str, low: float, high: float) -> None:
    """Raise an error if rewards are too large or too small for a learner that squares them."""
    size = (high - low) or abs(high)
    if size > 0.0 and not TINIEST <= size <= 1.0 / TINIEST:
        raise InvalidInput(f"rewards from {low:g} to {high:g} cannot be squared, as {name} does: scale them to 1 or so")
