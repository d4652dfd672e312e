"""Admission control: an M/M/c/c loss system whose customers pay differently (Miller 1969)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.checks import at_least
from aapi.mdp import CTMDP

if TYPE_CHECKING:
    from aapi.array_types import Integers
    from aapi.mdp import FiniteMDP

PAYMENTS = np.array([8.0, 2.0, 1.0])
ARRIVALS = np.array([0.3, 0.3, 0.3])  # of each class, for each server
MOST_RESERVED = 16  # servers, in the search for the best reservation


def admission(servers: int = 10) -> FiniteMDP:
    """Let in those who pay 8, or also those who pay 2, or all, also those who pay 1, when so many servers are busy.

    Customers of each class arrive at the rate .3 · servers and stay for an exponential time with mean 1. With all
    servers busy they are lost. Gains are per unit of time.

    Ergodic: who pays 8 is let in, so that the system fills and empties under every policy.
    """
    at_least(1, servers=servers)
    count, states = len(PAYMENTS), servers + 1
    busy, accepted = np.divmod(np.arange(states * count), count)
    let_in, paid = np.cumsum(ARRIVALS)[accepted] * servers, np.cumsum(ARRIVALS * PAYMENTS)[accepted] * servers
    open_, some = np.flatnonzero(busy < servers), np.flatnonzero(busy > 0)
    jumps = np.concatenate([let_in[open_], busy[some].astype(np.float64)])
    where = np.concatenate([open_, some]), np.concatenate([busy[open_] + 1, busy[some] - 1])
    return CTMDP(
        scipy.sparse.csr_array((jumps, where), shape=(states * count, states)),
        np.where(busy < servers, paid, 0.0).reshape(states, count),
        state_names=[f"{each} busy" for each in range(states)], coordinates=np.arange(states)[:, None],
        action_names=["who pays 8", "2 or more", "all"],
    ).to_model()  # fmt: skip


def admission_rules(mdp: FiniteMDP) -> dict[str, Integers]:
    """Let in all; and the best trunk reservation, which keeps servers free for those who pay more: all are tried."""
    from aapi.mdp import policy_values

    free = mdp.num_states - 1 - np.arange(mdp.num_states)

    def reserve(kept: tuple[int, ...]) -> Integers:
        return np.asarray(np.sum([free > level for level in kept], axis=0), dtype=np.int64)

    def gain(kept: tuple[int, ...]) -> float:
        return float(policy_values(mdp, reserve(kept)).gains[mdp.initial_state])

    levels = range(min(mdp.num_states, MOST_RESERVED))
    best = max(itertools.combinations_with_replacement(levels, len(PAYMENTS) - 1), key=gain)
    return {"all": reserve((0, 0)), f"keep {best[0]} free of 2, {best[1]} of 1": reserve(best)}
