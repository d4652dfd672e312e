"""Policies that are optimal in a model made of counts: damped value iteration on average reward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.memory.model import order_by_pair

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers
    from aapi.memory import Counts
    from aapi.memory.posterior import SparseModel


SWEEPS = 20  # for each state, at the most: longer than any way through the model
WORK = 100_000_000  # transitions looked at, at the most: where a model is large, some accuracy is given up
DAMPING = 0.1  # of staying where one is, so that nothing is periodic
STRONG_DAMPING = 0.5  # where actions are questioned but now and then, and models may be nearly periodic
EVALUATIONS = 15
ACCURACY = 1e-3
TIE = 1e-9
ONE = np.uint64(1)


def plan(
    counts: Counts, runs: Integers, weights: Array, rewards: Array, elsewhere: Array | None = None
) -> tuple[Array, Array]:
    """Policies of some runs that are optimal for `rewards` in models with the probabilities `weights`; their gains.

    What the probabilities of a pair leave of 1 leads to a state that a number `elsewhere` in [0, 1), (runs, states,
    actions), chooses from those within reach; None: they leave nothing. A pair that was never tried is believed to lead
    back to its own state: its reward is to be had for ever, and it is gone to by the shortest way. Ties share. Only
    states within reach of the one a run is in, or one of its copies, are looked at; others are left uniform.
    """
    policies, gains = np.empty_like(rewards), np.empty(len(runs))
    _plan(
        counts.pairs, counts.successors, counts.sizes, counts.current.reshape(len(rewards), -1), counts.visits, runs,
        weights, rewards,
        np.zeros(rewards.shape) if elsewhere is None else elsewhere, policies, gains,
    )  # fmt: skip
    return policies, gains


def plan_in(
    model: SparseModel, states: Integers, rewards: Array, values: Array, accuracy: float
) -> tuple[Array, Array, float, float]:
    """A policy that is optimal in a model of some states, its Q, both (states, actions), its gain, and its gap.

    Q(x, a) = r(x, a) − gain + Σ P(y|x, a) v(y). No policy has a gain that is larger by more than the gap, which is at
    most `accuracy` times the gain or a tenth of the spread of rewards, unless a bound on the work was met before. Ties
    share. Other states have a uniform policy, and Q = 0. values: v to begin with, (states,), and what was found.
    """
    policy, scores = np.full(rewards.shape, 1.0 / rewards.shape[1]), np.zeros(rewards.shape)
    gain, gap = _plan_in(*model, states, rewards, accuracy, values, scores, policy)
    return policy, scores, float(gain), float(gap)


@kernel
def _plan_in(
    begins: Any, after: Any, chances: Any, states: Any, rewards: Any, accuracy: Any, values: Any, scores: Any,
    policy: Any,
) -> Any:  # fmt: skip
    lowest = np.inf  # from which rewards are counted: a gap is as small as gains are
    for x in states:
        lowest = min(lowest, rewards[x].min())
    above, work = rewards - lowest, after.size + states.size
    effort = (accuracy, STRONG_DAMPING, EVALUATIONS)
    gain, gap, _ = optimise(states, begins, after, chances, above, effort, work, values, scores)
    spread = spread_of(states, rewards)
    for x in states:
        share_among_best(scores[x], TIE * spread, policy[x])
        for a in range(rewards.shape[1]):
            scores[x, a] -= gain
    return gain + lowest, gap


@kernel
def _plan(
    pairs: Any, successors: Any, sizes: Any, current: Any, visits: Any, runs: Any, weights: Any, rewards: Any,
    elsewhere: Any, policies: Any, gains: Any,
) -> None:  # fmt: skip
    num_states, num_actions = rewards.shape[1:]
    begins = np.empty(num_states * num_actions + 1, dtype=np.int64)
    rest, values = np.empty(num_states * num_actions), np.empty(num_states)
    scores = np.empty((num_states, num_actions))
    for i in range(runs.size):
        run = runs[i]
        size = sizes[run]
        order = order_by_pair(pairs[run, :size], begins)
        after, chances = successors[run][order], weights[run][order]
        rest[:] = 1.0
        for e in range(size):
            rest[pairs[run, e]] -= weights[run, e]
        states = _within_reach(current[run], num_states, num_actions, begins, after)
        all_after, all_chances = _with_the_rest(states, begins, after, chances, visits[run], rest, elsewhere[run])
        values[:] = 0.0
        gains[i], _, _ = optimise(
            states, begins, all_after, all_chances, rewards[run], (ACCURACY, DAMPING, 0), size + states.size, values,
            scores,
        )  # fmt: skip
        policies[run] = 1.0 / num_actions
        spread = spread_of(states, rewards[run])
        for x in states:
            share_among_best(scores[x], TIE * spread, policies[run, x])


@kernel
def _with_the_rest(states: Any, begins: Any, after: Any, chances: Any, visits: Any, rest: Any, elsewhere: Any) -> Any:
    """The transitions of each pair behind one more, to where the rest of its probability leads; moves `begins`."""
    num_actions = visits.shape[1]
    all_after = np.empty(after.size + rest.size, dtype=np.int64)
    all_chances = np.empty(after.size + rest.size)
    for x in states:
        for a in range(num_actions):
            pair = x * num_actions + a
            start = begins[pair] + pair
            tried = visits[x, a] > 0.0
            all_after[start] = states[int(elsewhere[x, a] * states.size)] if tried else x
            all_chances[start] = rest[pair] if tried else 1.0
            for e in range(begins[pair], begins[pair + 1]):
                all_after[e + pair + 1], all_chances[e + pair + 1] = after[e], chances[e]
    for pair in range(begins.size):
        begins[pair] += pair
    return all_after, all_chances


@kernel
def optimise(
    states: Any, begins: Any, after: Any, chances: Any, rewards: Any, effort: Any, work: Any, values: Any, scores: Any
) -> Any:  # fmt: skip
    """Damped relative value iteration in a sparse model: its best gain, the gap between bounds on that, and sweeps.

    scores(x, a) = r(x, a) + Σ P(y|x, a) v(y),  v(x) ← (1 − δ) max_a scores(x, a) + δ v(x), less that of the first of
    `states`. The smallest and the largest change of v(x), over 1 − δ, bound the gain (Odoni 1969), whatever v is.

    begins, after, chances: pair x · actions + a leads to after[e] with the probability chances[e], e from begins[pair]
    to before begins[pair + 1]. values: v to begin with, and what was found. work: transitions looked at in a sweep.
    effort: the accuracy, δ, and the sweeps between two of these in which the actions that were best are not questioned
    (modified policy iteration; Puterman and Shin 1978).
    """
    # Unsigned numbers index arrays without a check for negative ones.
    states, begins, after = states.view(np.uint64), begins.view(np.uint64), after.view(np.uint64)
    num_actions, (accuracy, damping, evaluations) = np.uint64(rewards.shape[1]), effort
    updated, spread, best = np.empty(values.size), spread_of(states, rewards), np.empty(values.size, dtype=np.uint64)
    low, high, sweeps = -np.inf, np.inf, 0.0
    for _ in range(min(SWEEPS * states.size, WORK // work) // (1 + evaluations) + 200):
        sweeps += 1.0
        low, high = np.inf, -np.inf
        for x in states:
            top = -np.inf
            for a in range(num_actions):
                pair = x * num_actions + a
                score = rewards[x, a]
                for e in range(begins[pair], begins[pair + ONE]):
                    score += chances[e] * values[after[e]]
                scores[x, a] = score
                if score > top:
                    top, best[x] = score, a
            updated[x] = (1.0 - damping) * top + damping * values[x]
            low, high = min(low, updated[x] - values[x]), max(high, updated[x] - values[x])
        offset = updated[states[0]]
        for x in states:
            values[x] = updated[x] - offset
        if high - low <= accuracy * max(abs(high), 0.1 * spread):
            break
        for _ in range(evaluations):
            _evaluate(states, begins, after, chances, rewards, best, damping, values, updated)
        sweeps += evaluations / num_actions
    return 0.5 * (low + high) / (1.0 - damping), (high - low) / (1.0 - damping), sweeps


@kernel
def _evaluate(
    states: Any, begins: Any, after: Any, chances: Any, rewards: Any, actions: Any, damping: Any, values: Any,
    updated: Any,
) -> None:  # fmt: skip
    """A sweep that follows these actions."""
    for x in states:
        pair = x * np.uint64(rewards.shape[1]) + actions[x]
        score = rewards[x, actions[x]]
        for e in range(begins[pair], begins[pair + ONE]):
            score += chances[e] * values[after[e]]
        updated[x] = (1.0 - damping) * score + damping * values[x]
    offset = updated[states[0]]
    for x in states:
        values[x] = updated[x] - offset


@kernel
def _within_reach(current: Any, num_states: Any, num_actions: Any, begins: Any, after: Any) -> Any:
    """The states to which the transitions seen may lead from some, these among them, in the order of numbers."""
    reached, stack = np.zeros(num_states, dtype=np.bool_), np.empty(num_states, dtype=np.int64)
    waiting = 0
    for start in current:
        if not reached[start]:
            reached[start], stack[waiting] = True, start
            waiting += 1
    while waiting:
        waiting -= 1
        x = stack[waiting]
        for e in range(begins[x * num_actions], begins[(x + 1) * num_actions]):
            if not reached[after[e]]:
                reached[after[e]] = True
                stack[waiting] = after[e]
                waiting += 1
    return np.flatnonzero(reached)


@kernel
def spread_of(states: Any, rewards: Any) -> Any:
    """The highest minus the lowest reward in some states."""
    low, high = np.inf, -np.inf
    for x in states:
        for a in range(rewards.shape[1]):
            low, high = min(low, rewards[x, a]), max(high, rewards[x, a])
    return high - low


@kernel
def share_among_best(scores: Any, tie: Any, probabilities: Any) -> None:
    """The same probability for all actions whose score is the highest, up to `tie`."""
    top = scores.max()
    count = 0
    for a in range(scores.size):
        probabilities[a] = 1.0 if scores[a] >= top - tie else 0.0
        count += int(probabilities[a])
    for a in range(scores.size):
        probabilities[a] /= count
