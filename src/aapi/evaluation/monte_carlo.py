"""Least-squares Monte Carlo: regression from features to truncated returns, the paper's choice of G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation.linear import NormalEquations
from aapi.evaluation.regression import factorise, fill_gram, fill_rhs, predict, singular_regression, solve_factorised
from aapi.simulation.basis import Basis
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["MonteCarlo", "fill_returns"]


@dataclass(frozen=True)
class MonteCarlo:
    """Q̂ = φᵀw with w = argmin Σ_t (φ(x_t, a_t)ᵀw − G_t)² + ridge ‖w‖².

    G_t = Σ_{i=t}^{t+H−1} (r_i − c), every visit t whose window lies in the phase. H is `horizon`; c is the phase's mean
    reward if `centre`, else 0. With one-hot features this is an average, and pairs without data get the value 0.
    """

    horizon: int
    centre: bool = False
    ridge: float = 1.0

    def check(self, phase_length: int) -> None:
        """Refuse arguments that leave nothing to regress on."""
        at_least(1, horizon=self.horizon)
        finite(0.0, ridge=self.ridge)
        if self.horizon > phase_length:
            raise InvalidInput(
                f"horizon must be at most the phase length, {phase_length}, not {self.horizon}: "
                "no window of returns would fit"
            )

    def __call__(self, simulation: Simulation, policy: Any, data: PhaseData) -> NDArray[np.float64]:
        """Q̂_k, of shape (runs, states, actions); or its weights, (runs, features, actions)."""
        q_hat = np.empty(simulation.shape)
        features = simulation.features
        if isinstance(features, Basis):
            return self._regress_on_vectors(features, data, q_hat)
        what = data.states, data.actions, data.rewards, int(self.horizon), bool(self.centre), float(self.ridge)
        if features.one_hot:
            _average(*what, q_hat)
        elif not _regress(
            *what, features.starts, features.columns, features.values, features.num_blocks, features.block_size, q_hat
        ):
            raise singular_regression(self.ridge)
        return q_hat

    def _regress_on_vectors(self, basis: Basis, data: PhaseData, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        targets = np.empty((len(weights), data.rewards.shape[1] - int(self.horizon) + 1))
        fill_returns(data.rewards, int(self.horizon), bool(self.centre), targets)
        equations = NormalEquations(basis)
        for run, action in np.ndindex(weights.shape[0], weights.shape[2]):
            # An action that was not taken has the weights 0.
            visits = equations.fill(data.states[run], data.actions[run], targets[run], action)
            if visits and not equations.solve(float(self.ridge)):
                raise singular_regression(self.ridge)
            weights[run, :, action] = equations.rhs
        return weights


@kernel
def _cumulate(rewards: Any, horizon: Any, centre: Any, cumulated: Any) -> Any:
    """One run's cumulated rewards, steps + 1 numbers, and what to subtract from each return."""
    total = 0.0
    cumulated[0] = total
    for t in range(rewards.size):
        total += rewards[t]
        cumulated[t + 1] = total
    return horizon * (total / rewards.size) if centre else 0.0


@kernel
def fill_returns(rewards: Any, horizon: Any, centre: Any, returns: Any) -> None:
    """G_t of every run, for every t whose window lies in the phase."""
    cumulated = np.empty(rewards.shape[1] + 1)
    for run in range(returns.shape[0]):
        baseline = _cumulate(rewards[run], horizon, centre, cumulated)
        for t in range(returns.shape[1]):
            returns[run, t] = (cumulated[t + horizon] - cumulated[t]) - baseline


@kernel
def _sum_returns(
    states: Any, actions: Any, rewards: Any, horizon: Any, centre: Any, cumulated: Any, visits: Any, returns: Any
) -> None:
    """One run's visits of each pair, and the sum of returns from there. cumulated: room for steps + 1 numbers."""
    steps = rewards.size
    baseline = _cumulate(rewards, horizon, centre, cumulated)
    visits[:] = 0.0
    returns[:] = 0.0
    for t in range(steps - horizon + 1):
        x, a = np.uint32(states[t]), np.uint32(actions[t])  # unsigned: no check for negative indices
        visits[x, a] += 1.0
        returns[x, a] += (cumulated[t + horizon] - cumulated[t]) - baseline


@kernel
def _average(states: Any, actions: Any, rewards: Any, horizon: Any, centre: Any, ridge: Any, q_hat: Any) -> None:
    """One-hot features: the regression is Σ G / (visits + ridge) for each pair."""
    num_runs, num_states, num_actions = q_hat.shape
    cumulated = np.empty(rewards.shape[1] + 1)
    visits = np.empty((num_states, num_actions))
    for run in range(num_runs):
        q = q_hat[run]
        _sum_returns(states[run], actions[run], rewards[run], horizon, centre, cumulated, visits, q)
        for x in range(num_states):
            for a in range(num_actions):
                if visits[x, a] > 0.0:
                    q[x, a] /= visits[x, a] + ridge


@kernel
def _regress(
    states: Any, actions: Any, rewards: Any, horizon: Any, centre: Any, ridge: Any, starts: Any, columns: Any,
    values: Any, num_blocks: Any, block_size: Any, q_hat: Any,
) -> Any:  # fmt: skip
    """Sparse features: normal equations per block, by Cholesky. False if one of them is singular."""
    num_runs, num_states, num_actions = q_hat.shape
    cumulated = np.empty(rewards.shape[1] + 1)
    visits = np.empty((num_states, num_actions))
    gram = np.empty((num_blocks, block_size, block_size))
    weights = np.empty((num_blocks, block_size))
    for run in range(num_runs):
        q = q_hat[run]
        _sum_returns(states[run], actions[run], rewards[run], horizon, centre, cumulated, visits, q)
        fill_gram(visits, starts, columns, values, gram)
        fill_rhs(q, starts, columns, values, weights)
        for block in range(num_blocks):
            if not factorise(gram[block], ridge):
                return False
            solve_factorised(gram[block], weights[block])
        predict(weights, starts, columns, values, q)
    return True
