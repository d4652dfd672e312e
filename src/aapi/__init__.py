"""Average-reward reinforcement learning: AAPI, its rivals, and the exact theory to judge them by.

Submodules load on first use, so that ``import aapi`` and ``aapi --help`` cost little more than Gymnasium, to which the
problems are made known as ``aapi/DeepSea-v0`` and so on.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aapi.registration import register

if TYPE_CHECKING:
    from aapi import (
        agent,
        algorithms,
        environments,
        errors,
        evaluation,
        exploration,
        features,
        improvement,
        mdp,
        memory,
        schedules,
        simulation,
        theory,
    )  # fmt: skip
    from aapi.agent import Agent, load
    from aapi.algorithms import AAPI, RLSVI, AdaptiveFTRL, GreedyAPI, PolicyIteration, Politex, Result, run
    from aapi.mdp import FiniteMDP

__version__ = "0.1.0"
__all__ = [
    "AAPI",
    "RLSVI",
    "AdaptiveFTRL",
    "Agent",
    "FiniteMDP",
    "GreedyAPI",
    "PolicyIteration",
    "Politex",
    "Result",
    "agent",
    "algorithms",
    "environments",
    "errors",
    "evaluation",
    "exploration",
    "features",
    "improvement",
    "load",
    "mdp",
    "memory",
    "run",
    "schedules",
    "simulation",
    "theory",
]

_HOME = {"FiniteMDP": "aapi.mdp", "Agent": "aapi.agent", "load": "aapi.agent"} | dict.fromkeys(
    ["AAPI", "RLSVI", "AdaptiveFTRL", "GreedyAPI", "PolicyIteration", "Politex", "Result", "run"], "aapi.algorithms"
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in __all__:
        return importlib.import_module(f"aapi.{name}")
    raise AttributeError(f"module 'aapi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


register()
