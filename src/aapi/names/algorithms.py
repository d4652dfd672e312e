"""Algorithms by name, with their settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium

__all__ = ["ALGORITHMS", "agent_defaults", "algorithm_name", "make_algorithm", "problem_defaults"]

# What each algorithm can be told, beside phase_length.
EVALUATION = ("evaluation", "horizon", "centre", "ridge")
ALGORITHMS = {
    "aapi": ("eta", "norm", "sampled", *EVALUATION),
    "politex": ("eta", "schedule", *EVALUATION),
    "ftrl": ("eta", "norm", *EVALUATION),
    "greedy": EVALUATION,
    "rlsvi": ("form", "horizon", "ridge", "noise_variance", "memory"),
    "uniform": (),
}
EVALUATIONS = ("monte-carlo", "exact")
DEFAULTS = {"phase_length": 1000, "horizon": 10, "centre": True, "ridge": 0.1, "eta": 0.3}
# For tables of an agent: long phases, since what a phase has not seen counts as worth nothing.
TABLE_DEFAULTS = {"phase_length": 20_000, "horizon": 30, "centre": False, "ridge": 10.0, "eta": 0.3}


def problem_defaults(name: str, problem: Any, algorithm: str) -> dict[str, Any]:
    """Settings for a built-in problem or a model, chosen with seeds that no test and no report uses."""
    if name == "deep-sea":
        size = math.isqrt(problem.num_states)
        return DEFAULTS | {"phase_length": 30 * size, "horizon": 2 * size, "centre": False, "ridge": 0.1}
    if name == "cartpole":
        return vector_defaults(algorithm) | ({} if algorithm == "rlsvi" else {"horizon": 50, "ridge": 300.0})
    return DEFAULTS


def vector_defaults(algorithm: str) -> dict[str, Any]:
    """Settings for features of vectors, chosen on CartPole with seeds that no test and no report uses."""
    if algorithm == "rlsvi":
        return {"phase_length": 2000, "horizon": 40, "form": "finite-horizon", "ridge": 100.0, "memory": 2000}
    eta = 30.0 if algorithm == "politex" else 0.05
    return {"phase_length": 2000, "horizon": 100, "centre": False, "ridge": 30.0, "eta": eta}


def agent_defaults(env: gymnasium.Env[Any, Any], features: Any, algorithm: str) -> dict[str, Any]:
    """Settings for an agent in an environment: by whether it learns tables or weights."""
    from aapi.agent.observations import observations_of
    from aapi.features import OneHot

    countable = all(observations_of(env.observation_space).counts)
    tables = isinstance(features, OneHot) or (features is None and countable)
    return TABLE_DEFAULTS if tables and algorithm != "rlsvi" else vector_defaults(algorithm)


def make_algorithm(
    name: str, given: Mapping[str, Any], defaults: Mapping[str, Any], word: Callable[[str], str] = str
) -> tuple[Any, dict[str, Any]]:
    """The algorithm of that name, and its settings with all defaults filled in. word: how a message calls a setting."""
    from aapi import algorithms, evaluation

    if name not in ALGORITHMS:
        raise InvalidInput(f"unknown algorithm {name!r}: choose {', '.join(ALGORITHMS)}")
    takes = ("phase_length", *ALGORITHMS[name])
    for setting in sorted(given.keys() - set(takes)):
        raise InvalidInput(f"{name} takes {', '.join(map(word, takes))}, not {word(setting)}")
    returns = ("horizon", "centre", "ridge")
    chosen = given.get("evaluation", "monte-carlo")
    if chosen not in EVALUATIONS:
        raise InvalidInput(f"{word('evaluation')} must be {' or '.join(EVALUATIONS)}, not {chosen!r}")
    if chosen == "exact" and (superfluous := [setting for setting in returns if setting in given]):
        raise InvalidInput(f"exact evaluation takes no {word(superfluous[0])}")
    settings = {setting: value for setting, value in defaults.items() if setting in takes} | dict(given)
    if name in ("rlsvi", "uniform"):
        return (algorithms.RLSVI if name == "rlsvi" else algorithms.Uniform)(**settings), settings
    if "horizon" not in given and isinstance(settings["phase_length"], int):  # a default must not stand in the way
        settings["horizon"] = min(settings["horizon"], max(1, settings["phase_length"]))
    if chosen == "exact":
        settings = {setting: value for setting, value in settings.items() if setting not in returns}
        evaluate: Any = evaluation.ExactQ()
    else:
        evaluate = evaluation.MonteCarlo(**{setting: settings[setting] for setting in returns})
    arguments = {setting: value for setting, value in settings.items() if setting not in EVALUATION}
    if "sampled" in arguments:
        arguments["num_sampled"] = arguments.pop("sampled")
    makers: dict[str, Any] = {
        "aapi": algorithms.AAPI,
        "politex": algorithms.Politex,
        "ftrl": algorithms.AdaptiveFTRL,
        "greedy": algorithms.GreedyAPI,
    }
    return makers[name](**arguments, evaluate=evaluate), settings


def algorithm_name(algorithm: Any) -> str:
    """What an algorithm is called."""
    from aapi import algorithms, improvement

    if isinstance(algorithm, algorithms.RLSVI | algorithms.Uniform):
        return type(algorithm).__name__.lower()
    if isinstance(algorithm.learning_rate, improvement.Scheduled):
        return "politex" if algorithm.decay else "greedy"
    return "ftrl" if isinstance(algorithm.side_information, improvement.Zero) else "aapi"
