"""Models in continuous time, as finite models whose gains are per unit of time.

Uniformisation (`CTMDP`) looks at a process at the events of a Poisson process that is faster than any state is left,
and the data transformation (`SMDP`; Schweitzer 1971) gives every stay the same length. In both, rewards become rates,
so that no gain has to be converted: a step stands for `step` units of time, 1/rate for a `CTMDP`, and values in
continuous time are that times the bias of the finite model.

Actions that exist in some states only: as in a `FiniteMDP`, one that is not allowed acts as the first that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np
import scipy.sparse

from aapi.checks import finite
from aapi.errors import InvalidInput
from aapi.mdp.arrays import LARGEST, check_real, float_array, pairs_acted_as
from aapi.mdp.linear_systems import row_sums
from aapi.mdp.model import FiniteMDP

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers, Matrix
    from aapi.mdp.model import Labels


class CTMDP:
    """A continuous-time Markov decision process: under action a, it jumps from x to x' at the rate q(x'|x, a).

    rates: dense, (states, actions, states), or sparse, (states · actions, states); those from a state to itself change
        nothing, but may pay a lump.
    reward_rates: what a unit of time in a state pays under an action, (states, actions); costs are negative.
    lump_rewards: what a jump pays besides, in the shape of the rates. allowed: which actions exist, (states, actions).
    labels: names, coordinates and the initial state, as of a `FiniteMDP`.
    """

    def __init__(
        self, rates: Matrix, reward_rates: ArrayLike, *, lump_rewards: Matrix | None = None,
        allowed: ArrayLike | None = None, **labels: Unpack[Labels],
    ) -> None:  # fmt: skip
        given = _rewards(reward_rates, "reward_rates")
        rows = _rows(rates, given, "rates")
        acts_as = pairs_acted_as(allowed, given.shape)
        if lump_rewards is not None:
            given = given + row_sums(rows.multiply(_rows(lump_rewards, given, "lump_rewards"))).reshape(given.shape)
        self.num_states, self.num_actions = given.shape
        self.rates, self.reward_rates = _taken(rows, acts_as), given.ravel()[acts_as]
        wrong = self.rates.data[~((self.rates.data >= 0.0) & (self.rates.data <= LARGEST))]
        if wrong.size:
            raise InvalidInput(f"rates must be finite numbers at least 0, not {wrong[0]}")
        self._allowed, self._labels = allowed, labels
        self.exit_rates: Array = row_sums(self.rates) - _stays(self.rates, given.shape)

    def __repr__(self) -> str:
        return f"CTMDP({self.num_states} states, {self.num_actions} actions, left at rates up to {self.fastest:g})"

    @property
    def fastest(self) -> float:
        """The largest rate at which a state is left."""
        return float(self.exit_rates.max())

    def to_model(self, rate: float | None = None) -> FiniteMDP:
        """The same by uniformisation: rewards are per unit of time, and a step stands for 1/rate units of it.

        rate: at least that at which any state is left; by default, the largest of these.
        """
        rate = (self.fastest or 1.0) if rate is None else rate
        finite(0.0, strictly=True, rate=rate)
        if rate < self.fastest:
            raise InvalidInput(f"rate must be at least {self.fastest:g}, at which a state is left, not {rate:g}")
        stays = scipy.sparse.csr_array(_at_home(1.0 - row_sums(self.rates) / rate, self.reward_rates.shape))
        transitions = self.rates / rate + stays
        transitions.data[abs(transitions.data) < 1e-15] = 0.0  # what rounding leaves of 1 − q/rate
        return FiniteMDP(transitions, self.reward_rates, allowed=self._allowed, **self._labels)


class SMDP:
    """A semi-Markov decision process: a decision pays, takes its time, and leads to the next state.

    transitions: where to, dense or sparse, as of a `FiniteMDP`.
    rewards: what a decision pays in all, (states, actions).
    sojourn_times: how long it takes in the mean, (states, actions). allowed, labels: as of a `CTMDP`.
    """

    def __init__(
        self, transitions: Matrix, rewards: ArrayLike, sojourn_times: ArrayLike, *,
        allowed: ArrayLike | None = None, **labels: Unpack[Labels],
    ) -> None:  # fmt: skip
        given, times = _rewards(rewards, "rewards"), _rewards(sojourn_times, "sojourn_times")
        if times.shape != given.shape:
            raise InvalidInput(f"sojourn_times must have the shape {given.shape} of the rewards, not {times.shape}")
        acts_as = pairs_acted_as(allowed, given.shape)
        rows = _taken(_rows(transitions, given, "transitions"), acts_as)
        times, given = times.ravel()[acts_as], given.ravel()[acts_as]
        if not times.min() > 0.0:
            raise InvalidInput(f"sojourn_times must be larger than 0, not {times.min():g}")
        self.num_states, self.num_actions = given.shape
        self.embedded = FiniteMDP(rows, given, **labels)  # checks the probabilities; a step is a decision
        self.sojourn_times, self._allowed, self._labels = times, allowed, labels

    def __repr__(self) -> str:
        return f"SMDP({self.num_states} states, {self.num_actions} actions)"

    @property
    def longest_step(self) -> float:
        """The most units of time that a step of the finite model can stand for."""
        leaves = 1.0 - _stays(self.embedded.transitions, self.sojourn_times.shape)
        times = self.sojourn_times.ravel()
        moving = leaves > 0.0
        return float((times[moving] / leaves[moving]).min()) if moving.any() else float(times.min())

    def to_model(self, step: float | None = None) -> FiniteMDP:
        """The same by the data transformation: rewards are per unit of time, and a step stands for `step` units.

        step: at most the shortest mean time until a state is left; by default, that.
        """
        longest = self.longest_step
        step = longest if step is None else step
        finite(0.0, strictly=True, step=step)
        if step > longest:
            raise InvalidInput(f"step must be at most {longest:g}, the shortest mean stay, not {step:g}")
        share = step / self.sojourn_times.ravel()
        moves = scipy.sparse.diags_array(share) @ self.embedded.transitions
        transitions = scipy.sparse.csr_array(moves + _at_home(1.0 - share, self.sojourn_times.shape))
        transitions.data[abs(transitions.data) < 1e-15] = 0.0
        rates = self.embedded.rewards / self.sojourn_times
        return FiniteMDP(transitions, rates, allowed=self._allowed, **self._labels)


def _rewards(values: ArrayLike, what: str) -> Array:
    given = float_array(values, what)
    if given.ndim != 2 or 0 in given.shape:
        raise InvalidInput(f"{what} must have the shape (states, actions), not {given.shape}")
    if not np.isfinite(given).all():
        raise InvalidInput(f"{what} must be finite numbers")
    return given


def _rows(matrix: Matrix, rewards: Array, what: str) -> Matrix:
    """A matrix of pairs and states, sparse."""
    states, actions = rewards.shape
    if not scipy.sparse.issparse(matrix):
        dense = float_array(matrix, what)
        if dense.shape != (states, actions, states):
            raise InvalidInput(f"{what} must have the shape {(states, actions, states)}, not {dense.shape}")
        return scipy.sparse.csr_array(dense.reshape(-1, states))
    if matrix.shape != (states * actions, states):
        raise InvalidInput(f"sparse {what} must have the shape {(states * actions, states)}, not {matrix.shape}")
    check_real(matrix, what)
    return scipy.sparse.csr_array(matrix, dtype=np.float64)


def _taken(rows: Matrix, pairs: Integers) -> Matrix:
    return rows[pairs.ravel()]


def _stays(rows: Matrix, shape: tuple[int, ...]) -> Array:
    """The entries of pairs for their own states."""
    pairs = np.arange(shape[0] * shape[1])
    if not scipy.sparse.issparse(rows):
        rows = scipy.sparse.csr_array(rows.reshape(len(pairs), -1))
    return np.asarray(rows[pairs, pairs // shape[1]]).ravel()


def _at_home(entries: Array, shape: tuple[int, ...]) -> Matrix:
    """A matrix of pairs and states with these entries for the pairs' own states."""
    pairs = np.arange(len(entries))
    return scipy.sparse.csr_array((entries, (pairs, pairs // shape[1])), shape=(len(entries), shape[0]))
