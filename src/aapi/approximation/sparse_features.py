"""Regression on the sparse features of a table, inside kernels: φ(x, a) as `ActiveFeatures` holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.kernels.linalg import factorise, solve_factorised


@kernel
def fill_gram(visits: Any, features: Any, gram: Any) -> None:
    """The upper triangle of Σ visits(x, a) φ(x, a) φ(x, a)ᵀ, block by block, from visits of shape (states, actions)."""
    num_states, num_actions = visits.shape
    starts, columns, values = features.starts, features.columns, features.values
    gram[:] = 0.0
    for x in range(num_states):
        for a in range(num_actions):
            if visits[x, a] > 0.0:
                pair = x * num_actions + a
                block = a if gram.shape[0] > 1 else 0
                for i in range(starts[pair], starts[pair + 1]):
                    for j in range(starts[pair], i + 1):  # the columns of a pair ascend
                        gram[block, columns[j], columns[i]] += visits[x, a] * (values[i] * values[j])


@kernel
def fill_rhs(targets: Any, features: Any, rhs: Any) -> None:
    """Σ φ(x, a) targets(x, a), where targets, of shape (states, actions), are sums over the visits of a pair."""
    num_states, num_actions = targets.shape
    starts, columns, values = features.starts, features.columns, features.values
    rhs[:] = 0.0
    for x in range(num_states):
        for a in range(num_actions):
            if targets[x, a] != 0.0:
                pair = x * num_actions + a
                block = a if rhs.shape[0] > 1 else 0
                for i in range(starts[pair], starts[pair + 1]):
                    rhs[block, columns[i]] += values[i] * targets[x, a]


@kernel
def predict(weights: Any, features: Any, table: Any) -> None:
    """table(x, a) = φ(x, a)ᵀ weights."""
    num_states, num_actions = table.shape
    starts, columns, values = features.starts, features.columns, features.values
    for x in range(num_states):
        for a in range(num_actions):
            pair = x * num_actions + a
            block = a if weights.shape[0] > 1 else 0
            value = 0.0
            for i in range(starts[pair], starts[pair + 1]):
                value += values[i] * weights[block, columns[i]]
            table[x, a] = value


@kernel
def _sum_targets(states: Any, actions: Any, targets: Any, weights: Any, run: Any, visits: Any, sums: Any) -> None:
    """Σ u_t and Σ u_t target_t over the visits of each pair in one run; u_t = 1 if there are no weights."""
    visits[:] = 0.0
    sums[:] = 0.0
    for t in range(targets.shape[1]):
        x, a = np.uint32(states[run, t]), np.uint32(actions[run, t])  # unsigned: no check for negative indices
        if weights is None:
            visits[x, a] += 1.0
            sums[x, a] += targets[run, t]
        else:
            visits[x, a] += weights[run, t]
            sums[x, a] += weights[run, t] * targets[run, t]


@kernel
def fit_averages(states: Any, actions: Any, targets: Any, weights: Any, ridge: Any, q_hat: Any) -> None:
    """Regression on one-hot features: Σ u target / (Σ u + ridge) for each pair, 0 where there is no data."""
    num_runs, num_states, num_actions = q_hat.shape
    visits = np.empty((num_states, num_actions))
    for run in range(num_runs):
        q = q_hat[run]
        _sum_targets(states, actions, targets, weights, run, visits, q)
        for x in range(num_states):
            for a in range(num_actions):
                if visits[x, a] > 0.0:
                    q[x, a] /= visits[x, a] + ridge


@kernel
def fit_features(states: Any, actions: Any, targets: Any, weights: Any, ridge: Any, features: Any, q_hat: Any) -> Any:
    """Regression on sparse features: normal equations of each block, by Cholesky. False if one is singular."""
    num_runs, num_states, num_actions = q_hat.shape
    visits = np.empty((num_states, num_actions))
    gram = np.empty((features.num_blocks, features.block_size, features.block_size))
    found = np.empty((features.num_blocks, features.block_size))
    for run in range(num_runs):
        q = q_hat[run]
        _sum_targets(states, actions, targets, weights, run, visits, q)
        fill_gram(visits, features, gram)
        fill_rhs(q, features, found)
        for block in range(features.num_blocks):
            if not factorise(gram[block], ridge):
                return False
            solve_factorised(gram[block], found[block])
        predict(found, features, q)
    return True
