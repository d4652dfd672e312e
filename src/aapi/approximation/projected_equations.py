"""The projected equations of average-reward LSTD-Q(λ), from sums over all data or from steps that were kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.approximation.normal_equations import NormalEquations
from aapi.approximation.sparse_features import fill_gram, fill_rhs
from aapi.errors import TooLarge
from aapi.features.basis import TILES, fill_features
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import LINE, add_product, add_row, aligned_matrix, aligned_zeros

if TYPE_CHECKING:
    from aapi.array_types import Actions, AnyArray, Array
    from aapi.features.active import ActiveFeatures
    from aapi.features.basis import Basis

    Steps = tuple[AnyArray, Actions, Array, AnyArray]  # states … successors of a run


MOST_FEATURES = 5000  # whose equations take 200 MB
BLOCK = 32  # steps that are taken in together
TINY = 1e-290  # what fades below it is nothing: denormal numbers, which never quite vanish, take a hundred times longer
DEPENDENT = 1e-10  # what elimination may leave of a squared feature before it counts as a combination of others


class Equations(NamedTuple):
    """A w + g z̄ = b and ρ̄ᵀw = 0, for the weights w and the gain g of one run.

    A = Σ z_t (φ_t − φ̄(x_{t+1}))ᵀ, of which `transposed` is the transpose; b = Σ z_t r_t, `earned`; z̄ = Σ z_t, `totals`;
    n ρ̄ = Σ φ_t, `shares`, n being the number of steps. gram: Σ φ_t φ_tᵀ, the upper triangles of its blocks, (blocks,
    block size, block size).
    """

    transposed: Array
    earned: Array
    totals: Array
    shares: Array
    gram: Array


def check_size(num_features: int) -> None:
    """Raise an error if the equations of so many features would take too much room."""
    if num_features > MOST_FEATURES:
        raise TooLarge(
            f"{num_features} features are too many for their equations, at most {MOST_FEATURES}: take fewer, or "
            "SelfConsistent"
        )


def of_visits(features: ActiveFeatures, visits: Array) -> tuple[Array, Array]:
    """Σ φφᵀ in blocks, and Σ φ."""
    gram = np.empty((features.num_blocks, features.block_size, features.block_size))
    shares = np.empty((features.num_blocks, features.block_size))
    fill_gram(visits, features, gram)
    fill_rhs(visits, features, shares)
    return gram, shares.ravel()


def _spread(gram: Array, size: int) -> Array:
    """Upper triangles of blocks as one symmetric matrix."""
    matrix = np.zeros((size, size))
    for block, upper in enumerate(gram):
        part = slice(block * len(upper), (block + 1) * len(upper))
        matrix[part, part] = np.triu(upper) + np.triu(upper, 1).T
    return matrix


def equations_of_sums(
    features: ActiveFeatures, policy: Array, visits: Array, earned: Array,
    totals: Array, arrivals: Array, products: Array,
) -> Equations:  # fmt: skip
    """The equations of a run from sums over its steps; see `Traces`. Without a trace, totals and products are empty."""
    gram, shares = of_visits(features, visits)
    transposed = products.copy() if products.size else _spread(gram, features.num_features)
    _subtract_arrivals(arrivals, policy, features, transposed)
    return Equations(transposed, earned, totals if products.size else shares, shares, gram)


def equations_of_steps(
    features: ActiveFeatures, policy: Array, steps: Steps, decay: float, copies: int = 1
) -> Equations:  # fmt: skip
    """The equations of a run from its steps, in a table; of `copies` of its environment in turn."""
    check_size(features.num_features)
    size = features.num_features
    transposed, (earned, totals), visits = np.zeros((size, size)), np.zeros((2, size)), np.zeros(policy.shape)
    _add_steps(*steps, policy, decay, np.zeros((copies, size)), features, transposed, earned, totals, visits)
    gram, shares = of_visits(features, visits)
    return Equations(transposed, earned, totals, shares, gram)


def equations_of_vectors(basis: Basis, chances: Array, steps: Steps, decay: float, copies: int = 1) -> Equations:
    """The equations of a run from its steps between vectors. chances: of the actions at the successors.

    Without a trace z_t has one block, that of a_t, and steps are taken in action by action, each in its own room.
    """
    states, actions, rewards, _ = steps
    count, num_actions = basis.num_features, chances.shape[1]
    size = count * num_actions
    check_size(size)
    groups, width = (num_actions, count) if decay == 0.0 else (1, size)
    transposed, sums, shares = aligned_zeros(groups, size, width, LINE), np.zeros((2, groups, width)), np.zeros(size)
    left, right = aligned_matrix(BLOCK, width), aligned_matrix(BLOCK, size)
    equations, ones = NormalEquations(basis), np.ones(len(rewards))
    gram = np.empty((num_actions, count, count))
    for group in range(groups):
        _add_vectors(
            basis, *steps, chances, decay, group if decay == 0.0 else -1, np.zeros((copies, width)), left, right,
            transposed[group], sums[0, group], sums[1, group],
        )  # fmt: skip
    for action in range(num_actions):
        equations.fill(states, actions, ones, action)
        gram[action], shares[action * count : (action + 1) * count] = equations.gram[:, :count], equations.rhs
    together = transposed[:, :, :width].transpose(1, 0, 2).reshape(size, size)
    return Equations(together, sums[0].ravel(), sums[1].ravel(), shares, gram)


@kernel
def _subtract_arrivals(arrivals: Any, policy: Any, features: Any, transposed: Any) -> None:
    """Subtract Σ φ̄(x_{t+1}) z_tᵀ, given where the traces arrived."""
    starts, columns, values = features.starts, features.columns, features.values
    stride = features.block_size if features.num_blocks > 1 else 0  # from the features of an action to the next's
    num_states, num_actions = policy.shape
    for x in range(num_states):
        for a in range(num_actions):
            if policy[x, a] > 0.0:
                pair, offset = x * num_actions + a, a * stride
                for i in range(starts[pair], starts[pair + 1]):
                    add_row(transposed[offset + columns[i]], -policy[x, a] * values[i], arrivals[x])


@kernel
def _add_steps(
    states: Any, actions: Any, rewards: Any, successors: Any, policy: Any, decay: Any, traces: Any, features: Any,
    transposed: Any, earned: Any, totals: Any, visits: Any,
) -> None:  # fmt: skip
    """What `Traces` would give for these steps alone, in room that does not depend on the number of states."""
    num_actions = policy.shape[1]
    starts, columns, values = features.starts, features.columns, features.values
    stride = features.block_size if features.num_blocks > 1 else 0  # from the features of an action to the next's
    for t in range(rewards.size):
        x, action = int(states[t]), int(actions[t])
        visits[x, action] += 1.0
        pair, offset, trace = x * num_actions + action, action * stride, traces[t % traces.shape[0]]
        fade(trace, decay)
        for i in range(starts[pair], starts[pair + 1]):
            trace[offset + columns[i]] += values[i]
        for i in range(starts[pair], starts[pair + 1]):
            add_row(transposed[offset + columns[i]], values[i], trace)
        after = int(successors[t])
        for a in range(num_actions):
            if policy[after, a] > 0.0:
                pair, offset = after * num_actions + a, a * stride
                for i in range(starts[pair], starts[pair + 1]):
                    add_row(transposed[offset + columns[i]], -policy[after, a] * values[i], trace)
        add_row(totals, 1.0, trace)
        add_row(earned, rewards[t], trace)


@kernel
def _add_vectors(
    basis: Any, states: Any, actions: Any, rewards: Any, successors: Any, chances: Any, decay: Any, only: Any,
    traces: Any, left: Any, right: Any, transposed: Any, earned: Any, totals: Any,
) -> None:  # fmt: skip
    """Σ (φ_t − φ̄(x_{t+1})) z_tᵀ, Σ z_t r_t and Σ z_t, of the steps with the action `only`, or −1 for all.

    traces: room for z_t of each copy. left, right: rooms for a block of z_t, of one action's features or of all, and of
    φ_t − φ̄(x_{t+1}).
    """
    num_actions = chances.shape[1]
    count = basis.size + (basis.low.size if basis.linear else 0)
    features, work = np.empty(count), np.empty(max(1, basis.size))
    depth = 0
    for t in range(rewards.size):
        if only < 0 or actions[t] == only:
            row, trace = right[depth], traces[t % traces.shape[0]]
            fill_features(basis, successors[t], features, work)
            for a in range(num_actions):
                for f in range(count):
                    row[a * count + f] = -chances[t, a] * features[f]
            fill_features(basis, states[t], features, work)
            fade(trace, decay)
            add_row(row[actions[t] * count : (actions[t] + 1) * count], 1.0, features)
            offset = actions[t] * count if only < 0 else 0
            add_row(trace[offset : offset + count], 1.0, features)
            left[depth, : trace.size] = trace
            add_row(totals, 1.0, trace)
            add_row(earned, rewards[t], trace)
            depth += 1
        if depth == BLOCK or (depth > 0 and t == rewards.size - 1):
            if basis.kind == TILES:
                for k in range(depth):
                    for j in range(transposed.shape[0]):
                        if right[k, j] != 0.0:
                            add_row(transposed[j], right[k, j], left[k])
            else:
                add_product(right, left, depth, 1.0, 0, False, transposed)
            depth = 0


@kernel
def rank_of(gram: Any) -> Any:
    """How many features are no combination of those before them, given the upper triangles of Σ φφᵀ in blocks."""
    rank = 0
    for block in range(gram.shape[0]):
        upper = gram[block].copy()
        for k in range(upper.shape[0]):
            if upper[k, k] > DEPENDENT * gram[block, k, k]:
                rank += 1
                for i in range(k + 1, upper.shape[0]):
                    if upper[k, i] != 0.0:
                        add_row(upper[i, i:], -upper[k, i] / upper[k, k], upper[k, i:])
    return rank


@kernel
def fade(trace: Any, decay: Any) -> None:
    """z ← λ z."""
    for j in range(trace.size):
        left = decay * trace[j]
        trace[j] = left if abs(left) > TINY else 0.0
