"""Randomised least-squares value iteration: Q-functions drawn at random from what was remembered, for RLSVI."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.approximation.normal_equations import NormalEquations
from aapi.approximation.sparse_features import fill_gram, predict
from aapi.errors import InvalidInput
from aapi.features.basis import finish_features
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import factorise, singular_regression, solve_lower, solve_upper
from aapi.kernels.random import fill_normal
from aapi.memory.model import order_by_pair

if TYPE_CHECKING:
    from aapi.array_types import Actions, Array, Streams
    from aapi.features.active import ActiveFeatures
    from aapi.features.basis import Basis
    from aapi.memory.counts import Counts
    from aapi.memory.window import Window


FOLD = 16  # weights and features are padded with zeros to a multiple of it, for `_best`


class Sweeps(NamedTuple):
    """How a draw is made: `number` sweeps of b_i = r_i + discount · max_a φ(x'_i, a)ᵀθ̃, θ̃ ~ N(Σ Φᵀb/σ², Σ).

    relative: subtract the mean value over visits after each sweep. Σ = (ΦᵀΦ/σ² + ridge · I)⁻¹; variance: σ².
    """

    number: int
    discount: float
    relative: bool
    ridge: float
    variance: float


def draw_from_counts(counts: Counts, features: ActiveFeatures, sweeps: Sweeps, streams: Streams) -> Array:
    """A draw of Q for every run from all its transitions, as a table."""
    q_hat = np.zeros(counts.visits.shape)
    if not _draw_tables(
        counts.pairs, counts.successors, counts.transition_counts, counts.sizes, counts.visits, counts.earned, features,
        sweeps, streams, q_hat,
    ):  # fmt: skip
        raise singular_regression(sweeps.ridge)
    return q_hat


def draw_from_steps(window: Window, basis: Basis, num_actions: int, sweeps: Sweeps, streams: Streams) -> Array:
    """A draw of Q for every run from its last steps between vectors, as weights."""
    runs, size = len(window.rewards), basis.num_features
    equations, ones = NormalEquations(basis), np.ones(window.rewards.shape[1])
    factors, totals = np.empty((num_actions, *equations.gram.shape)), np.empty((num_actions, size))
    q_hat = np.zeros((runs, size, num_actions))
    for run in range(runs):
        for action in range(num_actions):
            equations.fill(window.states[run], window.actions[run], ones, action)
            factors[action], totals[action] = equations.gram / sweeps.variance, equations.rhs
            if not factorise(factors[action], sweeps.ridge):
                raise singular_regression(sweeps.ridge)
        states, actions, rewards = _in_a_row(window, run)
        begun, waves, order = basis.begin(states)
        theta = np.zeros((num_actions, -(-size // FOLD) * FOLD))
        _draw_weights(begun, waves, order, actions, rewards, factors, totals, sweeps, streams[run], theta)
        q_hat[run] = theta[:, :size].T
    if not np.isfinite(q_hat).all():
        raise InvalidInput("a draw of RLSVI is no longer finite: scale the rewards down, or take a larger ridge")
    return q_hat


def _in_a_row(window: Window, run: int) -> tuple[Array, Actions, Array]:
    """The transitions of a run as rows of states, actions and rewards: the successor of a row is the next row.

    A successor mostly is the next observation of a copy. Where it is not, it has a row of its own, with the action −1.
    """
    steps, copies = np.arange(len(window.rewards[run])), window.space.copies
    order = np.concatenate([steps[copy::copies] for copy in range(copies)])  # one copy after the other
    observations, successors = window.states[run][order], window.successors[run][order]
    alone = np.ones(len(observations), dtype=bool)
    alone[:-1] = (successors[:-1] != observations[1:]).any(axis=1)
    places = np.arange(len(alone)) + np.cumsum(alone) - alone
    count = len(alone) + alone.sum()
    states, rewards = np.empty((count, observations.shape[1])), np.zeros(count)
    actions = np.full(count, -1, dtype=np.int32)
    states[places], actions[places], rewards[places] = (
        observations,
        window.actions[run][order],
        window.rewards[run][order],
    )
    states[places[alone] + 1] = successors[alone]
    return states, actions, rewards


@kernel
def _draw_tables(
    all_pairs: Any, all_successors: Any, all_counts: Any, sizes: Any, all_visits: Any, all_earned: Any, features: Any,
    sweeps: Any, streams: Any, q_hat: Any,
) -> Any:  # fmt: skip
    """A draw for every run. False if a regression is singular.

    Much may never be visited, so sweeps go over the states and the transitions that were seen, and no others.
    """
    num_runs, num_states, num_actions = q_hat.shape
    best = np.empty(num_states)
    states, shares = np.empty(num_states, dtype=np.int64), np.empty(num_states)
    begins = np.empty(num_states * num_actions + 1, dtype=np.int64)
    num_blocks, block_size = features.num_blocks, features.block_size
    weights, noise = np.empty((num_blocks, block_size)), np.empty((num_blocks, block_size))
    factors = np.empty((num_blocks, block_size, 1 if features.one_hot else block_size))
    for run in range(num_runs):
        visits, earned, size = all_visits[run], all_earned[run], sizes[run]
        after, often = np.empty(size, dtype=np.int64), np.empty(size)
        _list_transitions(
            all_pairs[run, :size], all_successors[run, :size], all_counts[run, :size], begins, after, often
        )
        num_seen = _list_states(visits, after, states, shares)
        if not _fill_factors(visits, features, sweeps, factors):
            return False
        best[:] = 0.0
        for _ in range(sweeps.number):
            _fill_table_rhs(states[:num_seen], earned, begins, after, often, best, features, sweeps.variance, weights)
            fill_normal(streams[run], noise.ravel())
            _solve(factors, features.one_hot, noise, weights)
            _fill_best(states[:num_seen], shares, num_actions, weights, features, sweeps, best)
        predict(weights, features, q_hat[run])
    return True


@kernel
def _list_transitions(pairs: Any, successors: Any, counts: Any, begins: Any, after: Any, often: Any) -> None:
    """From begins[pair] on, the successors seen of each pair, ascending, and how often each followed."""
    order = order_by_pair(pairs, begins)
    for pair in range(begins.size - 1):
        for i in range(begins[pair] + 1, begins[pair + 1]):  # insertion: a pair has few successors
            entry, place = order[i], i
            while place > begins[pair] and successors[order[place - 1]] > successors[entry]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = entry
    after[:], often[:] = successors[order], counts[order]


@kernel
def _list_states(visits: Any, after: Any, states: Any, shares: Any) -> Any:
    """List the states seen, and their share of all visits: none if they were only arrived at. Returns their number."""
    seen = np.zeros(visits.shape[0], dtype=np.bool_)
    seen[after] = True
    total = visits.sum()
    count = 0
    for x in range(visits.shape[0]):
        visited = visits[x].sum()
        if seen[x] or visited > 0.0:
            states[count], shares[count] = x, visited / total
            count += 1
    return count


@kernel
def _fill_table_rhs(
    states: Any, earned: Any, begins: Any, after: Any, often: Any, best: Any, features: Any, variance: Any, rhs: Any
) -> None:
    """Φᵀb/σ², b_i = r_i + best(x'_i). Long sums are taken in four parts, which need not wait for each other."""
    rhs[:] = 0.0
    num_actions = earned.shape[1]
    starts, columns, values = features.starts, features.columns, features.values
    for x in states:
        for a in range(num_actions):
            pair = x * num_actions + a
            first, last = begins[pair], begins[pair + 1]
            if first == last:
                continue
            whole = last - (last - first) % 4
            s0, s1, s2, s3 = earned[x, a], 0.0, 0.0, 0.0
            if whole > first:
                follow, times = after[first:whole], often[first:whole]
                for j in range(0, follow.size, 4):
                    s0 += times[j] * best[follow[j]]
                    s1 += times[j + 1] * best[follow[j + 1]]
                    s2 += times[j + 2] * best[follow[j + 2]]
                    s3 += times[j + 3] * best[follow[j + 3]]
            for j in range(whole, last):
                s0 += often[j] * best[after[j]]
            target = ((s0 + s1) + (s2 + s3)) / variance
            block = a if rhs.shape[0] > 1 else 0
            for j in range(starts[pair], starts[pair + 1]):
                rhs[block, columns[j]] += values[j] * target


@kernel
def _fill_factors(visits: Any, features: Any, sweeps: Any, factors: Any) -> Any:
    """U with UᵀU = Σ⁻¹, block by block; its diagonal alone if that is all there is. False if Σ⁻¹ is singular."""
    if features.one_hot:
        for x in range(visits.shape[0]):
            for a in range(visits.shape[1]):
                factors[a, x, 0] = math.sqrt(visits[x, a] / sweeps.variance + sweeps.ridge)
        return True
    fill_gram(visits, features, factors)
    factors /= sweeps.variance
    sound = True
    for block in range(factors.shape[0]):
        sound = sound and factorise(factors[block], sweeps.ridge)
    return sound


@kernel
def _solve(factors: Any, one_hot: Any, noise: Any, weights: Any) -> None:
    """From Φᵀb/σ² to a draw: U⁻¹(U⁻ᵀ Φᵀb/σ² + noise) has the mean Σ Φᵀb/σ² and the covariance Σ."""
    for block in range(weights.shape[0]):
        if one_hot:
            roots = factors[block, :, 0]
            for i in range(roots.size):
                weights[block, i] = (weights[block, i] / roots[i] + noise[block, i]) / roots[i]
        else:
            solve_lower(factors[block], weights[block])
            for i in range(weights.shape[1]):
                weights[block, i] += noise[block, i]
            solve_upper(factors[block], weights[block])


@kernel
def _fill_best(states: Any, shares: Any, num_actions: Any, weights: Any, features: Any, sweeps: Any, best: Any) -> None:
    """max_a φ(x, a)ᵀθ̃ at the states seen, in the form that the next sweep adds to rewards."""
    mean = 0.0
    starts, columns, values = features.starts, features.columns, features.values
    for i in range(states.size):
        top = -math.inf
        for a in range(num_actions):
            pair = states[i] * num_actions + a
            block = a if weights.shape[0] > 1 else 0
            value = 0.0
            for j in range(starts[pair], starts[pair + 1]):
                value += values[j] * weights[block, columns[j]]
            top = max(top, value)
        best[states[i]] = top
        mean += shares[i] * top
    offset = mean if sweeps.relative else 0.0
    for x in states:
        best[x] = sweeps.discount * (best[x] - offset)


@kernel
def _draw_weights(
    begun: Any, waves: Any, order: Any, actions: Any, rewards: Any, factors: Any, totals: Any, sweeps: Any,
    stream: Any, theta: Any,
) -> None:  # fmt: skip
    """A draw for one run. factors: U of each action, UᵀU = Σ⁻¹; totals: Σ ψ over the visits of each action."""
    num_actions, size = totals.shape
    rhs, noise = np.empty(theta.shape), np.empty(totals.shape)
    features, work = np.zeros(theta.shape[1]), np.empty(theta.shape[1] // 4)
    for _ in range(sweeps.number):
        mean = _fill_vector_rhs(begun, waves, order, actions, rewards, sweeps.discount, theta, features, work, rhs)
        offset = sweeps.discount * mean if sweeps.relative else 0.0
        fill_normal(stream, noise.ravel())
        for a in range(num_actions):
            weights = theta[a, :size]
            for i in range(size):
                weights[i] = (rhs[a, i] - offset * totals[a, i]) / sweeps.variance
            # U⁻¹(U⁻ᵀ Φᵀb/σ² + noise) has the mean Σ Φᵀb/σ² and the covariance Σ.
            solve_lower(factors[a], weights)
            for i in range(size):
                weights[i] += noise[a, i]
            solve_upper(factors[a], weights)


@kernel
def _fill_vector_rhs(
    begun: Any, waves: Any, order: Any, actions: Any, rewards: Any, discount: Any, theta: Any, features: Any,
    work: Any, rhs: Any,
) -> Any:  # fmt: skip
    """Σ ψ (r + discount · value of the next row) of each action; the mean value where one acted.

    Last row first: one pass then does all, with features that are finished once and used while at hand.
    """
    rhs[:] = 0.0
    total, count, after = 0.0, 0, 0.0
    for t in range(actions.size - 1, -1, -1):
        finish_features(begun[t], waves, order, features)
        best = _best(features, theta, work)
        if actions[t] >= 0:
            target, row = rewards[t] + discount * after, rhs[actions[t]]
            for i in range(row.size):
                row[i] += features[i] * target
            total += best
            count += 1
        after = best
    return total / count


@kernel
def _best(features: Any, theta: Any, work: Any) -> Any:
    """max_a ψᵀθ_a. Quarters of the products are added up entry by entry, twice, which a vector unit can do."""
    n, m = work.size, work.size // 4
    f0, f1, f2, f3 = features[:n], features[n : 2 * n], features[2 * n : 3 * n], features[3 * n :]
    w0, w1, w2, w3 = work[:m], work[m : 2 * m], work[2 * m : 3 * m], work[3 * m :]
    best = -math.inf
    for a in range(theta.shape[0]):
        t0, t1, t2, t3 = theta[a, :n], theta[a, n : 2 * n], theta[a, 2 * n : 3 * n], theta[a, 3 * n :]
        for i in range(n):
            work[i] = (f0[i] * t0[i] + f1[i] * t1[i]) + (f2[i] * t2[i] + f3[i] * t3[i])
        value = 0.0
        for i in range(m):
            value += (w0[i] + w1[i]) + (w2[i] + w3[i])
        best = max(best, value)
    return best
