"""The one place for defaults: settings of algorithms by the problem they are for, and what is AAPI's own.

All were chosen with seeds that no test and no report uses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import gymnasium

    from aapi.agent.representation import AgentFeatures
    from aapi.registry.problems import Problem

    Settings = dict[str, bool | int | float | str]


# `aapi.AAPI()`, in the words of the command; with an evaluation of one's own, there is no exploration.
AAPI_SETTINGS: Settings = {"phase_length": "growing", "eta": 0.3, "exploration": "expeditions+thompson"}
# Of the paper's algorithms, with Monte Carlo evaluation.
FINITE: Settings = {"phase_length": 1000, "horizon": 10, "centre": True, "ridge": 0.1, "eta": 0.3}
# For tables of an agent: long phases, since what a phase has not seen counts as worth nothing.
TABLES: Settings = {"phase_length": 20_000, "horizon": 30, "centre": False, "ridge": 10.0, "eta": 0.3}
# For features of vectors, chosen on CartPole.
VECTORS: Settings = {"phase_length": 2000, "horizon": 100, "centre": False, "ridge": 30.0, "eta": 0.05}
RLSVI_ON_VECTORS: Settings = {
    "phase_length": 2000, "horizon": 40, "form": "finite-horizon", "ridge": 100.0, "memory": 2000,
}  # fmt: skip
# Where rewards change: the known dynamics of Even-Dar et al. (2009), POLITEX at a temperature for every T, and for
# Monte Carlo, returns that mixing has forgotten the start of.
CHANGING: Settings = {
    "phase_length": 100, "evaluation": "exact", "eta": 1.0, "schedule": "sqrt", "horizon": 5, "centre": True,
    "ridge": 1.0,
}  # fmt: skip
OOMD: Settings = {"phase_length": 30, "window": 10, "eta": 0.01}  # of the experiments of Wei et al. (2020)


def problem_settings(name: str, problem: Problem, algorithm: str) -> Settings:
    """Settings for a built-in problem or a model."""
    from aapi.environments import ContinuousProblem

    if algorithm == "oomd":
        return OOMD
    if name == "deep-sea":
        size = math.isqrt(problem.num_states)  # type: ignore[union-attr]
        return FINITE | {"phase_length": 30 * size, "horizon": 2 * size, "centre": False, "ridge": 0.1}
    if isinstance(problem, ContinuousProblem):
        tuned = name == "cartpole" and algorithm != "rlsvi"
        return _vectors(algorithm) | ({"horizon": 50, "ridge": 300.0} if tuned else {})
    return FINITE if problem.reward_sequence is None else CHANGING


def agent_settings(env: gymnasium.Env[object, object], features: AgentFeatures | None, algorithm: str) -> Settings:
    """Settings for an agent in an environment, by whether it learns tables or weights."""
    from aapi.environments.observations import observations_of
    from aapi.features import OneHot

    if algorithm == "oomd":
        return OOMD
    tables = isinstance(features, OneHot) or (features is None and observations_of(env.observation_space).fits_table)
    return TABLES if tables and algorithm != "rlsvi" else _vectors(algorithm)  # TABLES is for Monte Carlo


def _vectors(algorithm: str) -> Settings:
    if algorithm == "rlsvi":
        return RLSVI_ON_VECTORS
    return VECTORS | ({"eta": 30.0} if algorithm == "politex" else {})
