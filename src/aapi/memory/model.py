"""Models made of counts: the average of what was seen, or a draw from what it leaves possible."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.kernels.elementary import exp, log
from aapi.kernels.jit import kernel, step_kernel
from aapi.kernels.random import advance, next_normal, to_unit

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Streams
    from aapi.memory.counts import Counts


Model = tuple["Array", "Array"]


def average_probabilities(counts: Counts, prior: float = 0.0) -> Array:
    """Of the transitions in `counts`, (runs, entries). Those of a pair with n visits sum to n/(n + prior)."""
    weights = np.zeros_like(counts.transition_counts)
    _average(counts.pairs, counts.transition_counts, counts.sizes, counts.visits, prior, weights)
    return weights


def average_model(counts: Counts, prior: float) -> Model:
    """Probabilities of the transitions in `counts`, (runs, entries), and mean rewards, (runs, states, actions).

    Of a pair with n visits, a share prior/(n + prior) is left to chance: there, nothing is known but the mean reward
    of all steps.
    """
    mean = counts.total / counts.steps
    rewards = (counts.earned + prior * mean[:, None, None]) / (counts.visits + prior)
    return average_probabilities(counts, prior), rewards


def sampled_model(counts: Counts, prior: float, streams: Streams, runs: Integers) -> Model:
    """The same for models drawn from the posterior, for some runs: of each pair, transitions are Dirichlet.

    The parameters of the distribution are the counts, and `prior` for the share that is left to chance.
    """
    weights, rewards = np.zeros_like(counts.transition_counts), np.zeros_like(counts.earned)
    mean = counts.total / counts.steps
    _sample(
        counts.pairs, counts.transition_counts, counts.sizes, counts.visits, counts.earned, mean, prior, streams, runs,
        weights, rewards,
    )  # fmt: skip
    return weights, rewards


@kernel
def order_by_pair(pairs: Any, begins: Any) -> Any:
    """The numbers of transitions, pair by pair; those of a pair are from begins[pair] to before begins[pair + 1]."""
    begins[:] = 0
    for pair in pairs:
        begins[pair + 1] += 1
    for pair in range(begins.size - 1):
        begins[pair + 1] += begins[pair]
    filled, order = begins[:-1].copy(), np.empty(pairs.size, dtype=np.int64)
    for i in range(pairs.size):
        order[filled[pairs[i]]] = i
        filled[pairs[i]] += 1
    return order


@kernel
def _average(pairs: Any, times: Any, sizes: Any, visits: Any, prior: Any, weights: Any) -> None:
    for run in range(sizes.size):
        flat = visits[run].ravel()
        for i in range(sizes[run]):
            weights[run, i] = times[run, i] / (flat[pairs[run, i]] + prior)


@kernel
def _sample(
    pairs: Any, times: Any, sizes: Any, visits: Any, earned: Any, mean: Any, prior: Any, streams: Any, runs: Any,
    weights: Any, rewards: Any,
) -> None:  # fmt: skip
    num_states, num_actions = visits.shape[1:]
    left, total = np.empty(num_states * num_actions), np.empty(num_states * num_actions)
    work = np.empty(1)
    for run in runs:
        for x in range(num_states):
            for a in range(num_actions):
                pair = x * num_actions + a
                left[pair] = draw_gamma(streams[run], prior, work) if visits[run, x, a] > 0.0 else 1.0
                total[pair] = left[pair]
        weights[run, : sizes[run]] = times[run, : sizes[run]]
        fill_gamma(streams[run], weights[run, : sizes[run]])
        for i in range(sizes[run]):
            total[pairs[run, i]] += weights[run, i]
        for i in range(sizes[run]):
            weights[run, i] /= total[pairs[run, i]]
        for x in range(num_states):
            for a in range(num_actions):
                pair, count = x * num_actions + a, visits[run, x, a]
                chance = left[pair] / total[pair]
                known = earned[run, x, a] / count if count > 0.0 else 0.0
                rewards[run, x, a] = chance * mean[run] + (1.0 - chance) * known


@step_kernel
def draw_gamma(stream: Any, shape: Any, work: Any) -> Any:
    """A number with the Gamma distribution of this shape and scale 1. work: room for one."""
    work[0] = shape
    fill_gamma(stream, work)
    return work[0]


@step_kernel
def fill_gamma(stream: Any, shapes: Any) -> None:
    """Put numbers with Gamma distributions in place of their shapes (Marsaglia and Tsang 2000); the scales are 1."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    for i in range(shapes.size):
        shape, boost = shapes[i], 1.0
        if shape < 1.0:
            s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
            boost = exp(log(1.0 - to_unit(bits)) / shape)
            shape += 1.0
        third = shape - 1.0 / 3.0
        slope, accepted = 1.0 / math.sqrt(9.0 * third), False
        while not accepted:
            s0, s1, s2, s3, z = next_normal(s0, s1, s2, s3, stream)
            root = 1.0 + slope * z
            if root > 0.0:
                s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
                cube, u = root * root * root, 1.0 - to_unit(bits)
                accepted = u < 1.0 - 0.0331 * (z * z) * (z * z)  # then the other test holds, too
                accepted = accepted or log(u) < 0.5 * z * z + third * (1.0 - cube + log(cube))
                shapes[i] = boost * (third * cube)
    stream[0], stream[1], stream[2], stream[3] = s0, s1, s2, s3
