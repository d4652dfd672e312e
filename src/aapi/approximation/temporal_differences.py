"""Learning from one step at a time, by temporal differences: in tables, and in weights of features."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.features.basis import fill_features
from aapi.kernels.elementary import exp, log
from aapi.kernels.jit import step_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.array_types import Array, Integers
    from aapi.features.basis import Basis


GAIN, STEPS = 0, 1  # what the numbers of a run are: R̄, and n


class Rates(NamedTuple):
    """How fast is learnt, and how much is tried.

    step_size, step_power: α = step_size/n^step_power, at the n-th visit of a pair in tables, at the n-th step in
    weights. epsilon, epsilon_power: ε = epsilon/n^epsilon_power, at the n-th step. gain_rate: of the average reward, as
    a multiple of α. discount: γ, 1 for differences of average reward.
    """

    step_size: float
    step_power: float
    epsilon: float
    epsilon_power: float
    gain_rate: float
    discount: float


class Rule(NamedTuple):
    """What a `StepRule` is made of, with nothing learnt yet.

    check: raises an error if arrays that were stored could not be these, where kernels rely on more than their shapes.
    """

    choose: Any
    learn: Any
    q: Array
    visits: Integers
    numbers: Array
    settings: Any
    work: Any = None
    check: Callable[[Array, Integers, Array], None] | None = None


class LinearWork(NamedTuple):
    """The features ψ, and room: for ψ(x), for products, and for Q(x, ·) and Q(y, ·)."""

    basis: Basis
    features: Array
    products: Array
    values: Array


def rule_in_table(difference: Any, rates: Rates, shape: tuple[int, int, int]) -> Rule:
    """Learning in a table, (runs, states, actions). difference: see `_learn_in_table`."""
    visits, numbers = np.zeros(shape, dtype=np.int64), np.zeros((shape[0], 2))
    return Rule(_choose_in_table, _learn_in_table(difference), np.zeros(shape), visits, numbers, rates)


def rule_by_weights(difference: Any, rates: Rates, basis: Basis, shape: tuple[int, int, int]) -> Rule:
    """Learning weights, (runs, features, actions)."""
    features, products = np.empty((2, basis.num_features))
    work = LinearWork(basis, features, products, np.empty((1, 2, shape[2])))
    visits, numbers = np.zeros((0, 0, 0), dtype=np.int64), np.zeros((shape[0], 2))
    return Rule(_choose_by_weights, _learn_weights(difference), np.zeros(shape), visits, numbers, rates, work)


@step_kernel
def decayed(start: Any, power: Any, n: Any) -> Any:
    """start/n^power."""
    if power == 0.0:
        return start
    if power == 1.0:
        return start / n
    return start / math.sqrt(n) if power == 0.5 else start * exp(-power * log(float(n)))


@step_kernel
def best_value(q: Any, run: Any, x: Any) -> Any:
    """max_a Q(x, a)."""
    best = q[run, x, 0]
    for a in range(1, q.shape[2]):
        best = max(best, q[run, x, a])
    return best


@step_kernel
def epsilon_greedy(q: Any, run: Any, x: Any, epsilon: Any, u: Any) -> Any:
    """Any action with probability ε, else one that is best, by a number u from [0, 1). Ties share."""
    num_actions, best, chosen = q.shape[2], q[run, x, 0], 0
    for a in range(1, num_actions):
        value = q[run, x, a]
        chosen = a if value > best else chosen
        best = max(best, value)
    ties = 0
    for a in range(num_actions):
        ties += q[run, x, a] == best
    if ties > 1 and u >= epsilon:
        chosen = _one_of_the_best(q, run, x, best, int((u - epsilon) / (1.0 - epsilon) * ties))
    # A choice that is made without a branch, which a processor would often guess wrong.
    tried = int(min(u / epsilon, 1.0) * num_actions) if epsilon > 0.0 else 0
    return min(tried, num_actions - 1) if u < epsilon else chosen


@step_kernel
def _one_of_the_best(q: Any, run: Any, x: Any, best: Any, place: Any) -> Any:
    """The action at that place among those with the best value, or the last of them."""
    chosen = 0
    for a in range(q.shape[2]):
        if q[run, x, a] == best and place >= 0:
            chosen = a
            place -= 1
    return chosen


@step_kernel
def _choose_in_table(
    q: Any, visits: Any, numbers: Any, rates: Any, work: Any, run: Any, x: Any, u: Any
) -> Any:  # fmt: skip
    """ε-greedy in Q(x, ·)."""
    return epsilon_greedy(q, run, x, decayed(rates.epsilon, rates.epsilon_power, numbers[run, STEPS] + 1.0), u)


@functools.cache
def _learn_in_table(difference: Any) -> Any:
    """Q(x, a) += α δ, where a kernel gives α δ, and moves the gain.

    difference(numbers, rates, run, q, row, x, a, reward, y, b, step_size), in which Q(x, ·) is q[row, x].
    """

    @step_kernel
    def learn(
        q: Any, visits: Any, numbers: Any, rates: Any, work: Any, run: Any, x: Any, a: Any, reward: Any, y: Any, b: Any
    ) -> None:
        numbers[run, STEPS] += 1.0
        visits[run, x, a] += 1
        step_size = decayed(rates.step_size, rates.step_power, visits[run, x, a])
        q[run, x, a] += difference(numbers, rates, run, q, run, x, a, reward, y, b, step_size)

    return learn


@step_kernel
def _fill_values(q: Any, work: Any, run: Any, observation: Any, row: Any) -> None:
    """ψ(o), and Q(o, ·) = ψ(o)ᵀ w in a row of `work.values`."""
    values, features = work.values, work.features
    fill_features(work.basis, observation, features, work.products)
    for a in range(values.shape[2]):
        values[0, row, a] = 0.0
    for f in range(features.size):
        if features[f] != 0.0:
            for a in range(values.shape[2]):
                values[0, row, a] += features[f] * q[run, f, a]


@step_kernel
def _choose_by_weights(
    q: Any, visits: Any, numbers: Any, rates: Any, work: Any, run: Any, x: Any, u: Any
) -> Any:  # fmt: skip
    """ε-greedy in Q(x, ·)."""
    _fill_values(q, work, run, x, 0)
    epsilon = decayed(rates.epsilon, rates.epsilon_power, numbers[run, STEPS] + 1.0)
    return epsilon_greedy(work.values, 0, 0, epsilon, u)


@functools.cache
def _learn_weights(difference: Any) -> Any:
    """w_a += α δ ψ(x)/‖ψ(x)‖², so that Q(x, a) moves by α δ, as it does in a table."""

    @step_kernel
    def learn(
        q: Any, visits: Any, numbers: Any, rates: Any, work: Any, run: Any, x: Any, a: Any, reward: Any, y: Any, b: Any
    ) -> None:
        features = work.features
        numbers[run, STEPS] += 1.0
        _fill_values(q, work, run, y, 1)
        _fill_values(q, work, run, x, 0)
        step_size = decayed(rates.step_size, rates.step_power, numbers[run, STEPS])
        change = difference(numbers, rates, run, work.values, 0, 0, a, reward, 1, b, step_size)
        norm = 0.0
        for f in range(features.size):
            norm += features[f] * features[f]
        for f in range(features.size):
            if features[f] != 0.0:
                q[run, f, a] += change / norm * features[f]

    return learn
