"""Self-consistent evaluation on all data, gain and values together: of the average model, or of one drawn at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import finite
from aapi.evaluation.evaluation import Evaluation
from aapi.kernels.elimination import eliminate, solve_eliminated
from aapi.kernels.jit import kernel
from aapi.kernels.krylov import solve_sparse, sort_entries
from aapi.kernels.linalg import dot
from aapi.memory import CountTransitions
from aapi.memory.model import average_model, sampled_model

if TYPE_CHECKING:
    from aapi.approximation import Policy
    from aapi.array_types import Array
    from aapi.memory import Counts, Experience


DENSE_STATES = 30  # up to so many, elimination takes less time than iterations
# Iterations stop at this root mean square error of the equations, as a share of the range of π's rewards. The error of
# the data is about n^-½ after n visits: far larger for any n there will be. Rounding may not allow as much.
ACCURACY, ROUNDING = 1e-10, 1e-14
MOST_ROUNDS = 2000


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
    reach: after t steps, every pair leads anywhere with a chance of 1/(100 + reach · √t) more: no value is larger
        than so many times the range of rewards, also of a policy that hardly leaves a loop. None: it does not.
    """

    prior: float = 0.01
    bonus: float = 0.0
    reach: float | None = None
    memory = CountTransitions()
    off_policy = True

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""
        finite(0.0, strictly=True, prior=self.prior)
        finite(0.0, bonus=self.bonus)
        if self.reach is not None:
            finite(0.0, reach=self.reach)

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q̂_k, of shape (runs, states, actions); 0 where a state was never seen."""
        data = seen.recall(self.memory)
        weights, rewards = average_model(data, float(self.prior))
        if self.reach is not None:
            weights *= 1.0 - 1.0 / (100.0 + self.reach * math.sqrt(data.steps))
        if self.bonus:
            scale = self.bonus * (data.highest - data.lowest)
            rewards += scale[:, None, None] / (data.visits + 1.0)
        return evaluate_models(data, weights, rewards, policy, seen.guess)


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
        return evaluate_models(counts, weights, rewards, policy, seen.guess)


def evaluate_models(
    counts: Counts, weights: Array, rewards: Array, policy: Policy, guess: Array
) -> Array:  # fmt: skip
    """Q of a policy in a model for each run, whose transitions are those of `counts` with probabilities `weights`.

    guess: a Q-function that may be near, from which an iterative solution begins.
    """
    q_hat = np.zeros_like(rewards)
    sparse = counts.seen.sum(axis=1) > DENSE_STATES
    model = counts.pairs, counts.successors, counts.sizes, counts.seen, counts.visits, weights, rewards, policy
    if not sparse.all():
        _solve_dense(*model, ~sparse, q_hat)
    if sparse.any():
        _solve_sparse(*model, sparse, guess, q_hat)
    return q_hat


@kernel
def _solve_sparse(
    pairs: Any, successors: Any, sizes: Any, seen: Any, visits: Any, weights: Any, rewards: Any, policy: Any,
    chosen: Any, guess: Any, q_hat: Any,
) -> None:  # fmt: skip
    """The equations of `_solve_dense`, where matrices are mostly empty.

    With W = V + λ they are (I − P_π + p ρᵀ) W = r_π, where p is the sum of each row of P_π: Σ ρ W is λ.
    """
    num_runs, num_states, num_actions = rewards.shape
    place = np.empty(num_states, dtype=np.int64)
    for run in range(num_runs):
        if not chosen[run]:
            continue
        states = np.flatnonzero(seen[run])
        size, entries = states.size, sizes[run]
        share, rhs, leaving, solution = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
        low, high = math.inf, -math.inf
        for i in range(size):
            x = states[i]
            place[x] = i
            for a in range(num_actions):
                share[i] += visits[run, x, a]
                rhs[i] += policy[run, x, a] * rewards[run, x, a]
                solution[i] += policy[run, x, a] * guess[run, x, a]
            low, high = min(low, rhs[i]), max(high, rhs[i])
        share /= share.sum()
        rows, columns = np.empty(entries + size, dtype=np.int32), np.empty(entries + size, dtype=np.int32)
        values = np.empty(entries + size)
        for e in range(entries):
            x, a = pairs[run, e] // num_actions, pairs[run, e] % num_actions
            rows[e], columns[e] = place[x], place[successors[run, e]]
            values[e] = -policy[run, x, a] * weights[run, e]
            leaving[rows[e]] -= values[e]
        for i in range(size):
            rows[entries + i], columns[entries + i], values[entries + i] = i, i, 1.0
        begins, columns, values = sort_entries(rows, columns, values, size)
        accuracy = max(ACCURACY * (high - low), ROUNDING * max(abs(high), abs(low)))
        solve_sparse(begins, columns, values, leaving, share, rhs, accuracy, MOST_ROUNDS, solution)
        gain = dot(share, solution)
        for x in states:
            for a in range(num_actions):
                q_hat[run, x, a] = rewards[run, x, a] - gain
        for e in range(entries):
            x, a = pairs[run, e] // num_actions, pairs[run, e] % num_actions
            q_hat[run, x, a] += weights[run, e] * (solution[place[successors[run, e]]] - gain)


@kernel
def _solve_dense(
    pairs: Any, successors: Any, sizes: Any, seen: Any, visits: Any, weights: Any, rewards: Any, policy: Any,
    chosen: Any, q_hat: Any,
) -> None:  # fmt: skip
    """V = r_π − λ + P_π V and Σ ρ V = 0 over the states seen; then Q̂ = r − λ + P V. Run by run."""
    num_runs, num_states, num_actions = rewards.shape
    place = np.empty(num_states, dtype=np.int64)
    for run in range(num_runs):
        if not chosen[run]:
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
