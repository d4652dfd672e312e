"""Regression on the sparse features of a table, inside kernels: φ(x, a) as `ActiveFeatures` holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.kernels.linalg import LINE, solve_regression


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
    entry, one = np.uint64(0), np.uint64(1)  # unsigned: no check for negative indices
    for x in range(num_states):
        for a in range(num_actions):
            of_block, stop = weights[a if weights.shape[0] > 1 else 0], np.uint64(starts[x * num_actions + a + 1])
            value = 0.0
            while entry < stop:
                value += values[entry] * of_block[columns[entry]]
                entry += one
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
    """Regression on sparse features: normal equations of each block, by Cholesky. False if one is singular.

    Only of the features that a run has seen; the weights of the others are 0.
    """
    num_runs, num_states, num_actions = q_hat.shape
    visits, pairs = np.empty((num_states, num_actions)), np.empty(num_states * num_actions + 1, dtype=np.uint32)
    found = np.empty((features.num_blocks, features.block_size))
    places, rhs, room = np.empty(features.block_size, dtype=np.int32), np.empty(features.block_size), np.empty(0)
    for run in range(num_runs):
        q = q_hat[run]
        _sum_targets(states, actions, targets, weights, run, visits, q)
        for block in range(features.num_blocks):
            num_pairs = _list_visited(visits, block, features.num_blocks, pairs)
            size = _place_features(pairs[:num_pairs], features, places)
            if ridge == 0.0 and size < places.size:
                return False
            width = -(-size // LINE) * LINE
            if room.size < size * width:
                room = np.empty(size * width)
            gram = room[: size * width].reshape(size, width)
            _fill_equations(pairs[:num_pairs], visits, q, features, places, gram, rhs)
            if not solve_regression(gram, ridge, rhs[:size]):
                return False
            for column in range(places.size):
                found[block, column] = rhs[places[column]] if places[column] >= 0 else 0.0
        predict(found, features, q)
    return True


@kernel
def _list_visited(visits: Any, block: Any, num_blocks: Any, pairs: Any) -> Any:
    """Write the pairs of a block that were visited into `pairs`; how many there are. Without a branch."""
    flat, count = visits.ravel(), 0
    for pair in range(block, flat.size, visits.shape[1] if num_blocks > 1 else 1):
        pairs[count] = pair
        count += flat[pair] > 0.0
    return count


@kernel
def _place_features(pairs: Any, features: Any, places: Any) -> Any:
    """Number the features of some pairs, in their order, and write −1 for all others; how many there are."""
    starts, columns = features.starts, features.columns
    places[:] = -1
    for pair in pairs:
        for i in range(starts[pair], starts[pair + 1]):
            places[columns[i]] = 0
    count = 0
    for column in range(places.size):
        places[column] = count if places[column] == 0 else -1
        count += places[column] >= 0
    return count


@kernel
def _fill_equations(pairs: Any, visits: Any, sums: Any, features: Any, places: Any, gram: Any, rhs: Any) -> None:
    """Σ visits φφᵀ, its upper triangle, and Σ φ sums over some pairs, each feature at its place."""
    starts, columns, values = features.starts, features.columns, features.values
    entries, count_of, sum_of = gram.ravel(), visits.ravel(), sums.ravel()
    width, one = np.uint64(gram.shape[1]), np.uint64(1)  # unsigned: no check for negative indices
    for e in range(entries.size):
        entries[e] = 0.0
    for place in range(gram.shape[0]):
        rhs[place] = 0.0
    for number in pairs:
        pair = np.uint64(number)
        first, stop = np.uint64(starts[pair]), np.uint64(starts[pair + one])
        i = first
        while i < stop:
            column = np.uint64(places[columns[i]])
            rhs[column] += values[i] * sum_of[pair]
            j = first
            while j <= i:  # the columns of a pair ascend
                row = np.uint64(places[columns[j]])
                entries[row * width + column] += count_of[pair] * (values[i] * values[j])
                j += one
            i += one
