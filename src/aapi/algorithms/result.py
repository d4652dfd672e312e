"""What a batch of runs produced."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import DoesNotExist, InvalidInput
from aapi.mdp import solve
from aapi.simulation import ContinuousProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.algorithms.run import Algorithm
    from aapi.mdp import FiniteMDP

__all__ = ["Record", "Result"]


@dataclass(frozen=True, eq=False)
class Record:
    """Every phase of every run, for the theory: (runs, phases, states[, actions]).

    policies: π_k, and starts: the state in which the phase began, (runs, phases), of all phases; evaluated: which of
        them were evaluated, (phases,). The others are of those alone:
    q_hats: Q̂_k; temperatures: η_k(x); surprises: ‖Q̂_k − M_k‖; predictions: M_{k+1}; None if an algorithm has none.
    weights: what phases count, (phases,): their lengths as multiples of the first one's. Q̂_k is as it was estimated;
        the others are multiplied by the weight of their phase.
    """

    policies: NDArray[np.float64]
    starts: NDArray[np.int64]
    evaluated: NDArray[np.bool_]
    q_hats: NDArray[np.float64]
    temperatures: NDArray[np.float64] | None
    surprises: NDArray[np.float64] | None
    predictions: NDArray[np.float64] | None
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Result:
    """Rewards, curves and policies of `runs`, the numbers of the runs.

    phase_ends: the steps at which phases, and explorations before them, end, (phases,); rewards: the sum of rewards in
        each, (runs, phases).
    grid: steps; cumulated: the sum of rewards up to each of them, (runs, grid).
    surprise: (Σ_x ‖Q̂_k(x,·) − M_k(x,·)‖²/X)^½ of every phase that was evaluated, (runs, evaluated phases); None where
        there are no tables of it. The better the prediction, the lower.
    conditioning: the worst condition number of the equations of a phase, (runs,), of evaluations that tell it (LSTD).
    explored: the steps that each run spent on exploration, (runs,).
    final_policy: the policy of the last phase, (runs, states, actions), or a `LinearPolicy`; next_policy: what would
        have come next.
    record: everything about every phase, if it was asked for.
    """

    algorithm: Algorithm
    env: FiniteMDP | ContinuousProblem
    seed: int
    runs: NDArray[np.int64]
    num_steps: int
    phase_ends: NDArray[np.int64]
    rewards: NDArray[np.float64]
    grid: NDArray[np.int64]
    cumulated: NDArray[np.float64]
    explored: NDArray[np.int64]
    surprise: NDArray[np.float64] | None
    conditioning: NDArray[np.float64] | None
    final_policy: Any
    next_policy: Any
    seconds: float
    record: Record | None = None

    @property
    def average_reward(self) -> NDArray[np.float64]:
        """(1/t) Σ_{s≤t} r_s at the end of each phase, (runs, phases). The last column is the whole run's."""
        return np.asarray(np.cumsum(self.rewards, axis=1) / self.phase_ends)

    @property
    def curve(self) -> NDArray[np.float64]:
        """The paper's −(1/t) Σ_{s≤t} r_s at each step t of the grid, (runs, grid)."""
        return np.asarray(-self.cumulated / self.grid)

    @cached_property
    def optimal_gain(self) -> float:
        """λ_* from the initial state, exactly; for a continuous problem the bound it comes with, if there is one."""
        if isinstance(self.env, ContinuousProblem):
            if self.env.best_gain is None:
                raise DoesNotExist(f"the optimal gain of {self.env.name} is not known: it has no finite model")
            return self.env.best_gain
        return float(solve(self.env).gains[self.env.initial_state])

    @property
    def regret(self) -> NDArray[np.float64]:
        """Σ_{s≤t} (λ_* − r_s) at each step t of the grid, (runs, grid)."""
        return np.asarray(self.optimal_gain * self.grid - self.cumulated)

    def average_reward_since(self, fraction: float) -> NDArray[np.float64]:
        """The average reward of each run after `fraction` of its steps; 0.9 for the last tenth."""
        if not 0.0 <= fraction < 1.0:
            raise InvalidInput(f"fraction must lie in [0, 1), not {fraction}")
        start = int(fraction * self.num_steps)
        before = self.cumulated[:, np.searchsorted(self.grid, start)] if start else np.zeros(len(self.runs))
        if start and start not in self.grid:
            raise InvalidInput(f"the grid has no step {start}; pass a grid with it to run")
        return np.asarray((self.cumulated[:, -1] - before) / (self.num_steps - start))
