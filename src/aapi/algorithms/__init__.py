"""The algorithms, and how to run them."""

from aapi.algorithms.aapi import AAPI
from aapi.algorithms.adaptive_ftrl import AdaptiveFTRL
from aapi.algorithms.greedy import GreedyAPI
from aapi.algorithms.policy_iteration import Phase, PolicyIteration, count_phases
from aapi.algorithms.politex import Politex
from aapi.algorithms.result import Record, Result
from aapi.algorithms.rlsvi import RLSVI
from aapi.algorithms.run import Algorithm, check_features, run, simulator, step_grid
from aapi.algorithms.uniform import Uniform

__all__ = [
    "AAPI",
    "RLSVI",
    "AdaptiveFTRL",
    "Algorithm",
    "GreedyAPI",
    "Phase",
    "PolicyIteration",
    "Politex",
    "Record",
    "Result",
    "Uniform",
    "check_features",
    "count_phases",
    "run",
    "simulator",
    "step_grid",
]
