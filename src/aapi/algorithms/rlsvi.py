"""RLSVI: randomised least-squares value iteration (Osband, Van Roy and Wen 2016), for tasks without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.algorithms.policy_iteration import Phase, uniform_policy
from aapi.checks import at_least, finite, one_of
from aapi.evaluation.regression import (
    factorise,
    fill_gram,
    fill_rhs,
    predict,
    singular_regression,
    solve_factorised,
    solve_upper,
)
from aapi.improvement import boltzmann
from aapi.simulation.jit import kernel
from aapi.simulation.random import fill_normal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from aapi.simulation import FiniteSimulation, PhaseData

__all__ = ["FORMS", "RLSVI"]

FORMS = ("relative", "finite-horizon", "discounted")


@dataclass(frozen=True, kw_only=True)
class RLSVI:
    """Act greedily in a randomised estimate of Q_*, drawn anew before each phase from all past data.

    A draw is `horizon` sweeps of regression, from θ̃ = 0, each with its own noise:
    b_i = r_i + max_a φ(x'_i, a)ᵀθ̃,  Σ = (ΦᵀΦ/σ² + ridge · I)⁻¹,  θ̃ ~ N(Σ Φᵀb/σ², Σ).
    The paper does not say how it was run without a horizon. form: `relative` subtracts the visit-weighted mean value
    after each sweep; `finite-horizon` does not; `discounted` multiplies values by 1 − 1/horizon.

    The first policy is uniform, as in all other algorithms: without data, a draw is noise of size 1/√ridge.
    Data enters through counts of transitions, so that the cost of a phase does not grow with time.
    """

    phase_length: int
    horizon: int
    form: str = "relative"
    ridge: float = 1.0
    noise_variance: float = 1.0

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length, horizon=self.horizon)
        one_of(FORMS, form=self.form)
        finite(0.0, strictly=True, ridge=self.ridge, noise_variance=self.noise_variance)

    def phases(self, simulation: FiniteSimulation, num_steps: int) -> Iterator[Phase]:
        """One Phase per draw. The steps left over at the end are spent with the last policy."""
        counts = np.zeros((simulation.shape[0], len(simulation.tables.successors)))
        num_phases, left_over = divmod(num_steps, self.phase_length)
        greedy = np.zeros(simulation.shape[:2])
        q_hat = np.zeros(simulation.shape)
        policy = uniform_policy(simulation)
        for k in range(1, num_phases + 1):
            data = simulation.rollout(policy, self.phase_length)
            _add_counts(simulation, data, counts)
            next_q_hat = self._draw(simulation, counts)
            next_policy = boltzmann(next_q_hat, greedy)
            yield Phase(k, policy, data, next_policy, q_hat)
            policy, q_hat = next_policy, next_q_hat
        if left_over:
            yield Phase(num_phases + 1, policy, simulation.rollout(policy, left_over), policy)

    def _draw(self, simulation: FiniteSimulation, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        q_hat = np.zeros(simulation.shape)
        features = simulation.features
        discount = 1.0 - 1.0 / self.horizon if self.form == "discounted" else 1.0
        if not _sweep(
            simulation.tables.starts, simulation.tables.successors, counts, simulation.mdp.rewards, features.starts,
            features.columns, features.values, features.num_blocks, features.block_size, features.one_hot,
            int(self.horizon), discount, self.form == "relative", float(self.ridge), float(self.noise_variance),
            simulation.streams, q_hat,
        ):  # fmt: skip
            raise singular_regression(self.ridge)
        return q_hat


def _add_counts(simulation: FiniteSimulation, data: PhaseData, counts: NDArray[np.float64]) -> None:
    tables = simulation.tables
    _count(tables.starts, tables.successors, data.states, data.actions, data.last_state, simulation.shape[2], counts)


@kernel
def _count(
    starts: Any, successors: Any, states: Any, actions: Any, last_state: Any, num_actions: Any, counts: Any
) -> None:
    """Count each observed transition at its place among the successors of its pair, which ascend."""
    num_runs, steps = states.shape
    for run in range(num_runs):
        for t in range(steps):
            after = states[run, t + 1] if t + 1 < steps else last_state[run]
            pair = states[run, t] * num_actions + actions[run, t]
            low, high = starts[pair], starts[pair + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if successors[middle] < after:
                    low = middle + 1
                else:
                    high = middle
            counts[run, low] += 1.0


@kernel
def _sweep(
    starts: Any, successors: Any, counts: Any, rewards: Any, firsts: Any, columns: Any, values: Any, num_blocks: Any,
    block_size: Any, one_hot: Any, sweeps: Any, discount: Any, relative: Any, ridge: Any, variance: Any, streams: Any,
    q_hat: Any,
) -> Any:  # fmt: skip
    """A draw for every run. False if a regression is singular."""
    num_runs, num_states, num_actions = q_hat.shape
    visits = np.empty((num_states, num_actions))
    targets = np.empty((num_states, num_actions))
    best = np.empty(num_states)
    size = 0 if one_hot else block_size
    gram = np.empty((num_blocks, size, size))
    weights = np.empty((num_blocks, block_size))
    noise = np.empty((num_blocks, block_size))
    for run in range(num_runs):
        q = q_hat[run]
        _visits(starts, counts[run], visits)
        if not one_hot:
            fill_gram(visits, firsts, columns, values, gram)
            for block in range(num_blocks):
                gram[block] /= variance
                if not factorise(gram[block], ridge):
                    return False
        best[:] = 0.0
        for _ in range(sweeps):
            fill_normal(streams[run], noise.ravel())
            _targets(starts, successors, counts[run], visits, rewards, best, targets)
            fill_rhs(targets, firsts, columns, values, weights)
            weights /= variance
            if one_hot:  # Σ is diagonal
                for x in range(num_states):
                    for a in range(num_actions):
                        precision = visits[x, a] / variance + ridge
                        weights[a, x] = weights[a, x] / precision + noise[a, x] / math.sqrt(precision)
            else:
                for block in range(num_blocks):
                    solve_factorised(gram[block], weights[block])
                    solve_upper(gram[block], noise[block])
                weights += noise
            predict(weights, firsts, columns, values, q)
            total = 0.0
            visited = 0.0
            for x in range(num_states):
                best[x] = q[x].max()
                total += visits[x].sum() * best[x]
                visited += visits[x].sum()
            offset = total / visited if relative and visited > 0.0 else 0.0
            for x in range(num_states):
                best[x] = discount * (best[x] - offset)
    return True


@kernel
def _visits(starts: Any, counts: Any, visits: Any) -> None:
    """How often each pair was visited."""
    num_states, num_actions = visits.shape
    for x in range(num_states):
        for a in range(num_actions):
            pair = x * num_actions + a
            visits[x, a] = 0.0
            for j in range(starts[pair], starts[pair + 1]):
                visits[x, a] += counts[j]


@kernel
def _targets(starts: Any, successors: Any, counts: Any, visits: Any, rewards: Any, best: Any, targets: Any) -> None:
    """Σ_i b_i over the visits i of each pair, b_i = r_i + best(x'_i)."""
    num_states, num_actions = visits.shape
    for x in range(num_states):
        for a in range(num_actions):
            pair = x * num_actions + a
            targets[x, a] = visits[x, a] * rewards[x, a]
            if visits[x, a] > 0.0:
                for j in range(starts[pair], starts[pair + 1]):
                    if counts[j] > 0.0:
                        targets[x, a] += counts[j] * best[successors[j]]
