"""Models as the arrays of the MDP toolboxes: P (actions, states, states), and R.

R is (states,), (states, actions), or (actions, states, states), where rewards depend on the successor; P, and R in its
last form, may also be lists with one sparse matrix for each action (Chadès et al. 2014, pymdptoolbox).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput, TooLarge
from aapi.mdp.arrays import check_real, float_array
from aapi.mdp.linear_systems import is_sparse
from aapi.mdp.outcomes import Outcomes

if TYPE_CHECKING:
    from aapi.array_types import Array, Matrix

MOST_BYTES = 1 << 31  # of P and R together: they are dense


def from_arrays(transitions: object, rewards: object) -> tuple[Matrix, Array, Outcomes | None]:
    """P, (states, actions, states) or sparse, r, (states, actions) or by successor, and outcomes, of P and R."""
    if isinstance(transitions, Sequence) and any(is_sparse(matrix) for matrix in transitions):
        return _from_matrices(list(transitions), rewards)
    array = float_array(transitions, "P")  # type: ignore[arg-type]
    if array.ndim != 3 or array.shape[1] != array.shape[2] or 0 in array.shape:
        raise InvalidInput(f"P must have the shape (actions, states, states), not {array.shape}")
    actions, states, _ = array.shape
    paid = _rewards(rewards, states, actions)
    paid = np.ascontiguousarray(paid.transpose(1, 0, 2)) if paid.ndim == 3 else paid
    return np.ascontiguousarray(array.transpose(1, 0, 2)), paid, None


def _rewards(rewards: object, states: int, actions: int) -> Array:
    """R as (states, actions), or (actions, states, states)."""
    if isinstance(rewards, Sequence):
        rewards = [matrix.toarray() if is_sparse(matrix) else matrix for matrix in rewards]
    array = float_array(rewards, "R")  # type: ignore[arg-type]
    if array.shape == (states,):
        return np.repeat(array[:, None], actions, axis=1)
    if array.shape not in ((states, actions), (actions, states, states)):
        raise InvalidInput(
            f"R must have the shape ({states},), ({states}, {actions}) or ({actions}, {states}, {states}) to fit P, "
            f"not {array.shape}"
        )
    return array


def _from_matrices(matrices: list[Matrix], rewards: object) -> tuple[Matrix, Array, Outcomes | None]:
    parts = [scipy.sparse.coo_array(matrix) for matrix in matrices]
    actions, shape = len(parts), parts[0].shape
    if any(part.shape != shape or len(shape) != 2 or shape[0] != shape[1] or 0 in shape for part in parts):
        raise InvalidInput(f"P must have one matrix (states, states) for each action, not {[p.shape for p in parts]}")
    for part in parts:
        check_real(part, "P")
    sparse_rewards = isinstance(rewards, Sequence) and any(is_sparse(matrix) for matrix in rewards)
    states = shape[0]
    pairs = np.concatenate([part.row.astype(np.int64) * actions + a for a, part in enumerate(parts)])
    successors = np.concatenate([part.col.astype(np.int64) for part in parts])
    if isinstance(rewards, Sequence) and sparse_rewards:
        given = [scipy.sparse.csr_array(matrix) for matrix in rewards]
        if len(given) != actions or any(matrix.shape != shape for matrix in given):
            raise InvalidInput(f"R must have one matrix of the shape {shape} for each action, like P")
        paid = np.concatenate([_entries(r, part) for r, part in zip(given, parts, strict=True)])
    else:
        dense = _rewards(rewards, states, actions)
        rows, chosen = np.divmod(pairs, actions)
        paid = dense[rows, chosen] if dense.ndim == 2 else dense[chosen, rows, successors]
    chances = np.concatenate([part.data for part in parts])
    outcomes = Outcomes.from_rows(pairs, successors, chances, paid, states * actions, states)
    return outcomes.transitions(states), outcomes.means.reshape(states, actions), outcomes


def _entries(matrix: Matrix, places: Matrix) -> Array:
    return np.asarray(matrix[places.row, places.col]).ravel() if places.nnz else np.zeros(0)


def to_arrays(rows: Matrix, rewards: Array, outcomes: Outcomes | None) -> tuple[Array, Array]:
    """P and R of a model: R (states, actions), or (actions, states, states) where successors decide what is paid.

    Where even with the successor given rewards are random, R has their means (states, actions).
    rows: (states · actions, states), dense or sparse. rewards: the means, (states, actions).
    """
    states, actions = rewards.shape
    if 2 * states * states * actions * 8 > MOST_BYTES:
        raise TooLarge(
            f"P of {states} states and {actions} actions would take {8 * states * states * actions / 2**30:.1f} GiB: "
            "a .csv or .npz file takes as much as there are transitions"
        )
    dense = rows.toarray() if is_sparse(rows) else rows
    transitions = np.ascontiguousarray(dense.reshape(states, actions, states).transpose(1, 0, 2))
    if outcomes is None or outcomes.certain:
        return transitions, rewards.copy()
    pairs = outcomes.pairs
    if ((np.diff(pairs) == 0) & (np.diff(outcomes.successors) == 0)).any():
        return transitions, rewards.copy()
    paid = np.zeros((actions, states, states))
    paid[pairs % actions, pairs // actions, outcomes.successors] = outcomes.rewards
    return transitions, paid
