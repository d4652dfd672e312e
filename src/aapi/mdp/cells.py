"""What a log says, added up: how often each successor followed on each pair, and what was paid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask, Matrix
    from aapi.mdp.transition_log import TransitionLog


@dataclass(frozen=True, eq=False)
class Cells:
    """One for each pair x · actions + a and successor that were seen together, in their order.

    counts: how often. means, squares: of the rewards, and Σ (r − mean)². spreads: by how much rewards of a pair differ.
    shape: (states, actions).
    """

    shape: tuple[int, int]
    pairs: Integers
    successors: Integers
    counts: Integers
    means: Array
    squares: Array
    spreads: Array

    @classmethod
    def of(cls, log: TransitionLog, rows: Mask | None = None) -> Cells:
        """Those of a log, or of some of its rows."""
        which = slice(None) if rows is None else rows
        pairs = log.states[which] * log.num_actions + log.actions[which]
        rewards, shape = log.rewards[which], (log.num_states, log.num_actions)
        keys, place = np.unique(pairs * log.num_states + log.next_states[which], return_inverse=True)
        counts = np.bincount(place, minlength=len(keys)).astype(np.int64)
        first = np.zeros(len(keys))
        first[place] = rewards  # means of what is always the same are that, to the bit
        means = first + np.bincount(place, rewards - first[place], len(keys)) / counts
        squares = np.asarray(np.bincount(place, (rewards - means[place]) ** 2, len(keys)), dtype=np.float64)
        low, high = np.full(shape[0] * shape[1], np.inf), np.full(shape[0] * shape[1], -np.inf)
        np.minimum.at(low, pairs, rewards)
        np.maximum.at(high, pairs, rewards)
        spreads = np.where(np.isfinite(low), high - np.where(np.isfinite(low), low, 0.0), 0.0).reshape(shape)
        return cls(shape, *np.divmod(keys, log.num_states), counts, means, squares, spreads)

    @cached_property
    def tries(self) -> Integers:
        """How often each action was taken in each state, (states, actions)."""
        return np.bincount(self.pairs, self.counts, self.shape[0] * self.shape[1]).astype(np.int64).reshape(self.shape)

    def average(self, values: Array) -> Array:
        """The mean of a number of each cell over the tries of its pair, (states, actions); 0 where there are none."""
        sums = np.bincount(self.pairs, self.counts * values, self.shape[0] * self.shape[1]).reshape(self.shape)
        return np.asarray(sums / np.maximum(self.tries, 1))

    @cached_property
    def transitions(self) -> Matrix:
        """The shares of the successors of each pair, sparse, (states · actions, states)."""
        shares = self.counts / self.tries.ravel()[self.pairs]
        shape = (self.shape[0] * self.shape[1], self.shape[0])
        return scipy.sparse.coo_array((shares, (self.pairs, self.successors)), shape=shape).tocsr()

    def variation(self, values: Array) -> Array:
        """Σ (r + values(x') − their mean)² over the tries of each pair, (states, actions)."""
        here = self.means + values[self.successors]
        apart = here - self.average(here).ravel()[self.pairs]
        squares = self.squares + self.counts * apart**2
        sums = np.bincount(self.pairs, squares, self.shape[0] * self.shape[1])
        return np.asarray(sums, dtype=np.float64).reshape(self.shape)
