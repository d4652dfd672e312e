"""How a fixed policy does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers


BATCHES = 20


@dataclass(frozen=True, eq=False)
class Score:
    """Rewards and actions of each step, (steps,), and the lengths and returns of the episodes that ended."""

    rewards: Array
    actions: Integers
    num_actions: int
    lengths: tuple[int, ...]
    returns: tuple[float, ...]

    @property
    def average_reward(self) -> float:
        """(1/T) Σ r."""
        return float(self.rewards.mean())

    @cached_property
    def standard_error(self) -> float | None:
        """Of the average, from the means of 20 batches of steps; None for short runs.

        Batches shorter than the task's memory, an episode for one, are not independent, and this is then too small.
        """
        size = len(self.rewards) // BATCHES
        if size < 10:
            return None
        means = self.rewards[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
        return float(means.std(ddof=1) / math.sqrt(BATCHES))

    @property
    def episode_length(self) -> float | None:
        """The mean, if an episode ended."""
        return float(np.mean(self.lengths)) if self.lengths else None

    @property
    def episode_return(self) -> float | None:
        """The mean sum of the environment's own rewards, if an episode ended."""
        return float(np.mean(self.returns)) if self.returns else None

    @property
    def action_shares(self) -> list[float]:
        """How often each action was taken."""
        counts = np.bincount(self.actions, minlength=self.num_actions)
        return [float(share) for share in counts / len(self.actions)]
