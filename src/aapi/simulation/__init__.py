"""Simulation: the step loops, compiled for our own problems, in Python for Gymnasium's."""

from aapi.simulation.continuous import ContinuousSimulation
from aapi.simulation.data import PhaseData, Simulation, StepRule, Stretch
from aapi.simulation.finite import FiniteSimulation, TransitionTables, transition_tables

__all__ = [
    "ContinuousSimulation",
    "FiniteSimulation",
    "PhaseData",
    "Simulation",
    "StepRule",
    "Stretch",
    "TransitionTables",
    "transition_tables",
]
