"""Compiled simulation: random streams, policies at visited states, and the step loops."""

from aapi.simulation.basis import Basis
from aapi.simulation.continuous import ContinuousProblem, ContinuousSimulation
from aapi.simulation.data import PhaseData, Simulation
from aapi.simulation.finite import FiniteSimulation, TransitionTables, transition_tables
from aapi.simulation.linear_policy import LinearPolicy

__all__ = [
    "Basis",
    "ContinuousProblem",
    "ContinuousSimulation",
    "FiniteSimulation",
    "LinearPolicy",
    "PhaseData",
    "Simulation",
    "TransitionTables",
    "transition_tables",
]
