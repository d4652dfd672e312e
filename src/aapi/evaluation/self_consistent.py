"""Self-consistent evaluation on all data, gain and values together: of the average model, or of one drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from aapi.checks import finite
from aapi.evaluation.evaluation import Evaluation
from aapi.kernels.elimination import eliminate, solve_eliminated
from aapi.kernels.jit import kernel
from aapi.memory import CountTransitions
from aapi.memory.model import average_model, sampled_model

if TYPE_CHECKING:
    from aapi.approximation import Policy
    from aapi.array_types import Array
    from aapi.memory import Counts, Experience


# Of more states than this, the equations are solved by sparse factors, if less than a share of the matrix is filled.
DENSE_STATES = 120
FILLED = 0.1


@dataclass(frozen=True)
class SelfConsistent(Evaluation):
    """Q̂ of π from the data of all phases, whichever policies they were made by. For tables, whatever the features.

    Q̂(x, a) = [Σ (r + V(x')) + prior · r̄] / (n + prior) − λ + bonus · range / (n + 1), where the sum is over the n
    visits of (x, a); V(x) = Σ_a π(a|x) Q̂(x, a). V and λ are solved for together, with Σ_x ρ(x) V(x) = 0; ρ are the
    shares of visits, r̄ is the mean of all rewards, and range their highest minus their lowest.

    So λ needs no estimate of its own, and a little data does no harm: with a chance of prior/(n + prior), a pair leads
    anywhere, as if the run had started anew in a state drawn from ρ. With prior → 0, it is average-reward LSTD-Q on
    one-hot features. The cost is that of one system of linear equations over the states seen, however long the past.

    prior: pseudo-visits of every pair that lead anywhere. bonus: for rarely visited pairs, times the range of rewards.
    """

    prior: float = 0.01
    bonus: float = 0.0
    memory = CountTransitions()
    off_policy = True

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""
        finite(0.0, strictly=True, prior=self.prior)
        finite(0.0, bonus=self.bonus)

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q̂_k, of shape (runs, states, actions); 0 where a state was never seen."""
        data = seen.recall(self.memory)
        weights, rewards = average_model(data, float(self.prior))
        if self.bonus:
            scale = self.bonus * (data.highest - data.lowest)
            rewards += scale[:, None, None] / (data.visits + 1.0)
        return evaluate_models(data, weights, rewards, policy)


@dataclass(frozen=True)
class PosteriorSampled(Evaluation):
    """`SelfConsistent` in a model drawn anew for each phase: P(·|x, a) has a Dirichlet distribution.

    Its parameters are the counts of the successors seen, and `prior` for leading anywhere. What RLSVI does to
    least-squares value iteration, this does to policy evaluation: noise in proportion to what is not known. It is the
    probabilities that are random, so that rewards on another scale give the same draws.

    prior: pseudo-visits of every pair that lead anywhere.
    """

    prior: float = 0.01
    memory = CountTransitions()
    off_policy = True

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""
        finite(0.0, strictly=True, prior=self.prior)

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q̂_k, of shape (runs, states, actions); 0 where a state was never seen."""
        counts = seen.recall(self.memory)
        weights, rewards = sampled_model(counts, float(self.prior), seen.data.streams, np.arange(seen.runs))
        return evaluate_models(counts, weights, rewards, policy)


def evaluate_models(counts: Counts, weights: Array, rewards: Array, policy: Policy) -> Array:
    """Q of a policy in a model for each run, whose transitions are those of `counts` with probabilities `weights`."""
    q_hat = np.zeros_like(rewards)
    states = counts.seen.sum(axis=1)
    sparse = (states > DENSE_STATES) & (counts.sizes < FILLED * states**2)
    _solve_dense(
        counts.pairs, counts.successors, counts.sizes, counts.seen, counts.visits, weights, rewards, policy, sparse,
        q_hat,
    )  # fmt: skip
    for run in np.flatnonzero(sparse).tolist():
        _solve_sparse(counts, run, weights[run], rewards[run], policy[run], q_hat[run])
    return q_hat


def _solve_sparse(counts: Counts, run: int, weights: Array, rewards: Array, policy: Array, q_hat: Array) -> None:
    """The equations of `_solve_dense` for one run, whose matrix is mostly empty."""
    size, num_actions = counts.sizes[run], policy.shape[1]
    pairs, successors, weights = counts.pairs[run, :size], counts.successors[run, :size], weights[:size]
    states = np.flatnonzero(counts.seen[run])
    place = np.zeros(len(policy), dtype=np.int64)
    place[states] = np.arange(len(states))
    last = len(states)
    ones, along = np.ones(last), np.arange(last)
    share = counts.visits[run, states].sum(axis=1) / counts.steps
    rows = np.concatenate([along, along, np.full(last, last), place[pairs // num_actions]])
    columns = np.concatenate([along, np.full(last, last), along, place[successors]])
    entries = np.concatenate([ones, ones, share, -policy.ravel()[pairs] * weights])
    matrix = scipy.sparse.csc_array((entries, (rows, columns)), shape=(last + 1, last + 1))
    rhs = np.append((policy[states] * rewards[states]).sum(axis=1), 0.0)
    solution = scipy.sparse.linalg.splu(matrix).solve(rhs)
    q_hat[states] = rewards[states] - solution[last]
    np.add.at(q_hat.reshape(-1), pairs, weights * solution[place[successors]])


@kernel
def _solve_dense(
    pairs: Any, successors: Any, sizes: Any, seen: Any, visits: Any, weights: Any, rewards: Any, policy: Any,
    skip: Any, q_hat: Any,
) -> None:  # fmt: skip
    """V = r_π − λ + P_π V and Σ ρ V = 0 over the states seen; then Q̂ = r − λ + P V. Run by run."""
    num_runs, num_states, num_actions = rewards.shape
    place = np.empty(num_states, dtype=np.int64)
    for run in range(num_runs):
        if skip[run]:
            continue
        last = 0
        for x in range(num_states):
            if seen[run, x]:
                place[x] = last
                last += 1
        matrix, rhs, solution = np.zeros((last + 1, last + 1)), np.zeros(last + 1), np.empty(last + 1)
        for x in range(num_states):
            if seen[run, x]:
                i = place[x]
                matrix[i, i] = matrix[i, last] = 1.0
                for a in range(num_actions):
                    matrix[last, i] += visits[run, x, a]
                    rhs[i] += policy[run, x, a] * rewards[run, x, a]
        total = matrix[last].sum()
        for i in range(last):
            matrix[last, i] /= total
        for e in range(sizes[run]):
            x, a = pairs[run, e] // num_actions, pairs[run, e] % num_actions
            matrix[place[x], place[successors[run, e]]] -= policy[run, x, a] * weights[run, e]
        order = np.empty(last + 1, dtype=np.int64)
        eliminate(matrix, order)
        solve_eliminated(matrix, order, rhs, solution)
        for x in range(num_states):
            if seen[run, x]:
                for a in range(num_actions):
                    q_hat[run, x, a] = rewards[run, x, a] - solution[last]
        for e in range(sizes[run]):
            x, a = pairs[run, e] // num_actions, pairs[run, e] % num_actions
            q_hat[run, x, a] += weights[run, e] * solution[place[successors[run, e]]]
