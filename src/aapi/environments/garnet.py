"""Garnet: random models of a given size and branching (Bhatnagar, Sutton, Ghavamzadeh and Lee 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from aapi.array_types import Integers


def garnet(
    num_states: int = 20, num_actions: int = 4, branching: int = 5, seed: int = 0, num_rewards: int = 0, coins: int = 0
) -> FiniteMDP:
    """Every pair leads to `branching` distinct states drawn uniformly, with probabilities cut from [0, 1] at random.

    Rewards r(x, a) are standard normal; or, with `num_rewards`, so many pairs pay 1 and all others nothing; or, with
    coins = 1, a pair pays 1 or 0, with a probability drawn evenly. The same arguments give the same model. A Garnet
    model can be periodic or multichain when `branching` is small; its optimal gain has no formula: use
    `aapi.mdp.solve`.
    """
    at_least(1, num_states=num_states, num_actions=num_actions, branching=branching)
    at_least(0, seed=seed, num_rewards=num_rewards, coins=coins)
    if branching > num_states:
        raise InvalidInput(f"branching must be at most the number of states, {num_states}, not {branching}")
    random = np.random.default_rng(seed)
    pairs = num_states * num_actions
    if num_rewards > pairs:
        raise InvalidInput(f"num_rewards must be at most the number of pairs, {pairs}, not {num_rewards}")
    cuts = np.sort(random.random((pairs, branching - 1)), axis=1)
    probabilities = np.diff(cuts, axis=1, prepend=0.0, append=1.0)
    successors = np.sort(_distinct(random, num_states, pairs, branching), axis=1)
    rewards = random.standard_normal((num_states, num_actions))
    if num_rewards:
        paying = random.choice(pairs, num_rewards, replace=False)
        rewards = np.isin(np.arange(pairs), paying).astype(np.float64).reshape(num_states, num_actions)
    indptr = np.arange(0, pairs * branching + 1, branching)
    shape = (pairs, num_states)
    transitions = scipy.sparse.csr_array((probabilities.ravel(), successors.ravel(), indptr), shape=shape)
    dense = pairs * num_states <= 4 * pairs * branching  # a quarter full: a dense array is smaller and faster
    model = FiniteMDP(transitions.toarray().reshape(num_states, num_actions, -1) if dense else transitions, rewards)
    if not coins:
        return model
    heads = random.random((num_states, num_actions))
    return model.with_random_rewards([0.0, 1.0], np.stack([1.0 - heads, heads], axis=2))


def _distinct(random: np.random.Generator, population: int, rows: int, count: int) -> Integers:
    """`rows` uniform samples without replacement (Floyd's method, all rows at once), in memory rows × count."""
    chosen = np.empty((rows, count), dtype=np.int64)
    for i, top in enumerate(range(population - count, population)):
        draw = random.integers(0, top + 1, size=rows)
        taken = (chosen[:, :i] == draw[:, None]).any(axis=1)
        chosen[:, i] = np.where(taken, top, draw)
    return chosen
