"""Means and variances of the rewards of every pair, where states can be counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.memory.memory import Memory, MemorySpec

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array
    from aapi.simulation import PhaseData


LARGEST = np.finfo(np.float64).max  # squares of huge rewards end here


@dataclass(frozen=True)
class TrackRewards(MemorySpec["RewardMoments"]):
    """Means and variances of the rewards of all phases, where states can be counted."""

    def start(self, space: QSpace, runs: int) -> RewardMoments:
        """No reward yet."""
        space.require_countable("variances of rewards need")
        visits, means, deviations = np.zeros((3, *space.shape(runs)))
        return RewardMoments(visits, means, deviations)


@dataclass(frozen=True, eq=False)
class RewardMoments(Memory):
    """The rewards of every pair, each of shape (runs, states, actions), by Welford's updates (1962).

    visits: n(x, a); means: r̂(x, a); deviations: Σ (r − r̂(x, a))². Where all rewards of a pair were the same, its mean
    is that reward and its deviations are 0, exactly.
    """

    visits: Array
    means: Array
    deviations: Array

    @property
    def variances(self) -> Array:
        """σ̂²(x, a) = Σ (r − r̂)² / n, 0 where nothing was seen."""
        return np.asarray(self.deviations / np.maximum(self.visits, 1.0))

    def add(self, data: PhaseData, policy: Policy) -> RewardMoments:  # noqa: ARG002 - offered to all
        """Take in the rewards of a phase, in the room of those before."""
        _add(data.states, data.actions, data.rewards, self.visits, self.means, self.deviations)
        return self

    def overall(self) -> tuple[float, float]:
        """Mean and variance of all rewards of the first run; (0, 1) before there are any, the variance never 0."""
        mean, variance = _overall(self.visits[0], self.means[0], self.deviations[0])
        return float(mean), float(variance)

    def check_steps(self, steps: int) -> None:
        """Every step is counted."""
        if not (self.visits.sum(axis=(1, 2)) == steps).all() or self.deviations.min() < 0.0:
            raise InvalidInput(f"the means of rewards are not those of {steps} steps")


@kernel
def _add(states: Any, actions: Any, rewards: Any, visits: Any, means: Any, deviations: Any) -> None:
    num_runs, steps = rewards.shape
    for run in range(num_runs):
        for t in range(steps):
            x, a, reward = states[run, t], actions[run, t], rewards[run, t]
            visits[run, x, a] += 1.0
            before = reward - means[run, x, a]
            means[run, x, a] += before / visits[run, x, a]
            more = deviations[run, x, a] + before * (reward - means[run, x, a])
            deviations[run, x, a] = min(more, LARGEST)


@kernel
def _overall(visits: Any, means: Any, deviations: Any) -> Any:
    count, centre, total = 0.0, 0.0, 0.0
    for x in range(visits.shape[0]):
        for a in range(visits.shape[1]):
            if visits[x, a] > 0.0:
                away = means[x, a] - centre
                total += deviations[x, a] + away * away * count * visits[x, a] / (count + visits[x, a])
                count += visits[x, a]
                centre += away * visits[x, a] / count
    if count == 0.0:
        return 0.0, 1.0
    variance = total / count
    return centre, variance if variance > 0.0 else (centre * centre if centre != 0.0 else 1.0)
