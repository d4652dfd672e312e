"""Exact Q-functions from the model: known dynamics, for the theory."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput
from aapi.evaluation.evaluation import Evaluation
from aapi.kernels.elimination import eliminate, solve_eliminated, solve_transposed
from aapi.kernels.jit import kernel
from aapi.kernels.krylov import solve_sparse, sort_entries
from aapi.kernels.linalg import dot
from aapi.mdp import policy_values

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Integers, Mask
    from aapi.mdp import FiniteMDP
    from aapi.memory import Experience


DENSE_STATES = 200  # up to so many, matrices are eliminated whole
ACCURACY = 1e-9
ITERATED, MOST_ROUNDS = 1e-13, 400  # root mean square error of iterations, and how many there may be
LARGEST_BIAS = 1e6  # times the rewards; a policy with a larger one hardly ever leaves some states, and takes more care


@dataclass(frozen=True)
class ExactQ(Evaluation):
    """Q̂_k = Q_{π_k}; where rewards change from phase to phase, for those of phase k."""

    off_policy = True

    def for_space(self, space: QSpace) -> Evaluation:
        """This evaluation, where there is a model."""
        if space.model is None:
            raise InvalidInput("exact evaluation needs a finite model, and this problem has none: use MonteCarlo")
        return self

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q_{π_k}, of shape (runs, states, actions)."""
        return exact_q_values(cast("FiniteMDP", seen.space.model), policy, seen.data.reward_table)[1]


def exact_q_values(mdp: FiniteMDP, policies: Array, rewards: Array | None = None) -> tuple[Array, Array]:
    """Gains, of shape (policies, states), and Q-functions, of shape (policies, states, actions), of many policies.

    rewards: others than the model's, ([policies,] states, actions).
    """
    gains, q_values, failed = batched_q_values(mdp, policies, rewards)
    known: dict[bytes, int] = {}  # greedy policies come again and again
    for each in np.flatnonzero(failed).tolist():
        own = None if rewards is None else rewards if rewards.ndim == 2 else rewards[each]
        first = known.setdefault(policies[each].tobytes() + (b"" if own is None else own.tobytes()), each)
        if first == each:
            values = policy_values(mdp if own is None else mdp.with_rewards(own), policies[each])
            gains[each], q_values[each] = values.gains, values.q_values
        else:
            gains[each], q_values[each] = gains[first], q_values[first]
    return gains, q_values


def batched_q_values(mdp: FiniteMDP, policies: Array, rewards: Array | None = None) -> tuple[Array, Array, Mask]:
    """Gains, Q-functions, and which policies have none of them yet, since they need more care.

    I − P_π + 1 e_sᵀ is invertible just where π has one recurrent class; policies for which it is not, or hardly, are
    left out.
    """
    gains, q_values = np.empty(policies.shape[:2]), np.empty(policies.shape)
    fits = np.empty(len(policies), dtype=bool)
    tables = np.ascontiguousarray(mdp.rewards if rewards is None else rewards)
    tables = tables[None] if tables.ndim == 2 else tables
    _solve(*_rows(mdp), tables, np.ascontiguousarray(policies), gains, q_values, fits)
    return gains, q_values, ~fits


@functools.lru_cache(8)
def _rows(mdp: FiniteMDP) -> tuple[Integers, Integers, Array]:
    """The transitions of a model, pair by pair: where those of each begin, successors, probabilities."""
    rows = scipy.sparse.csr_array(mdp.transitions.reshape(-1, mdp.num_states))
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data


@kernel
def _solve(
    begins: Any, successors: Any, probabilities: Any, tables: Any, policies: Any, gains: Any, q_values: Any, fits: Any
) -> None:
    """Gains and Q-functions of the policies for which that goes well, one after the other.

    tables: the rewards of all policies, (1, states, actions), or of each.
    """
    _, num_states, num_actions = tables.shape
    earned, bias, mu = np.empty(num_states), np.empty(num_states), np.empty(num_states)
    for k in range(policies.shape[0]):
        policy, q, rewards = policies[k], q_values[k], tables[k % tables.shape[0]]
        for x in range(num_states):
            earned[x] = dot(policy[x], rewards[x])
        if num_states <= DENSE_STATES:
            sound = _eliminated(begins, successors, probabilities, policy, earned, bias, mu)
        else:
            sound = _iterated(begins, successors, probabilities, policy, earned, bias, mu)
        if not sound:
            fits[k] = False
            continue
        gain = dot(mu, earned)
        gains[k] = gain
        bias -= dot(mu, bias)
        largest, error = 0.0, 0.0
        for x in range(num_states):
            value = 0.0
            for a in range(num_actions):
                pair = x * num_actions + a
                total = rewards[x, a] - gain
                largest = max(largest, abs(rewards[x, a]))
                for e in range(begins[pair], begins[pair + 1]):
                    total += probabilities[e] * bias[successors[e]]
                q[x, a] = total
                value += policy[x, a] * total
            error = max(error, abs(value - bias[x]))
        scale = largest + np.abs(bias).max()
        fits[k] = error <= ACCURACY * scale and mu.min() >= -ACCURACY and scale <= LARGEST_BIAS * largest


@kernel
def _eliminated(
    begins: Any, successors: Any, probabilities: Any, policy: Any, earned: Any, bias: Any, mu: Any
) -> Any:  # fmt: skip
    """(I − P_π + 1 e_sᵀ) bias = earned, and the stationary distribution, by elimination; false if that is singular."""
    num_states, num_actions = policy.shape
    matrix, order = np.zeros((num_states, num_states)), np.empty(num_states, dtype=np.int64)
    for x in range(num_states):
        matrix[x, x] += 1.0
        matrix[x, 0] += 1.0
        for a in range(num_actions):
            pair = x * num_actions + a
            for e in range(begins[pair], begins[pair + 1]):
                matrix[x, successors[e]] -= policy[x, a] * probabilities[e]
    if not eliminate(matrix, order) > 0.0:
        return False
    unit = np.zeros(num_states)
    unit[0] = 1.0
    solve_eliminated(matrix, order, earned, bias)
    solve_transposed(matrix, order, unit, mu)
    return True


@kernel
def _iterated(
    begins: Any, successors: Any, probabilities: Any, policy: Any, earned: Any, bias: Any, mu: Any
) -> Any:  # fmt: skip
    """The same by iterations, for matrices that are large and mostly empty; whether all is finite."""
    num_states, num_actions = policy.shape
    size = successors.size + num_states
    rows, columns, values = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32), np.empty(size)
    for x in range(num_states):
        rows[x], columns[x], values[x] = x, x, 1.0 if x > 0 else 2.0
        for a in range(num_actions):
            pair = x * num_actions + a
            for e in range(begins[pair], begins[pair + 1]):
                place = num_states + e
                rows[place], columns[place] = x, successors[e]
                values[place] = -policy[x, a] * probabilities[e]
    # Of 1 e_sᵀ, the diagonal's part is in the matrix already, which makes it invertible.
    others, unit = np.ones(num_states), np.zeros(num_states)
    others[0], unit[0] = 0.0, 1.0
    bias[:], mu[:] = 0.0, 1.0 / num_states
    firsts, across, entries = sort_entries(rows, columns, values, num_states)
    scale = np.abs(earned).max()
    solve_sparse(firsts, across, entries, others, unit, earned, ITERATED * scale, MOST_ROUNDS, bias)
    firsts, across, entries = sort_entries(columns, rows, values, num_states)
    solve_sparse(firsts, across, entries, unit, others, unit, ITERATED / num_states, MOST_ROUNDS, mu)
    return np.isfinite(bias).all() and np.isfinite(mu).all()
