"""Compiled simulation: random streams and the step loops."""

from aapi.simulation.finite import FiniteSimulation, PhaseData, TransitionTables, transition_tables

__all__ = ["FiniteSimulation", "PhaseData", "TransitionTables", "transition_tables"]
