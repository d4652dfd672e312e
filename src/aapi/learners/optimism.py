"""Extended value iteration: the best model of a set of models, and a policy that is optimal in it.

Jaksch, Ortner and Auer (2010), section 3.1. One planner for all sets: they differ in the maximisation inside.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.exploration.planning import share_among_best
from aapi.kernels.elementary import exp, log
from aapi.kernels.jit import kernel, step_kernel

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask


BALL, BOX, DIVERGENCE = range(3)  # the shapes of sets of transition probabilities
DAMPING = 0.1  # of staying where one is, so that no model is periodic
SWEEPS = 20_000  # at the most
WORK = 100_000_000  # transitions looked at, at the most: where a model is large, some accuracy is given up
TIE = 1e-9
ROOTS = 100  # steps of Newton's method or of bisection, at the most


class Transitions(NamedTuple):
    """The transitions of one run, pair by pair: those of pair x · actions + a are begins[pair] … begins[pair + 1] − 1.

    successors: x'; chances: p̂(x'|x, a).
    """

    begins: Integers
    successors: Integers
    chances: Array


class ModelSet(NamedTuple):
    """A set of models around what was seen. Pairs that were never tried may pay the most and lead anywhere.

    rewards: the highest of each pair, r̃(x, a), (pairs,), for rewards scaled to [0, 1].
    shape: which p(·|x, a) are in the set. BALL: Σ |p − p̂| ≤ radius. BOX: |p(x') − p̂(x')| ≤ widths of this transition,
        or radius where x' was not seen to follow. DIVERGENCE: Σ p̂ log(p̂/p) ≤ radius.
    radius: (pairs,). widths: of the transitions, in their order, (entries,).
    """

    shape: int
    rewards: Array
    radius: Array
    widths: Array


class Optimum(NamedTuple):
    """scores: Q of the best model, (states, actions); in states that nothing leads to, the highest of all others.

    policy: it shares all probability among the best actions; uniform in those states. gain: what the model promises, to
    within gap/2. sweeps: how many.
    """

    scores: Array
    policy: Array
    gain: float
    gap: float
    sweeps: int


def extended_value_iteration(
    transitions: Transitions, models: ModelSet, within: Mask, start: Array, accuracy: float, span: float = math.inf
) -> Optimum:
    """The policy and the model of a set with the highest gain: u ← (1 − τ) max_{a, r, p} (r + pᵀu) + τ u.

    It stops as soon as the gap, max_x (Lu − u)(x) − min_x (Lu − u)(x) with Lu the maximum above, is at most `accuracy`.
    The gap is a certificate: the best gain lies between the two, and so does that of the policy that is greedy in u. τ
    (the aperiodicity transformation) changes no gain, and makes periodic models converge.
    Where no model of the set connects all states well enough, as with a set of one model that is not connected, the gap
    may stay open. Then it stops after SWEEPS sweeps, or WORK, and says which gap is left.

    within: the states that probability may be moved to, (states,). start: Q to begin with, (states, actions); any will
        do. The transitions of a pair may be reordered.
    span: u is kept within span of its minimum (SCAL, Fruit et al. 2018). A value beyond is believed to be reached by
        the same action with a smaller reward, which is always in the set, as rewards are at least 0.
    """
    return Optimum(*_search(*transitions, *models, within, start, accuracy, span))


@kernel
def _search(
    begins: Any, successors: Any, chances: Any, shape: Any, rewards: Any, radius: Any, widths: Any, within: Any,
    start: Any, accuracy: Any, span: Any,
) -> Any:  # fmt: skip
    (num_states, num_actions), states = start.shape, np.flatnonzero(within)
    values, updated = np.zeros(num_states), np.empty(num_states)
    order, work, places = states.copy(), states.copy(), np.full(num_states, -1)
    scores, policy = np.empty(start.shape), np.full(start.shape, 1.0 / num_actions)
    _begin(start, span, values)
    low, high, taken = 0.0, np.inf, 0
    sweeps = min(SWEEPS, WORK // (chances.size + scores.size) + 100)
    while taken < sweeps and high - low > accuracy:
        taken += 1
        if shape == BOX:
            sort_by_value(order, values, work)
        _sweep(
            begins, successors, chances, shape, rewards, radius, widths, states, order, places, values, updated, scores
        )
        low, high = _update(states, updated, span, values)
    top = -np.inf
    for x in states:
        top = max(top, scores[x].max())
        share_among_best(scores[x], TIE, policy[x])
    scores[~within] = top
    return scores, policy, 0.5 * (low + high), high - low, taken


@step_kernel
def _begin(start: Any, span: Any, values: Any) -> None:
    """u from Q, with the minimum 0, and capped."""
    floor = np.inf
    for x in range(values.size):
        values[x] = start[x, 0]
        for a in range(1, start.shape[1]):
            values[x] = max(values[x], start[x, a])
        floor = min(floor, values[x])
    for x in range(values.size):
        values[x] = min(values[x] - floor, span)


@step_kernel
def _sweep(
    begins: Any, successors: Any, chances: Any, shape: Any, rewards: Any, radius: Any, widths: Any, states: Any,
    order: Any, places: Any, values: Any, updated: Any, scores: Any,
) -> None:  # fmt: skip
    """One sweep. order: for boxes, states, the best first. places: room, all −1."""
    num_actions, best = scores.shape[1], -np.inf
    for x in states:
        best = max(best, values[x])
    for x in states:
        top = -np.inf
        for a in range(num_actions):
            pair = x * num_actions + a
            first, last = begins[pair], begins[pair + 1]
            after, chance = successors[first:last], chances[first:last]
            if first == last:  # never tried
                mean = best
            elif shape == BALL:
                mean = best_in_ball(after, chance, radius[pair], values, best)
            elif shape == BOX:
                mean = best_in_box(after, chance, widths[first:last], radius[pair], values, order, places)
            else:
                mean = best_in_divergence(after, chance, radius[pair], values, best)
            scores[x, a] = rewards[pair] + mean
            top = max(top, scores[x, a])
        updated[x] = (1.0 - DAMPING) * top + DAMPING * values[x]


@step_kernel
def _update(states: Any, updated: Any, span: Any, values: Any) -> Any:
    """Put what was updated in place, capped, with the minimum 0; the least and the largest change without damping."""
    floor, low, high = np.inf, np.inf, -np.inf
    for x in states:
        floor = min(floor, updated[x])
    for x in states:
        value = min(updated[x], floor + span)
        change = (value - values[x]) / (1.0 - DAMPING)
        low, high = min(low, change), max(high, change)
        values[x] = value - floor
    return low, high


@kernel
def sort_by_value(order: Any, values: Any, work: Any) -> None:
    """Sort states by value, the best first; equal ones stay in their order. Fast where they are nearly sorted."""
    moves = 0
    for i in range(1, order.size):
        x, j = order[i], i
        while j > 0 and values[order[j - 1]] < values[x]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = x
        moves += i - j
        if moves > 8 * order.size:
            break
    if moves <= 8 * order.size:
        return
    width = 1
    while width < order.size:  # merge runs of this width, two by two
        for start in range(0, order.size, 2 * width):
            i, middle, end = start, min(start + width, order.size), min(start + 2 * width, order.size)
            j = middle
            for k in range(start, end):
                if i < middle and (j >= end or values[order[i]] >= values[order[j]]):
                    work[k] = order[i]
                    i += 1
                else:
                    work[k] = order[j]
                    j += 1
        order[:] = work
        width *= 2


@step_kernel
def best_in_ball(successors: Any, chances: Any, radius: Any, values: Any, best: Any) -> Any:
    """max pᵀu over Σ |p − p̂| ≤ radius: radius/2 of the probability moves from the worst successors to the best state.

    It sorts the transitions by the values of their successors; from sweep to sweep there is little to sort.
    """
    if radius >= 2.0:  # all of it
        return best
    for i in range(1, successors.size):
        y, chance, j = successors[i], chances[i], i
        while j > 0 and values[successors[j - 1]] > values[y]:
            successors[j], chances[j] = successors[j - 1], chances[j - 1]
            j -= 1
        successors[j], chances[j] = y, chance
    left = min(0.5 * radius, 1.0)
    mean = left * best
    for i in range(successors.size):
        moved = min(left, chances[i])
        left -= moved
        mean += (chances[i] - moved) * values[successors[i]]
    return mean - max(left, 0.0) * best  # what rounding left


@step_kernel
def best_in_box(
    successors: Any, chances: Any, widths: Any, radius: Any, values: Any, order: Any, places: Any
) -> Any:  # fmt: skip
    """max pᵀu over |p(x') − p̂(x')| ≤ width(x'): all begin at their least, and the best are filled first.

    radius: the width of states that were not seen to follow. order: states, the best first. places: room, all −1.
    """
    left, mean = 1.0, 0.0
    for i in range(successors.size):
        least = max(0.0, chances[i] - widths[i])
        left -= least
        mean += least * values[successors[i]]
        places[successors[i]] = i
    for x in order:
        if left <= 0.0:
            break
        i = places[x]
        room = min(1.0, radius)
        if i >= 0:
            room = min(1.0, chances[i] + widths[i]) - max(0.0, chances[i] - widths[i])
        moved = min(left, room)
        left -= moved
        mean += moved * values[x]
    for x in successors:
        places[x] = -1
    return mean + max(left, 0.0) * values[order[0]]  # what rounding left


@step_kernel
def best_in_divergence(successors: Any, chances: Any, radius: Any, values: Any, best: Any) -> Any:
    """max pᵀu over Σ p̂ log(p̂/p) ≤ radius (Filippi, Cappé and Garivier 2010, algorithm 2).

    p(x') ∝ p̂(x')/(ν − u(x')), where f(ν) = Σ p̂ log(ν − u) + log Σ p̂/(ν − u) is the radius. Where f is below it at the
    highest value of all states, the state that has it takes a share 1 − e^{f − radius}, and ν is that value.
    """
    top, bottom = -np.inf, np.inf
    for x in successors:
        top, bottom = max(top, values[x]), min(bottom, values[x])
    scale = best - bottom
    if scale <= 1e-13 * max(1.0, abs(best)) or radius <= 0.0:
        mean = 0.0
        for i in range(successors.size):
            mean += chances[i] * values[successors[i]]
        return mean
    share, nu = 0.0, 0.0  # ν, as its distance from the best
    if top < best:
        f, _ = _divergence(successors, chances, values, best, 0.0)
        if f < radius:
            share = 1.0 - exp(f - radius)
    if share == 0.0:
        nu = _find_nu(successors, chances, values, best, radius, scale)
    weights = mean = 0.0
    for i in range(successors.size):
        below = best - values[successors[i]]
        weight = chances[i] / (nu + below)
        weights += weight
        mean += weight * below
    return best - (1.0 - share) * mean / weights


@step_kernel
def _divergence(successors: Any, chances: Any, values: Any, best: Any, nu: Any) -> Any:
    """f(ν) and its slope."""
    logs = first = second = 0.0
    for i in range(successors.size):
        distance = nu + (best - values[successors[i]])
        logs += chances[i] * log(distance)
        first += chances[i] / distance
        second += chances[i] / (distance * distance)
    return logs + log(first), first - second / first


@step_kernel
def _find_nu(successors: Any, chances: Any, values: Any, best: Any, radius: Any, scale: Any) -> Any:
    """The root of f(ν) = radius, which falls and is convex, by Newton's method between bounds."""
    mean = square = 0.0
    for i in range(successors.size):
        below = best - values[successors[i]]
        mean += chances[i] * below
        square += chances[i] * below * below
    low, high = 0.0, np.inf
    nu = max(math.sqrt(max(square - mean * mean, 0.0) / (2.0 * radius)), 1e-9 * scale)
    for _ in range(ROOTS):
        f, slope = _divergence(successors, chances, values, best, nu)
        if f > radius:
            low = nu
        else:
            high = nu
        after = nu - (f - radius) / slope
        if not low < after < high:
            after = 2.0 * nu if high == np.inf else 0.5 * (low + high)
        if abs(after - nu) <= 1e-12 * nu:
            return after
        nu = after
    return nu
