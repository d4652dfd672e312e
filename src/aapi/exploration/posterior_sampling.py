"""Exploration by posterior sampling: act optimally in a model drawn from what the data leaves possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import finite
from aapi.exploration.exploration import Exploration, sent_out, within_budget
from aapi.exploration.planning import plan
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw
from aapi.memory.model import sampled_model

if TYPE_CHECKING:
    from aapi.exploration.exploration import Excursion, Situation


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
        runs = np.flatnonzero(situation.free & within_budget(situation, self.budget))
        if not runs.size:
            return None
        weights, _ = sampled_model(counts, float(self.prior), streams, runs)
        spread = counts.highest - counts.lowest
        dream = np.where(spread > 0.0, 2.0 * spread, 1.0)
        # From the lowest on: plans are as accurate as gains are large, and a constant would swallow all differences.
        known = counts.earned / np.maximum(counts.visits, 1.0) - counts.lowest[:, None, None]
        rewards = np.where(counts.visits > 0.0, known, dream[:, None, None])
        elsewhere, policies = np.zeros(rewards.shape), np.empty_like(rewards)
        _draw_where(counts.seen, streams, runs, elsewhere)
        plan(counts, runs, weights, rewards, elsewhere, policies)
        return sent_out(runs, policies)


@kernel
def _draw_where(seen: Any, streams: Any, runs: Any, out: Any) -> None:
    """A number in [0, 1) for every pair of a state seen."""
    for run in runs:
        for x in range(out.shape[1]):
            if seen[run, x]:
                for a in range(out.shape[2]):
                    out[run, x, a] = draw(streams[run])
