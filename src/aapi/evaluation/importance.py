"""Least-squares Monte Carlo from the steps of other policies, by importance weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation.equations import add_row
from aapi.evaluation.linear import add_sparse
from aapi.evaluation.monte_carlo import fill_returns
from aapi.evaluation.regression import (
    add_product,
    factorise,
    fill_gram,
    fill_rhs,
    predict,
    singular_regression,
    solve_factorised,
)
from aapi.memory import KeepSteps
from aapi.memory.window import chances_of
from aapi.simulation.basis import TILES, Basis, fill_features
from aapi.simulation.jit import kernel
from aapi.simulation.linear_policy import aligned_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.features.active import ActiveFeatures
    from aapi.memory import Window
    from aapi.simulation import Simulation

__all__ = ["ImportanceMonteCarlo"]

BLOCK = 32  # visits that are taken in together


@dataclass(frozen=True)
class ImportanceMonteCarlo:
    """Q̂ = φᵀw with w = argmin Σ_t u_t (φ(x_t, a_t)ᵀw − G_t)² + ridge ‖w‖², over the last `window` steps.

    G_t = Σ_{i=t}^{t+H−1} (r_i − c) as in `MonteCarlo`, c being the mean reward of the window if `centre`, and
    u_t = min(clip, Π_{i=t+1}^{t+H−1} π(a_i|x_i)/b(a_i|x_i)), where b is the policy that acted. The first action has no
    part in it: Q̂ is about what follows. window: None for the last phase, whose b is π; then this is `MonteCarlo`.

    It is sound where b left every action possible that π takes, and for short horizons: products of H − 1 ratios vary
    the more, the longer they are and the further π is from b. Clipping bounds what a single return can count, and so
    the variance; it biases Q̂ towards the policies that acted. c, too, is their mean reward rather than π's.
    """

    horizon: int
    window: int | None = 10_000
    centre: bool = False
    ridge: float = 1.0
    clip: float = 10.0
    off_policy = True

    @property
    def remembers(self) -> KeepSteps:
        """The steps of the window, and how likely each action was."""
        return KeepSteps(self.window, chances=True)

    def check(self, phase_length: int) -> None:
        """Refuse arguments that leave nothing to regress on."""
        at_least(1, horizon=self.horizon)
        finite(0.0, ridge=self.ridge)
        finite(0.0, strictly=True, clip=self.clip)
        if self.window is not None:
            at_least(1, window=self.window)
        shortest = phase_length if self.window is None else min(phase_length, self.window)
        if self.horizon > shortest:
            raise InvalidInput(
                f"horizon must be at most the phase length and the window, {shortest}, not {self.horizon}: "
                "no window of returns would fit"
            )

    def __call__(self, simulation: Simulation, policy: Any, data: Window) -> NDArray[np.float64]:
        """Q̂_k, of shape (runs, states, actions); or its weights, (runs, features, actions)."""
        features, q_hat = simulation.features, np.empty(simulation.shape)
        returns = np.empty((len(q_hat), data.rewards.shape[1] - int(self.horizon) + 1))
        fill_returns(data.rewards, int(self.horizon), bool(self.centre), returns)
        ratios = chances_of(policy, features, data.states, data.actions) / data.chances
        weights = np.empty_like(returns)
        _fill_weights(ratios, int(self.horizon), float(self.clip), weights)
        for run in range(len(q_hat)):
            what = data.states[run], data.actions[run], returns[run], weights[run]
            regress = _regress_on_vectors if isinstance(features, Basis) else _regress_on_tables
            if not regress(features, *what, float(self.ridge), q_hat[run]):
                raise singular_regression(self.ridge)
        return q_hat


def _regress_on_tables(
    features: ActiveFeatures, states: Any, actions: Any, returns: Any, weights: Any, ridge: float, q_hat: Any
) -> bool:
    """Sums over the visits of each pair; with one-hot features, the regression is an average."""
    visits = np.zeros(q_hat.shape)
    q_hat[:] = 0.0
    _sum_returns(states, actions, returns, weights, visits, q_hat)
    if features.one_hot:
        np.divide(q_hat, visits + ridge, out=q_hat, where=visits > 0.0)
        return True
    active = features.starts, features.columns, features.values
    gram = np.empty((features.num_blocks, features.block_size, features.block_size))
    rhs = np.empty((features.num_blocks, features.block_size))
    fill_gram(visits, *active, gram)
    fill_rhs(q_hat, *active, rhs)
    for block in range(features.num_blocks):
        if not factorise(gram[block], ridge):
            return False
        solve_factorised(gram[block], rhs[block])
    predict(rhs, *active, q_hat)
    return True


def _regress_on_vectors(
    basis: Basis, states: Any, actions: Any, returns: Any, weights: Any, ridge: float, q_hat: Any
) -> bool:
    """Normal equations of the rows √u ψ, for each action; an action that was not taken has the weights 0."""
    size = basis.num_features
    gram, rows = aligned_zeros(1, size, size)[0], aligned_zeros(1, BLOCK, size)[0]
    for action in range(q_hat.shape[1]):
        rhs = np.zeros(size)
        gram[:] = 0.0
        visits = _add_visits(basis, states, actions, returns, weights, action, rows, gram, rhs)
        if visits:
            if not factorise(gram, ridge):
                return False
            solve_factorised(gram, rhs)
        q_hat[:, action] = rhs
    return True


@kernel
def _fill_weights(ratios: Any, horizon: Any, clip: Any, weights: Any) -> None:
    """min(clip, Π_{i=t+1}^{t+H−1} ratio_i) of every run."""
    for run in range(weights.shape[0]):
        for t in range(weights.shape[1]):
            product = 1.0
            for i in range(t + 1, t + horizon):
                if ratios[run, i] == 0.0:  # also after an overflow
                    product = 0.0
                    break
                product *= ratios[run, i]
            weights[run, t] = min(clip, product)


@kernel
def _sum_returns(states: Any, actions: Any, returns: Any, weights: Any, visits: Any, sums: Any) -> None:
    """Σ u_t and Σ u_t G_t over the visits of each pair."""
    for t in range(returns.size):
        visits[states[t], actions[t]] += weights[t]
        sums[states[t], actions[t]] += weights[t] * returns[t]


@kernel
def _add_visits(
    basis: Any, states: Any, actions: Any, returns: Any, weights: Any, action: Any, rows: Any, gram: Any, rhs: Any
) -> Any:
    """Add the upper triangle of Σ u ψψᵀ, and Σ u ψ G, over the visits of an action; how many count."""
    work = np.empty(max(1, basis.size))
    features = np.empty(rhs.size)
    visits, depth = 0, 0
    for t in range(returns.size):
        if actions[t] == action and weights[t] > 0.0:
            fill_features(basis, states[t], features, work)
            add_row(rhs, weights[t] * returns[t], features)
            root = np.sqrt(weights[t])
            for j in range(features.size):
                rows[depth, j] = root * features[j]
            depth += 1
            visits += 1
        if depth == BLOCK or (depth > 0 and t == returns.size - 1):
            if basis.kind == TILES:
                add_sparse(rows, depth, gram)
            else:
                add_product(rows, rows, depth, True, gram)
            depth = 0
    return visits
