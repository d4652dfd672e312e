"""Rolling a batch of runs through a finite MDP whose rewards change from phase to phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.simulation.data import NO_GRID
from aapi.simulation.finite import FiniteSimulation, TransitionTables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.approximation import Tabular
    from aapi.array_types import Array, Integers
    from aapi.environments import ChangingRewards
    from aapi.simulation.data import Stretch


class ChangingSimulation(FiniteSimulation):
    """The same step loop with a table of rewards for each phase; an exploration has that of the phase it is before."""

    def __init__(
        self, problem: ChangingRewards, space: Tabular, tables: TransitionTables, seed: int, runs: Sequence[int],
        grid: Integers = NO_GRID,
    ) -> None:  # fmt: skip
        super().__init__(problem.mdp, space, tables, seed, runs, grid)
        self.problem = problem
        self._phase, self._table = 0, problem.mdp.rewards
        self._policies = np.empty((len(runs), 0, *problem.mdp.rewards.shape))  # of phases so far, and room for more
        self._count = 0

    def reward_table(self, stretch: Stretch) -> Array:
        """r_k, (states, actions); where rewards react, (runs, states, actions)."""
        if stretch.number != self._phase:
            self._phase, self._table = stretch.number, self._next_table(stretch)
        return self._table

    def _next_table(self, stretch: Stretch) -> Array:
        if not self.problem.reacts:
            return self.problem.in_phase(stretch.number)
        self._add(self.space.check_policy(stretch.policy, len(self.state)))
        so_far = self._policies[:, : self._count].view()
        so_far.flags.writeable = False
        return np.array([self.problem.in_phase(stretch.number, policies) for policies in so_far])

    def _add(self, policy: Array) -> None:
        """Take in π_k of every run; room is doubled where there is none."""
        if self._count == self._policies.shape[1]:
            room = np.empty((len(policy), max(16, 2 * self._count), *policy.shape[1:]))
            room[:, : self._count] = self._policies
            self._policies = room
        self._policies[:, self._count] = policy
        self._count += 1
