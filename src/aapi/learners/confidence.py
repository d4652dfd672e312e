"""Confidence sets of optimistic learners: which models what was seen leaves possible."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.kernels.elementary import log
from aapi.kernels.jit import kernel
from aapi.learners.optimism import BALL, BOX, DIVERGENCE, ModelSet, Transitions

if TYPE_CHECKING:
    from aapi.array_types import Array


NO_WIDTHS = np.zeros(0)


class Evidence(NamedTuple):
    """What one run has seen before step t = `time`, which is counted from 1.

    visits: N(x, a); rewards, variances: r̂(x, a) and σ̂²(x, a) of rewards scaled to [0, 1]; all (states, actions).
    transitions: all that were seen. num_steps: T, if it is known.
    """

    time: int
    visits: Array
    rewards: Array
    variances: Array
    transitions: Transitions
    num_steps: int | None


@dataclass(frozen=True)
class ConfidenceSet(ABC):
    """The models that are believed to be possible, with probability 1 − δ.

    delta: δ. width: what the published size of the set is multiplied by.
    """

    delta: float = 0.05
    width: float = 1.0

    @abstractmethod
    def __call__(self, seen: Evidence) -> ModelSet:
        """The set, given what was seen."""


@dataclass(frozen=True)
class Hoeffding(ConfidenceSet):
    """UCRL2's (Jaksch, Ortner and Auer 2010, equations 3 and 4), with S states, A actions and N = max(1, N(x, a)).

    |r − r̂| ≤ √(7 log(2SAt/δ)/(2N)),  Σ_x' |p(x') − p̂(x')| ≤ √(14 S log(2At/δ)/N).
    """

    def __call__(self, seen: Evidence) -> ModelSet:
        """The set, given what was seen."""
        num_states, num_actions = seen.visits.shape
        of_rewards = 3.5 * log(2.0 * num_states * num_actions * seen.time / self.delta)
        of_chances = 14.0 * num_states * log(2.0 * num_actions * seen.time / self.delta)
        radius = _roots(seen.visits, of_chances, self.width)
        return ModelSet(BALL, _highest(seen, _roots(seen.visits, of_rewards, self.width)), radius, NO_WIDTHS)


@dataclass(frozen=True)
class Bernstein(ConfidenceSet):
    """UCRL2B's (Fruit, Pirotta and Lazaric 2020), with l = log(6SAN/δ), N = max(1, N(x, a)), σ̂²_p = p̂(x')(1 − p̂(x')).

    |r − r̂| ≤ 2 σ̂_r √(l/N) + 6 l/N,  |p(x') − p̂(x')| ≤ 2 σ̂_p √(l/N) + 6 l/N.
    Where all rewards of a pair were the same, the second term alone is left.
    """

    def __call__(self, seen: Evidence) -> ModelSet:
        """The set, given what was seen."""
        of_variance, of_range = self._terms(seen)
        rewards = _highest(seen, self.width * (np.sqrt(of_variance * seen.variances.ravel()) + of_range))
        widths = _widths(seen.transitions.begins, seen.transitions.chances, of_variance, of_range, self.width)
        return ModelSet(BOX, rewards, self.width * of_range, widths)

    def _terms(self, seen: Evidence) -> tuple[Array, Array]:
        """What multiplies a variance under the root, and what is added to the root; both (pairs,)."""
        visits = np.maximum(seen.visits, 1.0).ravel()
        logs = _logs(visits * (6.0 * seen.visits.size / self.delta))
        return 4.0 * logs / visits, 6.0 * logs / visits


@dataclass(frozen=True)
class EarlyBernstein(Bernstein):
    """SCAL's (Fruit, Pirotta, Lazaric and Ortner 2018), with l = log(2SAt/δ), N = max(1, N(x, a)), M = max(1, N − 1).

    |r − r̂| ≤ σ̂_r √(14 l/N) + 49 l/(3M),  |p(x') − p̂(x')| ≤ σ̂_p √(14 l/N) + 49 l/(3M).
    """

    def _terms(self, seen: Evidence) -> tuple[Array, Array]:
        logs = log(2.0 * seen.visits.size * seen.time / self.delta)
        visits = seen.visits.ravel()
        return 14.0 * logs / np.maximum(visits, 1.0), 49.0 * logs / (3.0 * np.maximum(visits - 1.0, 1.0))


@dataclass(frozen=True)
class KullbackLeibler(ConfidenceSet):
    """KL-UCRL's (Filippi, Cappé and Garivier 2010), with N = max(1, N(x, a)) and B = log(2e S² A log(T)/δ).

    |r − r̂| ≤ √(log(4SA log(T)/δ)/(1.99 N)),  Σ_x' p̂(x') log(p̂(x')/p(x')) ≤ C/N,
    C = S (B + log(B + 1/log T)(1 + 1/(B + 1/log T))). A divergence is like a squared distance: width² multiplies it.
    """

    def __call__(self, seen: Evidence) -> ModelSet:
        """The set, given what was seen."""
        num_states = len(seen.visits)
        visits, log_time = np.maximum(seen.visits, 1.0).ravel(), log(float(max(2, seen.num_steps or seen.time)))
        b = log(2.0 * math.e * num_states * seen.visits.size * log_time / self.delta)
        inner = b + 1.0 / log_time
        radius = num_states * (b + log(inner) * (1.0 + 1.0 / inner)) / visits
        of_rewards = log(4.0 * seen.visits.size * log_time / self.delta) / 1.99
        rewards = _highest(seen, _roots(seen.visits, of_rewards, self.width))
        return ModelSet(DIVERGENCE, rewards, self.width * self.width * radius, NO_WIDTHS)


def _highest(seen: Evidence, margins: Array) -> Array:
    """min(1, r̂ + margin), and 1 for pairs that were never tried; (pairs,)."""
    highest: Array = _with_margins(seen.visits.ravel(), seen.rewards.ravel(), margins)
    return highest


@kernel
def _roots(visits: Any, value: Any, width: Any) -> Any:
    """width √(value/N), (pairs,)."""
    flat, found = visits.ravel(), np.empty(visits.size)
    for pair in range(flat.size):
        found[pair] = width * math.sqrt(value / max(flat[pair], 1.0))
    return found


@kernel
def _with_margins(visits: Any, rewards: Any, margins: Any) -> Any:
    highest = np.ones(visits.size)
    for pair in range(visits.size):
        if visits[pair] > 0.0:
            highest[pair] = min(rewards[pair] + margins[pair], 1.0)
    return highest


@kernel
def _widths(begins: Any, chances: Any, of_variance: Any, of_range: Any, width: Any) -> Any:
    widths = np.empty(chances.size)
    for pair in range(begins.size - 1):
        for e in range(begins[pair], begins[pair + 1]):
            spread = of_variance[pair] * (chances[e] * (1.0 - chances[e]))
            widths[e] = width * (math.sqrt(spread) + of_range[pair])
    return widths


@kernel
def _logs(values: Any) -> Any:
    found = np.empty(values.size)
    for i in range(values.size):
        found[i] = log(values[i])
    return found
