"""The exact theory of finite average-reward MDPs."""

from aapi.mdp.chain import Chain
from aapi.mdp.measures import (
    WorstMixing,
    diameter,
    mismatch,
    optimal_hitting_times,
    optimal_mismatch,
    worst_contraction_time,
    worst_mixing_time,
)
from aapi.mdp.model import FiniteMDP
from aapi.mdp.optimal import Solution, solve
from aapi.mdp.policy_values import PolicyValues, induced_chain, policy_values

__all__ = [
    "Chain", "FiniteMDP", "PolicyValues", "Solution", "WorstMixing", "diameter", "induced_chain", "mismatch",
    "optimal_hitting_times", "optimal_mismatch", "policy_values", "solve", "worst_contraction_time",
    "worst_mixing_time",
]  # fmt: skip
