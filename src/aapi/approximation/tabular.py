"""Q-functions as tables over finitely many states, whatever features they are fitted with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.boltzmann import boltzmann
from aapi.approximation.projected_equations import equations_of_steps
from aapi.approximation.reservoir import place_in_reservoir, reservoir_size, root_of_squares
from aapi.approximation.space import Actor, QSpace, States, Surprise, Temperature, as_numbers
from aapi.approximation.sparse_features import fit_averages, fit_features, predict
from aapi.approximation.temporal_differences import rule_in_table
from aapi.checks import check_indices
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import singular_regression
from aapi.kernels.random import draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.approximation.projected_equations import Equations
    from aapi.approximation.temporal_differences import Rates, Rule
    from aapi.array_types import Actions, Array, Integers, Streams
    from aapi.features.active import ActiveFeatures
    from aapi.mdp import FiniteMDP


class Tabular(QSpace):
    """Q is a table (runs, states, actions), and so is a policy; a temperature has a number for every state.

    features: φ(x, a), in which regressions are done before they are tabulated.
    """

    countable = True
    state_shape: tuple[int, ...] = ()
    state_dtype = np.int32

    def __init__(self, features: ActiveFeatures, num_actions: int, model: FiniteMDP | None = None) -> None:
        self.features, self.num_actions, self.model = features, num_actions, model
        self.rows = (len(features.starts) - 1) // num_actions
        self.num_features = features.num_features

    def check_states(self, states: States, name: str) -> None:
        """Raise an error unless all are numbers of states."""
        check_indices(states, self.rows, name)

    def uniform(self, runs: int) -> Array:
        """π(a|x) = 1/A."""
        return np.full(self.shape(runs), 1.0 / self.num_actions)

    def _check_policy(self, policy: Array, runs: int) -> Array:
        """A table of probabilities, or an error."""
        return self._cumulate(policy, runs)[0]

    def cumulate(self, policy: Array, runs: int) -> Array:
        """π(0|x) + … + π(a|x) of a policy, and 2 from the last possible action on; or an error.

        An action is drawn as the first at which this exceeds a number from [0, 1): never one that is not possible.
        """
        return self._cumulate(policy, runs)[1]

    def _cumulate(self, policy: Array, runs: int) -> tuple[Array, Array]:
        table = as_numbers(policy, "policies")
        if table.shape != self.shape(runs):
            raise InvalidInput(
                f"policies must have the shape {self.shape(runs)}, (runs, states, actions), not {table.shape}"
            )
        cumulated = np.empty_like(table)
        if not _cumulate(table, cumulated):
            raise InvalidInput("policies must be probabilities, which sum to one over the actions")
        return table, cumulated

    def softmax(self, index: Array, temperature: Temperature) -> Array:
        """A table of π(a|x) ∝ exp(index(x, a)/temperature(x))."""
        return boltzmann(index, _broadcast(temperature, index.shape[:2]))

    def _most_likely(self, policy: Array) -> Array:
        """All probability on the most likely action, the first if there are several."""
        return np.asarray(np.eye(self.num_actions)[policy.argmax(axis=2)])

    def _probabilities(self, policy: Array, states: States) -> Array:
        """π(·|x) at states, (runs, n, actions)."""
        return np.asarray(policy[np.arange(len(policy))[:, None], states])

    def values(self, q: Array, states: States) -> Array:
        """Q(x, ·) at states, (runs, n, actions)."""
        return self.probabilities(q, states)

    def temperatures(self, temperature: Temperature, runs: int, states: States) -> Array:
        """η(x) at states, (runs, n)."""
        table = _broadcast(temperature, (runs, self.rows))
        return np.asarray(table[np.arange(runs)[:, None], states])

    def join(self, policies: Sequence[Array]) -> Array:
        """Tables one after the other."""
        return np.concatenate(policies)

    def _actor(self, policy: Array, stream: Streams) -> Actor:
        """Draws a ~ π(·|x) of the first run."""
        return partial(_draw_action, np.ascontiguousarray(policy[0]), stream)

    def _chooser(self, policy: Array) -> Actor:
        """The most likely action."""
        return partial(_best_action, np.ascontiguousarray(policy[0]))

    def _draw(self, policy: Array, stream: Streams, states: States) -> Integers:
        """Actions for states of the first run."""
        actions = np.empty(len(states), dtype=np.int64)
        _draw_actions(np.ascontiguousarray(policy[0]), stream, states, actions)
        return actions

    def surprise(self, runs: int, norm: str, num_sampled: int | None, num_phases: int | None) -> TabularSurprise:
        """No surprise yet."""
        size = reservoir_size(num_sampled, num_phases) if num_sampled else 0
        zeros = np.zeros((runs, self.rows))
        sample = np.zeros((size, runs, self.rows))
        return TabularSurprise(
            zeros, zeros, sample, span=norm == "span", num_phases=num_phases, num_actions=self.num_actions
        )

    def fit(
        self, states: States, actions: Actions, targets: Array, ridge: float, weights: Array | None = None
    ) -> Array:
        """The table of φᵀw; with one-hot features, averages of the targets of each pair."""
        q_hat = np.empty(self.shape(len(targets)))
        if self.features.one_hot:
            fit_averages(states, actions, targets, weights, ridge, q_hat)
        elif not fit_features(states, actions, targets, weights, ridge, self.features, q_hat):
            raise singular_regression(ridge)
        return q_hat

    def equations(
        self, states: States, actions: Actions, rewards: Array, successors: States, policy: Array, trace: float
    ) -> Iterator[Equations]:
        """The projected equations of each run."""
        table = np.ascontiguousarray(policy)
        for run in range(len(rewards)):
            steps = states[run], actions[run], rewards[run], successors[run]
            yield equations_of_steps(self.features, table[run], steps, trace, self.copies)

    def temporal_differences(self, difference: Any, rates: Rates, runs: int) -> Rule:
        """In the table itself."""
        return rule_in_table(difference, rates, self.shape(runs))

    def from_weights(self, blocks: Array) -> Array:
        """The table of φᵀw."""
        table = np.empty((self.rows, self.num_actions))
        predict(blocks, self.features, table)
        return table


@dataclass(frozen=True, eq=False)
class TabularSurprise(Surprise):
    """size: ‖Q̂_k − M_k‖; root_sum: (Σ_{s≤k} ‖Q̂_s − M_s‖²)^½, both (runs, states).

    sample: some of the past sizes, (number, runs, states), for rates that sample; else none.
    """

    size: Array
    root_sum: Array
    sample: Array

    @property
    def last(self) -> Array:
        """‖Q̂_k − M_k‖, (runs, states)."""
        return self.size

    def add(self, k: int, q_hat: Array, prediction: Array, weight: float, streams: Streams) -> TabularSurprise:
        """The sizes of phase k, and the root of the sum of squares with them in it."""
        size, root_sum = np.empty_like(self.size), np.empty_like(self.root_sum)
        if not _measure(q_hat, prediction, self.span, weight, self.root_sum, size, root_sum):
            raise InvalidInput(f"the evaluation of phase {k} returned a value that is not a finite number")
        if len(self.sample):
            places = place_in_reservoir(k, len(self.sample), streams)
            runs = np.flatnonzero(places >= 0)
            self.sample[places[runs], runs] = size[runs]
        return TabularSurprise(
            size, root_sum, self.sample, span=self.span, num_phases=self.num_phases, num_actions=self.num_actions, k=k,
            streams=streams,
        )  # fmt: skip

    def root(self, scale: float = 1.0) -> Array:
        """Exactly, (runs, states)."""
        return scale * self.root_sum

    def sampled_root(self, scale: float, num_sampled: int, keep_first: bool = False) -> Array:
        """An estimate from a few past sizes, (runs, states)."""
        chosen, scales = self._draw(num_sampled, keep_first, len(self.sample))
        root = np.empty_like(self.root_sum)
        _sampled_root(self.sample, chosen, scales, root)
        return scale * root


def _broadcast(temperature: Temperature, shape: tuple[int, int]) -> Array:
    """A temperature for every run and state: given so, or one for each run, or one for all."""
    given = as_numbers(temperature, "a learning rate")
    if given.shape not in ((), shape[:1], shape):
        raise InvalidInput(
            f"a learning rate must return a number, one for each of {shape[0]} runs, or an array of shape {shape}, "
            f"(runs, states), not {given.shape}"
        )
    if given.shape == shape:
        return given
    return np.broadcast_to(given[:, None] if given.ndim == 1 else given, shape)


@kernel
def _cumulate(policy: Any, cumulated: Any) -> Any:
    """Running sums over the actions, and 2 from the last possible action on; false if these are no probabilities."""
    num_runs, num_states, num_actions = policy.shape
    for run in range(num_runs):
        for x in range(num_states):
            total, last, least = 0.0, 0, 0.0
            for a in range(num_actions):
                probability = policy[run, x, a]
                least = min(least, probability)
                if probability > 0.0:
                    last = a
                total += probability
                cumulated[run, x, a] = total
            for a in range(last, num_actions):
                cumulated[run, x, a] = 2.0
            if not (least >= 0.0 and abs(total - 1.0) <= 1e-9):
                return False
    return True


@kernel
def _measure(q_hat: Any, predicted: Any, span: Any, weight: Any, before: Any, size: Any, root_sum: Any) -> Any:
    """The size of the surprise, and the root of the sum of squares; false if a value is not finite."""
    num_runs, num_states, num_actions = q_hat.shape
    for run in range(num_runs):
        last, sizes, roots = before[run], size[run], root_sum[run]
        for x in range(num_states):
            low = high = q_hat[run, x, 0] - predicted[run, x, 0]
            for a in range(1, num_actions):
                difference = q_hat[run, x, a] - predicted[run, x, a]
                low = min(low, difference)
                high = max(high, difference)
            sizes[x] = weight * (0.5 * (high - low) if span else max(high, -low))
            if not sizes[x] < math.inf:
                return False
        for x in range(num_states):
            # √(a² + b²) without the squares, which would over- or underflow long before Q̂ does.
            larger, smaller = max(last[x], sizes[x]), min(last[x], sizes[x])
            ratio = smaller / (larger if larger > 0.0 else 1.0)
            roots[x] = larger * math.sqrt(1.0 + ratio * ratio)
    return True


@kernel
def _sampled_root(surprises: Any, sample: Any, scales: Any, out: Any) -> None:
    """(Σ_{s in sample} (scale_s surprise_s)²)^½ for every run and state."""
    sizes = np.empty(sample.shape[1])
    for run in range(out.shape[0]):
        for x in range(out.shape[1]):
            for i in range(sizes.size):
                sizes[i] = scales[i] * surprises[sample[run, i], run, x]
            out[run, x] = root_of_squares(sizes)


@kernel
def _draw_action(table: Any, stream: Any, state: Any) -> Any:
    """a ~ π(·|state); rounding at the top end falls to the last action that is possible at all."""
    u = draw(stream)
    chosen = 0
    cumulated = 0.0
    for a in range(table.shape[1]):
        if table[state, a] > 0.0:
            chosen = a
            cumulated += table[state, a]
            if u < cumulated:
                break
    return chosen


@kernel
def _draw_actions(table: Any, stream: Any, states: Any, actions: Any) -> None:
    for i in range(actions.size):
        actions[i] = _draw_action(table, stream, states[i])


@kernel
def _best_action(table: Any, state: Any) -> Any:
    """The most likely action, the first if there are several."""
    best = 0
    for a in range(1, table.shape[1]):
        if table[state, a] > table[state, best]:
            best = a
    return best
