"""Mean and variance of the rewards of each pair, of problems with finitely many states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.memory.memory import Memory, MemorySpec

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array
    from aapi.simulation import PhaseData


@dataclass(frozen=True)
class SumRewards(MemorySpec["RewardMoments"]):
    """Keep the mean reward of each pair, and how far rewards are from it."""

    def start(self, space: QSpace, runs: int) -> RewardMoments:
        """No reward yet."""
        space.require_countable("moments of rewards need")
        number, mean, squares = np.zeros((3, *space.shape(runs)))
        return RewardMoments(number, mean, squares)


@dataclass(frozen=True, eq=False)
class RewardMoments(Memory):
    """Of each pair: n, r̄ and Σ(r − r̄)², each (runs, states, actions); updated as Welford (1962) does."""

    number: Array
    mean: Array
    squares: Array

    def add(self, data: PhaseData, policy: Policy) -> RewardMoments:  # noqa: ARG002 - offered to all
        """Add the rewards of a phase, in the room of those before."""
        _add(data.states, data.actions, data.rewards, self.number, self.mean, self.squares)
        return self

    def overall(self) -> tuple[float, float]:
        """Mean and variance of all rewards of the first run; (0, 1) before there are any, the variance never 0."""
        mean, variance = _overall(self.number[0], self.mean[0], self.squares[0])
        return float(mean), float(variance)


@kernel
def _add(states: Any, actions: Any, rewards: Any, number: Any, mean: Any, squares: Any) -> None:
    for run in range(rewards.shape[0]):
        for t in range(rewards.shape[1]):
            x, a = states[run, t], actions[run, t]
            number[run, x, a] += 1.0
            away = rewards[run, t] - mean[run, x, a]
            mean[run, x, a] += away / number[run, x, a]
            squares[run, x, a] += away * (rewards[run, t] - mean[run, x, a])


@kernel
def _overall(number: Any, mean: Any, squares: Any) -> Any:
    count, centre, total = 0.0, 0.0, 0.0
    for x in range(number.shape[0]):
        for a in range(number.shape[1]):
            if number[x, a] > 0.0:
                away = mean[x, a] - centre
                total += squares[x, a] + away * away * count * number[x, a] / (count + number[x, a])
                count += number[x, a]
                centre += away * number[x, a] / count
    if count == 0.0:
        return 0.0, 1.0
    variance = total / count
    return centre, variance if variance > 0.0 else (centre * centre if centre != 0.0 else 1.0)
