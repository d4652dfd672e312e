"""Rewards that are random: what may follow on a pair, successor and reward together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.checks import check_indices
from aapi.errors import InvalidInput
from aapi.mdp.arrays import LARGEST, ROUNDING, ROW_SUM_TOLERANCE, float_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Arrays, Integers, Mask, Matrix


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What may follow on each pair x · actions + a: the outcomes starts[pair] … starts[pair + 1] − 1, in order.

    An outcome is a successor and a reward, with the probability of both together; so rewards may depend on the
    successor, or be drawn whatever it is.
    """

    starts: Integers
    successors: Integers
    probabilities: Array
    rewards: Array

    @classmethod
    def from_rows(
        cls, pairs: ArrayLike, successors: ArrayLike, probabilities: ArrayLike, rewards: ArrayLike,
        num_pairs: int, num_states: int,
    ) -> Outcomes:  # fmt: skip
        """Outcomes in any order, one in each row; equal ones are added up, those of probability 0 left out."""
        places = [_whole(pairs, num_pairs, "pairs"), _whole(successors, num_states, "successors")]
        chances, paid = float_array(probabilities, "probabilities"), float_array(rewards, "rewards")
        if not all(array.shape == places[0].shape and array.ndim == 1 for array in (*places, chances, paid)):
            raise InvalidInput("pairs, successors, probabilities and rewards of outcomes must be lists of one length")
        _check("probability", chances, (chances >= 0.0) & (chances <= 1.0 + 1e-9), places, "between 0 and 1")
        _check("reward", paid, abs(paid) <= LARGEST, places, f"a finite number of at most {LARGEST:g}")
        there = chances > 0.0
        order = np.lexsort((paid[there], places[1][there], places[0][there]))
        rows = [array[there][order] for array in (*places, paid)]
        new = np.append(True, np.any([np.diff(row) != 0 for row in rows], axis=0))[: len(order)]
        summed = np.bincount(np.cumsum(new) - 1, chances[there][order], int(new.sum())).astype(np.float64)
        starts = np.append(0, np.cumsum(np.bincount(rows[0][new], minlength=num_pairs)))
        made = cls(starts, rows[1][new], _rescaled(summed, starts), rows[2][new])
        for array in vars(made).values():
            array.flags.writeable = False
        return made

    @property
    def pairs(self) -> Integers:
        """The pair that each outcome is of."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def certain(self) -> bool:
        """Whether every pair pays the same, whatever happens."""
        same = self.rewards[self.starts[:-1].clip(max=len(self.rewards) - 1)]
        return bool((self.rewards == np.repeat(same, np.diff(self.starts))).all())

    @property
    def means(self) -> Array:
        """The mean reward of every pair, (pairs,); exactly the reward where there is but one."""
        first = self.rewards[self.starts[:-1].clip(max=len(self.rewards) - 1)]
        above = self.rewards - np.repeat(first, np.diff(self.starts))
        return np.asarray(first + np.bincount(self.pairs, self.probabilities * above, len(first)))

    @property
    def width(self) -> float:
        """The largest difference of two rewards of a pair."""
        if not len(self.rewards):
            return 0.0
        starts = self.starts[:-1]
        return float((np.maximum.reduceat(self.rewards, starts) - np.minimum.reduceat(self.rewards, starts)).max())

    def transitions(self, num_states: int) -> Matrix:
        """P(x'|x, a) as a sparse matrix, (pairs, states)."""
        shape = (len(self.starts) - 1, num_states)
        matrix = scipy.sparse.csr_array((self.probabilities, self.successors, self.starts), shape=shape, copy=True)
        matrix.sum_duplicates()
        return matrix

    def of_pairs(self, pairs: Integers) -> Outcomes:
        """Those of some pairs, in this order."""
        lengths = np.diff(self.starts)[pairs]
        starts = np.append(0, np.cumsum(lengths))
        rows = np.arange(starts[-1]) + np.repeat(self.starts[pairs] - starts[:-1], lengths)
        return Outcomes(starts, self.successors[rows], self.probabilities[rows], self.rewards[rows])

    def scaled(self, factor: float) -> Outcomes:
        """With all rewards multiplied by a number."""
        return replace(self, rewards=self.rewards * factor)


def outcomes_of(rows: Matrix, rewards: Array) -> Outcomes:
    """Those of P, (pairs, states), and certain rewards, (states, actions)."""
    entries = scipy.sparse.csr_array(rows)
    paid = np.repeat(rewards.ravel(), np.diff(entries.indptr))
    return Outcomes(entries.indptr.astype(np.int64), entries.indices.astype(np.int64), entries.data, paid)


def outcomes_by_successor(rows: Matrix, rewards: Array) -> Outcomes:
    """Those of P, (pairs, states), and r(x, a, x'), (states, actions, states)."""
    states, actions = rows.shape[1], rows.shape[0] // rows.shape[1]
    if rewards.shape != (states, actions, states):
        raise InvalidInput(
            f"rewards by successor must have the shape (states, actions, states) = {(states, actions, states)}, "
            f"not {rewards.shape}"
        )
    entries = scipy.sparse.coo_array(rows)
    pairs, successors = entries.coords
    paid = rewards.reshape(-1, states)[pairs, successors]
    return Outcomes.from_rows(pairs, successors, entries.data, paid, *rows.shape)


def independent_outcomes(rows: Matrix, values: ArrayLike, probabilities: ArrayLike, shape: tuple[int, ...]) -> Outcomes:
    """Those of P, (pairs, states), and rewards that do not depend on the successor. shape: (states, actions)."""
    paid, chances = float_array(values, "values"), float_array(probabilities, "probabilities")
    kinds = paid.shape[-1] if paid.ndim else 0
    try:
        paid, chances = (np.broadcast_to(array, (*shape, kinds)).reshape(-1, kinds) for array in (paid, chances))
    except ValueError:
        raise InvalidInput(
            f"values and probabilities must have the shape {shape} and one more axis, not {paid.shape} and "
            f"{chances.shape}"
        ) from None
    off = abs(chances.sum(axis=1) - 1.0)
    if not off.max() <= ROW_SUM_TOLERANCE:
        state, action = divmod(int(off.argmax()), shape[1])
        raise InvalidInput(f"the probabilities of the rewards of state {state}, action {action} do not sum to 1")
    entries = scipy.sparse.coo_array(rows)
    pairs, successors = (np.repeat(place, kinds) for place in entries.coords)
    joint = (entries.data[:, None] * chances[entries.coords[0]]).ravel()
    return Outcomes.from_rows(pairs, successors, joint, paid[entries.coords[0]].ravel(), *rows.shape)


def check_outcomes(outcomes: Outcomes, rows: Matrix, means: Array) -> Outcomes:
    """The outcomes, if they are those of P, (pairs, states), and of the mean rewards; or an error."""
    if len(outcomes.starts) != rows.shape[0] + 1 or outcomes.successors.max(initial=0) >= rows.shape[1]:
        raise InvalidInput(f"outcomes must be of {rows.shape[0]} pairs, not of {len(outcomes.starts) - 1}")
    scale = float(np.abs(outcomes.rewards).max(initial=0.0))
    apart = abs(scipy.sparse.csr_array(rows) - outcomes.transitions(rows.shape[1])).max()
    if not (np.abs(outcomes.means - means.ravel()).max() <= 1e-9 * scale and apart <= 2 * ROW_SUM_TOLERANCE):
        raise InvalidInput("the outcomes are not those of the transitions and the mean rewards")
    return outcomes


def _whole(values: ArrayLike, count: int, what: str) -> Integers:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise InvalidInput(f"{what} of outcomes must be whole numbers, not {array.dtype}")
    check_indices(array, count, f"{what} of outcomes")
    return array.astype(np.int64)


def _check(what: str, values: Array, right: Mask, places: list[Integers], bounds: str) -> None:
    if not right.all():
        wrong = int(np.argmin(right))
        pair, successor = (int(array[wrong]) for array in places)
        raise InvalidInput(
            f"the {what} of an outcome must be {bounds}, not {values[wrong]}: pair {pair}, successor {successor}"
        )


def _rescaled(probabilities: Array, starts: Integers) -> Array:
    """Rows that are off one by more than rounding are divided by their sums; a model refuses those far off."""
    lengths = np.diff(starts)
    sums = np.bincount(np.repeat(np.arange(len(lengths)), lengths), probabilities, len(lengths))
    rough = abs(sums - 1.0) > 0.5 * ROUNDING * (lengths + 4)
    near = rough & (abs(sums - 1.0) <= ROW_SUM_TOLERANCE)
    return np.asarray(probabilities / np.repeat(np.where(near, sums, 1.0), lengths))


def stored_outcomes(arrays: Arrays) -> Outcomes | None:
    """The outcomes that a file holds, if there are any; or an error."""
    names = [f"outcome_{name}" for name in ("starts", "successors", "probabilities", "rewards")]
    if not any(name in arrays for name in names):
        return None
    try:
        starts, successors, probabilities, rewards = (arrays[name] for name in names)
        num_states, num_actions = arrays["rewards"].shape
        lengths = np.diff(starts)
        right = starts.shape == (num_states * num_actions + 1,) and starts.dtype.kind in "iu"
        if not right or starts[0] != 0 or lengths.min() < 0:
            raise ValueError("outcome_starts do not rise from 0, one for each pair and one more")
        if starts[-1:].tolist() != list(successors.shape):  # before so many pairs are written down
            raise InvalidInput("pairs, successors, probabilities and rewards of outcomes must be lists of one length")
        pairs = np.repeat(np.arange(len(lengths)), lengths)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise InvalidInput(f"the outcomes are not valid ({error})") from None
    return Outcomes.from_rows(pairs, successors, probabilities, rewards, len(lengths), num_states)
