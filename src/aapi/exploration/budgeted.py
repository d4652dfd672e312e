"""Explorations that may take a part of all steps: of what was visited least, of models that may be right, at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import finite
from aapi.exploration.exploration import Excursion, Exploration, sent_out
from aapi.exploration.planning import plan
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw
from aapi.memory.model import average_probabilities, sampled_model

if TYPE_CHECKING:
    from aapi.array_types import Integers
    from aapi.exploration.exploration import Situation


def within_budget(situation: Situation, budget: float) -> Integers:
    """The free runs that explored less than budget · (t m A)^½ steps, after t of them, m states and A actions."""
    counts = situation.counts
    pairs = counts.seen.sum(axis=1) * counts.visits.shape[2]
    return np.flatnonzero(situation.free & (situation.explored < budget * np.sqrt(float(counts.steps) * pairs)))


@dataclass(frozen=True)
class FewestVisits(Exploration):
    """Act optimally for the reward 1/(n + 1), n counting visits, while exploration took less than budget · (t m A)^½.

    t are the steps so far, m the states seen and A the actions. Every pair that can be reached is visited again and
    again, at a price that is small against t.
    """

    budget: float = 0.25

    def check(self) -> None:
        """The budget must not be negative."""
        finite(0.0, budget=self.budget)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Send runs to where they were least."""
        counts = situation.counts
        runs = within_budget(situation, self.budget)
        if not runs.size:
            return None
        return sent_out(runs, plan(counts, runs, average_probabilities(counts), 1.0 / (counts.visits + 1.0))[0])


@dataclass(frozen=True)
class UniformShare(Exploration):
    """Act at random while exploration took less than `share` of all steps.

    In the spirit of exploration-enhanced POLITEX (Abbasi-Yadkori, Lazic, Szepesvári and Weisz 2019), which adds the
    data of a fixed exploration policy to every phase.
    """

    share: float = 0.1

    def check(self) -> None:
        """The share must not be negative."""
        finite(0.0, share=self.share)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Uniform policies."""
        counts = situation.counts
        runs = situation.free & (situation.explored < self.share * counts.steps)
        return Excursion(runs, np.full_like(counts.visits, 1.0 / counts.visits.shape[2]))


@dataclass(frozen=True)
class PosteriorSampling(Exploration):
    """Thompson sampling (Strens 2000; Osband, Russo and Van Roy 2013), on a budget.

    That is, while exploration took less than budget · (t m A)^½ of t steps, with m states seen and A actions.
    Of each pair, the probabilities of successors have a Dirichlet distribution with the counts as parameters, and
    `prior` for a state drawn at random from those seen. Pairs that were never tried pay more than anything seen. Once
    the data leaves little possible, such a policy is nearly optimal, and so its exploration nearly free.
    """

    budget: float = 1.0
    prior: float = 1.0

    def check(self) -> None:
        """The budget must not be negative, the prior positive."""
        finite(0.0, budget=self.budget)
        finite(0.0, strictly=True, prior=self.prior)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Let runs act as if a model that may be right were right."""
        counts, streams = situation.counts, situation.streams
        runs = within_budget(situation, self.budget)
        if not runs.size:
            return None
        weights, _ = sampled_model(counts, float(self.prior), streams, runs)
        spread = counts.highest - counts.lowest
        dream = np.where(spread > 0.0, 2.0 * spread, 1.0)
        # From the lowest on: plans are as accurate as gains are large, and a constant would swallow all differences.
        known = counts.earned / np.maximum(counts.visits, 1.0) - counts.lowest[:, None, None]
        rewards = np.where(counts.visits > 0.0, known, dream[:, None, None])
        elsewhere = np.zeros(rewards.shape)
        _draw_where(counts.seen, streams, runs, elsewhere)
        return sent_out(runs, plan(counts, runs, weights, rewards, elsewhere)[0])


@kernel
def _draw_where(seen: Any, streams: Any, runs: Any, out: Any) -> None:
    """A number in [0, 1) for every pair of a state seen."""
    for run in runs:
        for x in range(out.shape[1]):
            if seen[run, x]:
                for a in range(out.shape[2]):
                    out[run, x, a] = draw(streams[run])
