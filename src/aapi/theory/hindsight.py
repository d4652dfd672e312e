"""Regret where rewards change from phase to phase: against the best fixed policy in hindsight, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.environments import ContinuousProblem
from aapi.errors import InvalidInput
from aapi.evaluation import exact_q_values
from aapi.theory.phases import Comparator, make_comparator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.array_types import Array, Integers
    from aapi.result import Result


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
