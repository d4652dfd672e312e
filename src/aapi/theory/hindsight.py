"""Regret where rewards change from phase to phase: against the best fixed policy in hindsight, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aapi.batch import run
from aapi.environments import ChangingRewards, ContinuousProblem
from aapi.errors import InvalidInput
from aapi.evaluation import exact_q_values
from aapi.statistics import ConfidenceBand, confidence_band
from aapi.theory.bounds import attempt
from aapi.theory.growth import Growth, doublings, regret_growth
from aapi.theory.phases import Comparator, make_comparator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aapi.array_types import Array, Integers
    from aapi.features import Features
    from aapi.learners.learner import AnyLearner
    from aapi.result import Result

DOUBLINGS = 7  # values of T


@dataclass(frozen=True, eq=False)
class Hindsight:
    """What each phase adds to the regret against π_*, optimal for r̄ = Σ_k τ_k r_k / T; gains are from where runs are:

    against: π_* of each run, its gain λ_{π_*}(r̄) and how often it visits each state. lengths: τ_k, (phases,).
    best_gains: λ_{π_*}(r_k), and gains: λ_{π_k}(r_k), (runs, phases). rewards: Σ_t r_t of each phase, (runs, phases).
    """

    against: Sequence[Comparator]
    lengths: Integers
    best_gains: Array
    gains: Array
    rewards: Array

    @property
    def gain_regret(self) -> Array:
        """τ_k (λ_{π_*}(r_k) − λ_{π_k}(r_k)), (runs, phases): no luck is in it."""
        return np.asarray(self.lengths * (self.best_gains - self.gains))

    @property
    def regret(self) -> Array:
        """τ_k λ_{π_*}(r_k) − Σ_t r_t, (runs, phases); summed up, the last of `Result.regret`."""
        return np.asarray(self.lengths * self.best_gains - self.rewards)


@dataclass(frozen=True, eq=False)
class HindsightGrowth:
    """How regret in hindsight grows, by algorithm; `refused` has a reason for each algorithm that is missing.

    growth: of regret with T. gain_regret: at the largest T, Σ_k τ_k (λ_{π_*}(r_k) − λ_{π_k}(r_k)), over runs.
    """

    growth: dict[str, Growth]
    gain_regret: dict[str, ConfidenceBand]
    refused: dict[str, str]


def hindsight_growth(
    algorithms: Mapping[str, AnyLearner], problem: ChangingRewards, num_steps: int, num_runs: int = 20, seed: int = 0,
    *, features: Features | None = None, threads: int = 1,
) -> HindsightGrowth:  # fmt: skip
    """Compare how the regret of several algorithms grows over doublings of T up to num_steps, in phases of one length.

    Where the mean over runs is not positive for some T, it has no exponent, and the algorithm is refused.
    """
    found = HindsightGrowth({}, {}, {})
    for name, learner in algorithms.items():
        grow = partial(growth_over_doublings, learner, problem, num_steps, num_runs, seed, features, threads)
        if (grown := attempt(found.refused, name, grow)) is not None:
            found.growth[name] = grown
        result = run(learner, problem, num_steps, num_runs, seed, features=features, threads=threads, record=True)
        found.gain_regret[name] = confidence_band(hindsight(result).gain_regret.sum(axis=1))
    return found


def growth_over_doublings(
    learner: AnyLearner, problem: ChangingRewards, num_steps: int, num_runs: int, seed: int,
    features: Features | None = None, threads: int = 1,
) -> Growth:  # fmt: skip
    """Of one algorithm."""
    steps = doublings(num_steps, DOUBLINGS)
    return regret_growth(
        learner, problem, steps, num_runs=num_runs, seed=seed, power=0.0, features=features, threads=threads
    )


def hindsight(result: Result) -> Hindsight:
    """Set recorded runs beside the best fixed policies for the rewards that they met."""
    problem, record = result.env, result.record
    if result.mean_rewards is None or isinstance(problem, ContinuousProblem):
        raise InvalidInput("hindsight is for problems whose rewards change; for others there is aapi.theory.analyse")
    if record is None or record.reward_tables is None:
        raise InvalidInput("the result has no record of its phases: use aapi.run(…, record=True)")
    mdp, means, each = problem.dynamics, result.mean_rewards[:, -1], np.arange(record.starts.shape[1])
    gains = [
        exact_q_values(mdp, policies, tables)[0][each, starts]
        for policies, tables, starts in zip(record.policies, record.reward_tables, record.starts, strict=True)
    ]
    different, which = np.unique(means, axis=0, return_inverse=True)  # runs often have the same
    known = [make_comparator(mdp.with_rewards(mean)) for mean in different]
    against = [known[place] for place in which.reshape(-1).tolist()]
    shares = np.array([best.distribution[:, None] * best.policy for best in against])  # of pairs, in the long run
    best_gains = np.einsum("rxa,rkxa->rk", shares, record.reward_tables)
    return Hindsight(against, np.diff(result.phase_ends, prepend=0), best_gains, np.array(gains), result.rewards)
