"""Learning rates η_k(x): the temperature of the next policy in each state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aapi.checks import at_least, finite, one_of
from aapi.improvement.history import NORMS
from aapi.simulation.jit import kernel
from aapi.simulation.random import sample_without_replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.improvement.history import QHistory

__all__ = ["SCHEDULES", "Adaptive", "LearningRate", "SampledAdaptive", "Scheduled"]

SCHEDULES = ("constant", "sqrt", "horizon")


class LearningRate(Protocol):
    """The temperatures after phase k.

    norm: how surprise is measured, `sup` or `span`.
    keep_surprises: whether the history has to keep the surprise of every phase.
    """

    @property
    def norm(self) -> str:
        """`sup` or `span`."""

    @property
    def keep_surprises(self) -> bool:
        """Whether the history has to keep the surprise of every phase."""

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """η_k(x), of shape (runs, states)."""


@dataclass(frozen=True)
class Adaptive:
    """η_k(x) = η (2 Σ_{s≤k} ‖Q̂_s(x,·) − M_s(x,·)‖²)^½, exactly: the paper's equation 3.2."""

    eta: float = 1.0
    norm: str = "sup"
    keep_surprises = False

    def check(self) -> None:
        """η must be positive, the norm known."""
        finite(0.0, strictly=True, eta=self.eta)
        one_of(NORMS, norm=self.norm)

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """η_k(x), of shape (runs, states)."""
        return self.eta * math.sqrt(2.0) * history.root_sum


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
    keep_surprises = True

    def check(self) -> None:
        """η must be positive, the norm known, the sample not empty."""
        finite(0.0, strictly=True, eta=self.eta)
        one_of(NORMS, norm=self.norm)
        at_least(2 if self.keep_first else 1, num_sampled=self.num_sampled)

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """η̂_k(x), of shape (runs, states)."""
        count = min(history.phase, self.num_sampled)
        temperature = np.empty_like(history.root_sum)
        _sampled_root(history.surprises, history.phase, count, self.keep_first, history.streams, temperature)
        return self.eta * math.sqrt(2.0) * temperature


@dataclass(frozen=True)
class Scheduled:
    """One temperature for all states, known beforehand: POLITEX.

    schedule: `constant`, η_k = η, greedy with η = 0; `sqrt`, η √k; `horizon`, η (K / (8 ln A))^½, the analysed one, in
    which η stands for the range of the Q-functions.
    """

    eta: float = 1.0
    schedule: str = "constant"
    norm = "sup"
    keep_surprises = False

    def check(self) -> None:
        """η must not be negative, the schedule known."""
        finite(0.0, eta=self.eta)
        one_of(SCHEDULES, schedule=self.schedule)

    def __call__(self, history: QHistory) -> NDArray[np.float64]:
        """η_k, of shape (runs, states)."""
        num_actions = max(2, history.total.shape[2])  # with one action any temperature will do
        growth = {
            "constant": 1.0,
            "sqrt": math.sqrt(history.phase),
            "horizon": math.sqrt(history.num_phases / (8.0 * math.log(num_actions))),
        }
        return np.full_like(history.root_sum, self.eta * growth[self.schedule])


@kernel
def _sampled_root(surprises: Any, phase: Any, count: Any, keep_first: Any, streams: Any, out: Any) -> None:
    num_runs, num_states = out.shape
    sample = np.empty(count, dtype=np.int64)
    kept = 1 if keep_first else 0
    for run in range(num_runs):
        if count == phase:
            for i in range(count):
                sample[i] = i
        else:
            sample_without_replacement(streams[run], phase - kept, sample[kept:])
            for i in range(kept, count):
                sample[i] += kept
            if keep_first:
                sample[0] = 0
        for x in range(num_states):
            largest = 0.0
            for s in sample:
                largest = max(largest, surprises[s, run, x])
            total = 0.0
            if largest > 0.0:
                for i in range(kept, count):
                    ratio = surprises[sample[i], run, x] / largest
                    total += ratio * ratio
                if count > kept:
                    total = total * (phase - kept) / (count - kept)
                if keep_first:
                    ratio = surprises[0, run, x] / largest
                    total += ratio * ratio
            out[run, x] = largest * math.sqrt(total)
