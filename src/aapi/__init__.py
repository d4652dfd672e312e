"""Average-reward reinforcement learning: AAPI, its rivals, and the exact theory to judge them by.

Submodules load on first use, so that ``import aapi`` and ``aapi --help`` cost little more than Gymnasium, to which the
problems are made known as ``aapi/DeepSea-v0`` and so on.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aapi.registration import register_when_imported

if TYPE_CHECKING:
    from aapi import (
        agent,
        approximation,
        environments,
        errors,
        evaluation,
        experiments,
        exploration,
        features,
        improvement,
        learners,
        mdp,
        memory,
        policies,
        registry,
        schedules,
        simulation,
        theory,
    )  # fmt: skip
    from aapi.agent import Agent, evaluate, load
    from aapi.batch import run
    from aapi.learners import (
        AAPI,
        IMEDRL,
        KLUCRL,
        OOMD,
        PSRL,
        RLSVI,
        RMAX,
        RVIQ,
        SCAL,
        UCRL2,
        UCRL2B,
        AdaptiveFTRL,
        CentredQ,
        Conservative,
        DifferentialQ,
        DifferentialSarsa,
        Exploring,
        GreedyAPI,
        Learner,
        OptimisticGrid,
        OptimisticQ,
        PolicyIteration,
        Politex,
        RLearning,
        Uniform,
        play,
    )
    from aapi.mdp import FiniteMDP
    from aapi.policies import policy_table
    from aapi.result import Result

__version__ = "0.1.0"
_LEARNERS = (
    "AAPI", "AdaptiveFTRL", "CentredQ", "Conservative", "DifferentialQ", "DifferentialSarsa", "Exploring", "GreedyAPI",
    "IMEDRL", "KLUCRL", "Learner", "OOMD", "OptimisticGrid", "OptimisticQ", "PSRL", "PolicyIteration", "Politex",
    "RLSVI", "RLearning", "RMAX", "RVIQ", "SCAL", "UCRL2", "UCRL2B", "Uniform", "play",
)  # fmt: skip
_HOME = {
    "FiniteMDP": "aapi.mdp", "Agent": "aapi.agent", "evaluate": "aapi.agent", "load": "aapi.agent", "run": "aapi.batch",
    "Result": "aapi.result", "policy_table": "aapi.policies",
} | dict.fromkeys(_LEARNERS, "aapi.learners")  # fmt: skip
_MOVED = {"algorithms": "learners", "names": "registry"}
__all__ = [
    "AAPI",
    "IMEDRL",
    "KLUCRL",
    "OOMD",
    "PSRL",
    "RLSVI",
    "RMAX",
    "RVIQ",
    "SCAL",
    "UCRL2",
    "UCRL2B",
    "AdaptiveFTRL",
    "Agent",
    "CentredQ",
    "Conservative",
    "DifferentialQ",
    "DifferentialSarsa",
    "Exploring",
    "FiniteMDP",
    "GreedyAPI",
    "Learner",
    "OptimisticGrid",
    "OptimisticQ",
    "PolicyIteration",
    "Politex",
    "RLearning",
    "Result",
    "Uniform",
    "agent",
    "approximation",
    "environments",
    "errors",
    "evaluate",
    "evaluation",
    "experiments",
    "exploration",
    "features",
    "improvement",
    "learners",
    "load",
    "mdp",
    "memory",
    "play",
    "policies",
    "policy_table",
    "registry",
    "run",
    "schedules",
    "simulation",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in __all__:
        return importlib.import_module(f"aapi.{name}")
    if name in _MOVED:
        raise AttributeError(f"aapi.{name} is now aapi.{_MOVED[name]}")
    raise AttributeError(f"module 'aapi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


register_when_imported()
