"""Q-functions that are linear in features of observation vectors: everything is about weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.linear_policy import LinearPolicy, draw_action
from aapi.approximation.normal_equations import NormalEquations, fit_weighted
from aapi.approximation.projected_equations import equations_of_vectors
from aapi.approximation.reservoir import place_in_reservoir, reservoir_size
from aapi.approximation.space import Actor, QSpace, States, Surprise, Temperature, as_numbers
from aapi.approximation.temporal_differences import rule_by_weights
from aapi.checks import check_like
from aapi.errors import InvalidInput
from aapi.features.basis import Basis
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import LANES, aligned_zeros, singular_regression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.approximation.projected_equations import Equations
    from aapi.approximation.temporal_differences import Rates, Rule
    from aapi.array_types import Actions, Array, Arrays, Integers, Streams


HEAD = 40  # numbers at the front of `_packed`
DEFAULT_SAMPLED = 30  # the paper's n_k for large state spaces


@dataclass(frozen=True, eq=False)
class LinearTemperature:
    """constant + (Σ_s ‖ψ(x)ᵀ differences_s‖²)^½; see `LinearPolicy`."""

    constant: Array
    differences: Array
    span: bool = False

    def __mul__(self, factor: float) -> LinearTemperature:
        return LinearTemperature(factor * self.constant, factor * self.differences, self.span)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> LinearTemperature:
        return self * (1.0 / divisor)


class Linear(QSpace):
    """Q(o, a) = ψ(o)ᵀ w_a: the weights are (runs, features, actions), a policy is a `LinearPolicy`.

    basis: ψ, of an observation vector.
    """

    countable = False
    state_dtype = np.float64

    def __init__(self, basis: Basis, num_actions: int) -> None:
        self.basis, self.num_actions, self.rows = basis, num_actions, basis.num_features
        self.num_features, self.state_shape = self.rows * num_actions, (basis.dimension,)

    def uniform(self, runs: int) -> LinearPolicy:
        """The policy of weights 0."""
        return self.softmax(self.zeros(runs), 0.0)

    def _check_policy(self, policy: LinearPolicy, runs: int) -> LinearPolicy:
        """A linear policy of the right shape, or an error."""
        if not isinstance(policy, LinearPolicy):
            raise InvalidInput(f"a policy on features is a LinearPolicy, such as space.softmax gives, not {policy!r}")
        return policy.check(self.shape(runs))

    def softmax(self, index: Array, temperature: Temperature) -> LinearPolicy:
        """The policy, whose probabilities are computed where it acts."""
        runs = len(index)
        if not isinstance(temperature, LinearTemperature):
            temperature = self._constant(temperature, runs)
        weights = np.ascontiguousarray(index.transpose(0, 2, 1))
        if not np.isfinite(weights).all():
            raise InvalidInput("the sum of Q-functions is no longer finite: scale the rewards down")
        return LinearPolicy(weights, temperature.constant, temperature.differences, temperature.span)

    def _constant(self, temperature: Temperature, runs: int) -> LinearTemperature:
        """One number for all runs, or one for each."""
        given = as_numbers(temperature, "a learning rate")
        if given.shape not in ((), (runs,)) or not given.min() >= 0.0:
            raise InvalidInput(
                f"where Q-functions are weights, a learning rate returns a number ≥ 0, one for each of {runs} runs, or "
                f"what surprise.root() gives; not an array of shape {given.shape} with the least value {given.min()}"
            )
        return LinearTemperature(np.full(runs, given), aligned_zeros(runs, self.rows, 0))

    def _most_likely(self, policy: LinearPolicy) -> LinearPolicy:
        """The same index at temperature zero; ties share."""
        return policy.greedy()

    def _probabilities(self, policy: LinearPolicy, states: States) -> Array:
        """π(·|x) at vectors, (runs, n, actions)."""
        return policy.probabilities(self.basis, states)

    def values(self, q: Array, states: States) -> Array:
        """Q(x, ·) at vectors, (runs, n, actions)."""
        return np.asarray(self.basis(states) @ q)

    def temperatures(self, temperature: Temperature, runs: int, states: States) -> Array:
        """η(x) at vectors, (runs, n)."""
        return self.softmax(self.zeros(runs), temperature).temperature(self.basis, states)

    def join(self, policies: Sequence[LinearPolicy]) -> LinearPolicy:
        """The runs of one after those of the other."""
        return LinearPolicy.join(policies)

    def _actor(self, policy: LinearPolicy, stream: Streams) -> Actor:
        """Draws a ~ π(·|x) of the first run."""
        return partial(_draw_action, _packed(self.basis, policy), stream)

    def _draw(self, policy: LinearPolicy, stream: Streams, states: States) -> Integers:
        """Actions for vectors, (n, dimension), of the first run."""
        actions = np.empty(len(states), dtype=np.int64)
        _draw_actions(_packed(self.basis, policy), stream, np.ascontiguousarray(states), actions)
        return actions

    def temporal_differences(self, difference: Any, rates: Rates, runs: int) -> Rule:
        """By the weights."""
        return rule_by_weights(difference, rates, self.basis, self.shape(runs))

    def surprise(self, runs: int, norm: str, num_sampled: int | None, num_phases: int | None) -> LinearSurprise:
        """No surprise yet."""
        wanted = DEFAULT_SAMPLED if num_sampled is None else num_sampled
        size = reservoir_size(wanted, num_phases) if wanted else 0
        differences = np.zeros((runs, size, self.rows, self.num_actions))
        return LinearSurprise(differences, span=norm == "span", num_phases=num_phases, num_actions=self.num_actions)

    def fit(
        self, states: States, actions: Actions, targets: Array, ridge: float, weights: Array | None = None
    ) -> Array:
        """The weights of each action; 0 for one that was not taken."""
        q_hat = np.empty(self.shape(len(targets)))
        if weights is not None:
            for run in range(len(q_hat)):
                steps = states[run], actions[run], targets[run], weights[run]
                if not fit_weighted(self.basis, *steps, ridge, q_hat[run]):
                    raise singular_regression(ridge)
            return q_hat
        equations = NormalEquations(self.basis)
        for run, action in np.ndindex(len(q_hat), self.num_actions):
            visits = equations.fill(states[run], actions[run], targets[run], action)
            if visits and not equations.solve(ridge):
                raise singular_regression(ridge)
            q_hat[run, :, action] = equations.rhs
        return q_hat

    def equations(
        self, states: States, actions: Actions, rewards: Array, successors: States, policy: LinearPolicy, trace: float
    ) -> Iterator[Equations]:
        """The projected equations of each run."""
        chances = self.probabilities(policy, successors)
        for run in range(len(rewards)):
            steps = states[run], actions[run], rewards[run], successors[run]
            yield equations_of_vectors(self.basis, chances[run], steps, trace, self.copies)

    def from_weights(self, blocks: Array) -> Array:
        """The weights themselves, (features, actions)."""
        return blocks.T


@dataclass(frozen=True, eq=False)
class LinearSurprise(Surprise):
    """Some of the differences w_s − (weights of M_s), (runs, number, features, actions), from which norms are made.

    A table of norms would need all states, so that `last` is None.
    """

    differences: Array

    @property
    def last(self) -> None:
        """There is no table of norms."""

    def add(self, k: int, q_hat: Array, prediction: Array, weight: float, streams: Streams) -> LinearSurprise:
        """Keep the difference of phase k in its place, in the room of the one before."""
        size = self.differences.shape[1]
        if size:
            places = place_in_reservoir(k, size, streams)
            runs = np.flatnonzero(places >= 0)
            self.differences[runs, places[runs]] = weight * (q_hat - prediction)[runs]
        if not np.isfinite(q_hat).all():
            raise InvalidInput(f"the evaluation of phase {k} returned a value that is not a finite number")
        return replace(self, k=k, streams=streams)

    def root(self, scale: float = 1.0) -> LinearTemperature:
        """A sampled estimate; to be exact would take every difference there ever was."""
        return self.sampled_root(scale, DEFAULT_SAMPLED)

    def sampled_root(self, scale: float, num_sampled: int, keep_first: bool = False) -> LinearTemperature:
        """The differences of a fresh sample, scaled so that the root of their squares' sum is the temperature."""
        runs, size, num_features, num_actions = self.differences.shape
        sample, scales = self._draw(num_sampled, keep_first, size)
        width = len(scales) * num_actions
        differences = aligned_zeros(runs, num_features, width)
        for run in range(runs):
            chosen = (scale * scales)[:, None, None] * self.differences[run, sample[run]]  # (n_k, features, actions)
            differences[run, :, :width] = chosen.transpose(1, 0, 2).reshape(num_features, -1)
        return LinearTemperature(np.zeros(runs), differences, self.span)

    def arrays(self) -> Arrays:
        """What has to be stored: the places that are filled."""
        return {"differences": self.differences[:, : self.k]}

    def restored(self, arrays: Arrays) -> LinearSurprise:
        """What was stored, with room for more."""
        given = arrays.get("differences", np.empty(0))
        filled = min(given.shape[1], self.differences.shape[1]) if given.ndim == 4 else 0
        differences = np.zeros_like(self.differences)
        differences[:, :filled] = check_like(arrays, "differences", self.differences[:, :filled])
        return replace(self, differences=differences, k=filled)


def _packed(basis: Basis, policy: LinearPolicy) -> Array:
    """A basis, the policy of the first run and room to work in, as one array: each that is passed takes a call longer.

    At the front, the numbers of a basis, and where in the array each of the others begins, with its shape.
    """
    width = policy.differences.shape[2]
    rooms = (
        np.empty(basis.num_features),
        np.empty(basis.num_features),
        np.empty(len(policy.index[0])),
        np.empty(width),
    )
    arrays = (basis.low, basis.width, basis.matrix, basis.vector, policy.index[0], policy.differences[0], *rooms)
    shapes = [array.shape if array.ndim == 2 else (1, array.size) for array in arrays]
    begins = np.cumsum([HEAD, *(-(-array.size // LANES) * LANES for array in arrays)])
    packed: Array = aligned_zeros(1, 1, int(begins[-1]))[0, 0]
    numbers = (basis.kind, basis.order, basis.scale, basis.size, basis.linear, policy.constant[0], policy.span)
    packed[: len(numbers)] = numbers
    for k, (array, begin, shape) in enumerate(zip(arrays, begins[:-1], shapes, strict=True)):
        packed[8 + 3 * k : 11 + 3 * k] = begin, *shape
        packed[begin : begin + array.size] = array.ravel()
    return packed


@kernel
def _unpacked(packed: Any, k: Any) -> Any:
    """The k-th array in another one, of two axes."""
    begin, rows, columns = int(packed[8 + 3 * k]), int(packed[9 + 3 * k]), int(packed[10 + 3 * k])
    return packed[begin : begin + rows * columns].reshape((rows, columns))


@kernel
def _draw_action(packed: Any, stream: Any, observation: Any) -> Any:
    """a ~ π(·|observation), in a form that costs little to call."""
    basis = Basis(
        int(packed[0]), _unpacked(packed, 0)[0], _unpacked(packed, 1)[0], int(packed[1]), _unpacked(packed, 2),
        _unpacked(packed, 3)[0], packed[2], int(packed[3]), packed[4] != 0.0,
    )  # fmt: skip
    return draw_action(
        basis, _unpacked(packed, 4), packed[5], _unpacked(packed, 5), packed[6] != 0.0, stream, _unpacked(packed, 6)[0],
        _unpacked(packed, 7)[0], _unpacked(packed, 8)[0], _unpacked(packed, 9)[0], None, observation,
    )  # fmt: skip


@kernel
def _draw_actions(packed: Any, stream: Any, observations: Any, actions: Any) -> None:
    for i in range(actions.size):
        actions[i] = _draw_action(packed, stream, observations[i])
