"""The policy that regret is taken against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.mdp import policy_values, solve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from aapi.mdp import FiniteMDP

__all__ = ["Comparator", "make_comparator", "policy_table"]


@dataclass(frozen=True, eq=False)
class Comparator:
    """π_*, of shape (states, actions); its gain λ_*; and μ_*(x), how often it visits x in the long run.

    Both from the initial state on, where that makes a difference.
    """

    policy: NDArray[np.float64]
    gain: float
    distribution: NDArray[np.float64]


def make_comparator(mdp: FiniteMDP, policy: ArrayLike | None = None) -> Comparator:
    """An optimal policy, or one of the user's: regret is defined against any fixed policy."""
    taken = solve(mdp).policy if policy is None else policy
    values = policy_values(mdp, taken)

    chain, start = values.chain, mdp.initial_state
    units = np.eye(len(chain.recurrent_classes))
    absorbed = np.array([chain.extend(unit)[start] for unit in units])  # the probability to end up in each class
    return Comparator(policy_table(mdp, taken), float(values.gains[start]), absorbed @ chain.stationary_distributions)


def policy_table(mdp: FiniteMDP, policy: ArrayLike) -> NDArray[np.float64]:
    """A policy as probabilities, (states, actions), also if it is given as one action per state."""
    taken = mdp.check_policy(policy)
    return np.asarray(np.eye(mdp.num_actions)[taken] if taken.ndim == 1 else taken, dtype=np.float64)
