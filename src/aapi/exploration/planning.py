"""Policies that are optimal in a model made of counts: damped value iteration on average reward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.kernels.jit import kernel
from aapi.memory.model import order_by_pair

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers
    from aapi.memory import Counts


SWEEPS = 20  # for each state, at the most: longer than any way through the model
WORK = 100_000_000  # transitions looked at, at the most: where a model is large, some accuracy is given up
DAMPING = 0.1  # of staying where one is, so that nothing is periodic
ACCURACY = 1e-3
TIE = 1e-9


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


@kernel
def _plan(
    pairs: Any, successors: Any, sizes: Any, current: Any, visits: Any, runs: Any, weights: Any, rewards: Any,
    elsewhere: Any, policies: Any, gains: Any,
) -> None:  # fmt: skip
    num_states, num_actions = rewards.shape[1:]
    begins = np.empty(num_states * num_actions + 1, dtype=np.int64)
    rest, values, updated = np.empty(num_states * num_actions), np.empty(num_states), np.empty(num_states)
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
        values[:] = 0.0
        spread = _spread(states, rewards[run])
        for _ in range(min(SWEEPS * states.size, WORK // (size + states.size)) + 200):
            low, high = np.inf, -np.inf
            for x in states:
                top = -np.inf
                for a in range(num_actions):
                    pair = x * num_actions + a
                    score = rewards[run, x, a]
                    if visits[run, x, a] > 0.0:
                        score += rest[pair] * values[states[int(elsewhere[run, x, a] * states.size)]]
                        for e in range(begins[pair], begins[pair + 1]):
                            score += chances[e] * values[after[e]]
                    else:
                        score += values[x]
                    scores[x, a] = score
                    top = max(top, score)
                updated[x] = (1.0 - DAMPING) * top + DAMPING * values[x]
                low, high = min(low, updated[x] - values[x]), max(high, updated[x] - values[x])
            offset = updated[states[0]]
            for x in states:
                values[x] = updated[x] - offset
            if high - low <= ACCURACY * max(abs(high), 0.1 * spread):
                break
        gains[i] = 0.5 * (low + high) / (1.0 - DAMPING)
        policies[run] = 1.0 / num_actions
        for x in states:
            _spread_over_best(scores[x], TIE * spread, policies[run, x])


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
def _spread(states: Any, rewards: Any) -> Any:
    """The highest minus the lowest reward in some states."""
    low, high = np.inf, -np.inf
    for x in states:
        for a in range(rewards.shape[1]):
            low, high = min(low, rewards[x, a]), max(high, rewards[x, a])
    return high - low


@kernel
def _spread_over_best(scores: Any, tie: Any, probabilities: Any) -> None:
    top = scores.max()
    count = 0
    for a in range(scores.size):
        probabilities[a] = 1.0 if scores[a] >= top - tie else 0.0
        count += int(probabilities[a])
    for a in range(scores.size):
        probabilities[a] /= count
