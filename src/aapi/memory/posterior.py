"""Models drawn from what the data leaves possible: Dirichlet transitions, and three beliefs about rewards."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.kernels.jit import kernel, step_kernel
from aapi.kernels.random import draw, fill_normal
from aapi.memory.model import draw_gamma, fill_gamma, order_by_pair

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Streams
    from aapi.memory.counts import Counts
    from aapi.memory.reward_moments import RewardMoments


REST = 1e-3  # of the probability of a pair: when so little is left to successors never seen, one of them has all of it
TINY = 0.05
DENSE = 0.5  # weight of one successor from which on each has a Gamma variable: breaking a stick would take more


class SparseModel(NamedTuple):
    """Transitions by pair: x · actions + a leads to after[e] with the probability chances[e].

    e is from begins[pair] to before begins[pair + 1]. Pairs of states that are not in the model lead nowhere.
    """

    begins: Integers
    after: Integers
    chances: Array


def draw_transitions(counts: Counts, prior: float, width: float, streams: Streams) -> SparseModel:
    """P(·|x, a) ~ Dirichlet((n(x, a, y) + prior/S)/width²), y = 1 … S, of all states x that were seen in the first run.

    States that were never seen are one state more, of number S: what a pair leads to of them is the sum of theirs. It
    leads back to the states seen, by rows of the prior, and never to itself, though a state never seen might lead to
    another. So states that cannot be reached promise one step each time, and less the more is seen, not a paradise.

    Room and time are in proportion to the transitions seen. The sum of the probabilities of all successors that a pair
    never had is exactly one Gamma variable. It is shared out among them by breaking a stick: a place, drawn evenly, has
    the share Beta(1 + α, (u − 1) α) of what is left to u places with α = prior/(S width²) each, which is the law of the
    Dirichlet distribution in an order biased by size. That is exact until `REST` is left; one place more has that.
    Where α is at least `DENSE`, sticks would break into nearly all places, and each has a Gamma variable of its own.
    """
    size = int(counts.sizes[0])
    found = _draw_transitions(
        counts.pairs[0, :size], counts.successors[0, :size], counts.transition_counts[0, :size],
        counts.visits.shape[2], counts.seen[0], prior / counts.seen.shape[1], 1.0 / width**2, streams[0],
    )  # fmt: skip
    return SparseModel(*found)


def modelled_states(counts: Counts) -> Integers:
    """The states of models of the first run: those seen, and S, which stands for the others, if there are others."""
    states: Integers = _modelled(counts.seen[0])
    return states


def draw_beta_rewards(counts: Counts, low: float, high: float, width: float, streams: Streams) -> Array:
    """Mean rewards, (states + 1, actions): low + (high − low) Beta(1 + Σy, 1 + n − Σy), y = (r − low)/(high − low).

    A reward y counts as y of a success, which is what a coin tossed for it (Agrawal and Goyal 2012) does on average.
    Both parameters are divided by width². The last row is of a state that stands for those never seen.
    """
    rewards: Array = _draw_beta(
        counts.visits[0], counts.earned[0], counts.seen[0], low, high - low, 1.0 / width**2, streams[0]
    )
    return rewards


def draw_normal_rewards(
    moments: RewardMoments, counts: Counts, prior: tuple[float, float], width: float, streams: Streams
) -> Array:
    """Mean rewards, (states + 1, actions), of normal rewards with unknown mean and variance.

    1/σ² ~ Gamma(1 + n/2, rate b), μ ~ N((m + Σr)/(1 + n), width² σ²/(1 + n)),
    b = s² + ½ Σ(r − r̄)² + ½ n (r̄ − m)²/(1 + n).
    prior: m and s², which count as one reward. The last row is of a state that stands for those never seen.
    """
    number, means, squares = (with_the_unseen(a[0], 0.0) for a in (moments.visits, moments.means, moments.deviations))
    rewards, states = np.zeros_like(means), modelled_states(counts)
    _draw_normal(number, means, squares, states, *prior, width, streams[0], rewards)
    return rewards


def with_the_unseen(table: Array, value: float) -> Array:
    """A table, (states, actions), with one row more."""
    return np.concatenate([table, np.full((1, table.shape[1]), value)])


@kernel
def _draw_transitions(
    pairs: Any, successors: Any, times: Any, num_actions: Any, seen: Any, prior: Any, shrink: Any, stream: Any
) -> Any:
    states, num_pairs = np.flatnonzero(seen), (seen.size + 1) * num_actions
    starts = np.empty(num_pairs + 1, dtype=np.int64)
    order, begins = order_by_pair(pairs, starts), np.zeros(num_pairs + 1, dtype=np.int64)
    dense = prior * shrink >= DENSE
    room = pairs.size + (states.size + 1 if dense else 8) * (states.size + 1) * num_actions
    after, chances = np.empty(room, dtype=np.int64), np.empty(room)
    marks, used, unseen, work = np.full(seen.size, -1), 0, seen.size - states.size, np.empty(1)
    for pair in range(num_pairs):
        x = pair // num_actions
        if seen[x] if x < seen.size else unseen > 0:
            if used + states.size + 1 > after.size:
                after, chances = _longer(after, states.size), _longer(chances, states.size)
            known = starts[pair + 1] - starts[pair]
            for i in range(known):
                entry = order[starts[pair] + i]
                after[used + i], chances[used + i] = successors[entry], (times[entry] + prior) * shrink
                marks[successors[entry]] = pair
            if dense:
                for y in states:
                    if marks[y] != pair:
                        after[used + known], chances[used + known] = y, prior * shrink
                        known += 1
            left = states.size - known
            if unseen > 0 and x < seen.size:
                after[used + known], chances[used + known] = seen.size, unseen * prior * shrink
                known += 1
            rest = draw_dirichlet(chances[used : used + known], left * prior * shrink, stream, work)
            used = _share_out(
                rest, left, prior * shrink, states, marks, pair, stream, work, after, chances, used + known
            )
        begins[pair + 1] = used
    return begins, after[:used], chances[:used]


@step_kernel
def _share_out(
    rest: Any, left: Any, each: Any, states: Any, marks: Any, pair: Any, stream: Any, work: Any, after: Any,
    chances: Any, used: Any,
) -> Any:  # fmt: skip
    """Break a stick of the length `rest` over the states that are not marked; how many entries are used then."""
    while rest > 0.0 and left > 0:
        share = 1.0 if rest <= REST else _draw_share(1.0 + each, (left - 1) * each, stream, work)
        place = _draw_unmarked(states, marks, pair, stream)
        after[used], chances[used] = place, share * rest
        marks[place] = pair
        rest -= share * rest
        left, used = left - 1, used + 1
    return used


@kernel
def _longer(array: Any, more: Any) -> Any:
    """A copy with room for more."""
    copy = np.empty(2 * array.size + more, dtype=array.dtype)
    copy[: array.size] = array
    return copy


@step_kernel
def draw_dirichlet(shapes: Any, other: Any, stream: Any, work: Any) -> Any:
    """Turn parameters into probabilities drawn from their Dirichlet distribution; of one more, `other`, return it.

    Where they sum to less than `TINY`, one has all, as it nearly would: Gamma variables are too small for numbers then.
    """
    if shapes.size == 0:
        return 1.0
    total = other
    for i in range(shapes.size):
        if total >= TINY:
            break
        total += shapes[i]
    if total < TINY:
        place = draw(stream) * total
        for i in range(shapes.size):
            reached = place < shapes[i]
            place = math.inf if reached else place - shapes[i]
            shapes[i] = 1.0 if reached else 0.0
        return 0.0 if place == math.inf else 1.0
    fill_gamma(stream, shapes)
    rest = draw_gamma(stream, other, work) if other > 0.0 else 0.0
    total = rest
    for i in range(shapes.size):
        total += shapes[i]
    for i in range(shapes.size):
        shapes[i] /= total
    return rest / total


@step_kernel
def _draw_share(one: Any, other: Any, stream: Any, work: Any) -> Any:
    """A number with the distribution Beta(one, other), one ≥ 1; 1 if other = 0."""
    if other <= 0.0:
        return 1.0
    first = draw_gamma(stream, one, work)
    return first / (first + draw_gamma(stream, other, work))


@step_kernel
def _draw_unmarked(states: Any, marks: Any, mark: Any, stream: Any) -> Any:
    """One of the states without this mark, of which there are some, each with the same probability."""
    while True:
        place = states[int(draw(stream) * states.size)]
        if marks[place] != mark:
            return place


@kernel
def _modelled(seen: Any) -> Any:
    states, count = np.empty(seen.size + 1, dtype=np.int64), 0
    for x in range(seen.size):
        if seen[x]:
            states[count] = x
            count += 1
    if count < seen.size:
        states[count] = seen.size
        count += 1
    return states[:count]


@kernel
def _draw_beta(visits: Any, earned: Any, seen: Any, low: Any, spread: Any, shrink: Any, stream: Any) -> Any:
    num_states, num_actions = visits.shape
    rewards, success, work = np.zeros((num_states + 1, num_actions)), np.empty(1), np.empty(1)
    for x in _modelled(seen):
        for a in range(num_actions):
            number, total = (visits[x, a], earned[x, a]) if x < num_states else (0.0, 0.0)
            gained = min(max((total - low * number) / spread, 0.0), number)  # up to rounding
            success[0] = (1.0 + gained) * shrink
            draw_dirichlet(success, (1.0 + number - gained) * shrink, stream, work)
            rewards[x, a] = low + spread * success[0]
    return rewards


@kernel
def _draw_normal(
    number: Any, means: Any, squares: Any, states: Any, mean: Any, variance: Any, width: Any, stream: Any, rewards: Any
) -> None:
    work = np.empty(1)
    for x in states:
        for a in range(rewards.shape[1]):
            n, away = number[x, a], means[x, a] - mean
            rate = variance + 0.5 * squares[x, a] + 0.5 * n * away * away / (1.0 + n)
            precision = draw_gamma(stream, 1.0 + 0.5 * n, work)
            fill_normal(stream, work)
            centre = mean + n * away / (1.0 + n)
            rewards[x, a] = centre + width * work[0] * math.sqrt(rate / (precision * (1.0 + n)))
