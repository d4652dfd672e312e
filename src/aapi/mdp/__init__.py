"""The exact theory of finite average-reward MDPs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.mdp.chain import Chain
from aapi.mdp.continuous_time import CTMDP, SMDP
from aapi.mdp.estimated import EstimatedModel, EstimatedOptimum, estimate_model
from aapi.mdp.gain_interval import GainInterval
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
from aapi.mdp.outcomes import Outcomes
from aapi.mdp.policy_values import PolicyValues, induced_chain, policy_values

if TYPE_CHECKING:
    from aapi.mdp.event_model import EventModel, EventSolution, solve_events

__all__ = [
    "CTMDP", "SMDP", "Chain", "EstimatedModel", "EstimatedOptimum", "EventModel", "EventSolution", "FiniteMDP",
    "GainInterval", "Outcomes", "PolicyValues", "Solution",
    "WorstMixing",
    "diameter", "estimate_model", "induced_chain", "mismatch", "optimal_hitting_times", "optimal_mismatch",
    "policy_values", "solve", "solve_events", "worst_contraction_time", "worst_mixing_time",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("EventModel", "EventSolution", "solve_events"):  # on first use: they are compiled, all else is not
        from aapi.mdp import event_model

        return vars(event_model)[name]
    raise AttributeError(f"module 'aapi.mdp' has no attribute {name!r}")
