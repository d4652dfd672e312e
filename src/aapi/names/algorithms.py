"""Algorithms by name, with their settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium

__all__ = [
    "ALGORITHMS",
    "EVALUATION",
    "EVALUATIONS",
    "EXPLORATIONS",
    "GROWING",
    "SETTINGS",
    "SIDE_INFORMATION",
    "agent_defaults",
    "algorithm_name",
    "make_algorithm",
    "problem_defaults",
]

# What an evaluation can be told, and the class it is.
EVALUATIONS = {
    "monte-carlo": ("MonteCarlo", ("horizon", "centre", "ridge")),
    "importance": ("ImportanceMonteCarlo", ("horizon", "centre", "ridge", "window")),
    "lstd": ("LSTD", ("trace", "ridge", "reuse", "window")),
    "lspe": ("LSPE", ("trace", "ridge", "reuse", "window")),
    "self-consistent": ("SelfConsistent", ("prior", "bonus")),
    "posterior": ("PosteriorSampled", ("prior",)),
    "exact": ("ExactQ", ()),
}
SIDE_INFORMATION = {
    "previous": "PreviousEstimate", "zero": "Zero", "average": "ExponentialAverage", "predicted": "Predicted",
}  # fmt: skip
EXPLORATIONS = {
    "discovery": "Discovery", "posterior": "PosteriorSampling", "fewest-visits": "FewestVisits",
    "uniform": "UniformShare",
}  # fmt: skip
GROWING = "growing"  # phases that grow, as a phase length
# What each algorithm can be told, beside phase_length.
EVALUATION = ("evaluation", *dict.fromkeys(name for _, takes in EVALUATIONS.values() for name in takes), "exploration")
ALGORITHMS = {
    "aapi": ("eta", "norm", "sampled", "side_information", *EVALUATION),
    "politex": ("eta", "schedule", *EVALUATION),
    "ftrl": ("eta", "norm", *EVALUATION),
    "greedy": EVALUATION,
    "rlsvi": ("form", "horizon", "ridge", "noise_variance", "memory"),
    "untuned": ("eta", "norm", "side_information", "exploration"),
    "uniform": (),
}
SETTINGS = ("phase_length", *dict.fromkeys(name for names in ALGORITHMS.values() for name in names))
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
    from aapi.environments.observations import observations_of
    from aapi.features import OneHot

    countable = all(observations_of(env.observation_space).counts)
    tables = isinstance(features, OneHot) or (features is None and countable)
    return TABLE_DEFAULTS if tables and algorithm != "rlsvi" else vector_defaults(algorithm)


def make_algorithm(
    name: str, given: Mapping[str, Any], defaults: Mapping[str, Any], word: Callable[[str], str] = str
) -> tuple[Any, dict[str, Any]]:
    """The algorithm of that name, and its settings with all defaults filled in. word: how a message calls a setting."""
    from aapi import algorithms

    if name not in ALGORITHMS:
        raise InvalidInput(f"unknown algorithm {name!r}: choose {', '.join(ALGORITHMS)}")
    takes = ("phase_length", *ALGORITHMS[name])
    for setting in sorted(given.keys() - set(takes)):
        raise InvalidInput(f"{name} takes {', '.join(map(word, takes))}, not {word(setting)}")
    if name == "untuned":
        chosen = {"phase_length": GROWING, "eta": 1.0, "exploration": "discovery+posterior"} | {**given}
        return algorithms.AAPI(**_parts(chosen, word)), chosen
    settings: dict[str, Any] = {setting: value for setting, value in defaults.items() if setting in takes} | {**given}
    if name in ("rlsvi", "uniform"):
        return (algorithms.RLSVI if name == "rlsvi" else algorithms.Uniform)(**settings), settings
    evaluate, settings = _evaluation(given, settings, word)
    makers: dict[str, Any] = {
        "aapi": algorithms.AAPI,
        "politex": algorithms.Politex,
        "ftrl": algorithms.AdaptiveFTRL,
        "greedy": algorithms.GreedyAPI,
    }
    arguments = {setting: value for setting, value in settings.items() if setting not in EVALUATION[:-1]}
    return makers[name](**_parts(arguments, word), evaluate=evaluate), settings


def _evaluation(
    given: Mapping[str, Any], settings: dict[str, Any], word: Callable[[str], str]
) -> tuple[Any, dict[str, Any]]:
    """The evaluation, and the settings without those of other evaluations."""
    from aapi import evaluation

    chosen = given.get("evaluation", "monte-carlo")
    if chosen not in EVALUATIONS:
        raise InvalidInput(f"{word('evaluation')} must be {' or '.join(EVALUATIONS)}, not {chosen!r}")
    part, takes = EVALUATIONS[chosen]
    every = EVALUATION[1:-1]
    if superfluous := [setting for setting in every if setting in given and setting not in takes]:
        raise InvalidInput(f"{chosen} evaluation takes no {word(superfluous[0])}")
    returns = "horizon" in takes
    kept = {
        setting: value
        for setting, value in settings.items()
        if setting not in every or (setting in takes and (returns or setting in given))
    }
    if returns and "horizon" not in given and isinstance(kept["phase_length"], int):
        kept["horizon"] = min(kept["horizon"], max(1, kept["phase_length"]))  # a default must not stand in the way
    made = getattr(evaluation, part)(**{setting: kept[setting] for setting in takes if setting in kept})
    return made, kept


def _parts(settings: Mapping[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    """Settings as the arguments of an algorithm: words as the parts they stand for."""
    from aapi import exploration, improvement, schedules

    arguments = dict(settings)
    if "sampled" in arguments:
        arguments["num_sampled"] = arguments.pop("sampled")
    if isinstance(length := arguments.get("phase_length"), str):
        if length != GROWING:
            raise InvalidInput(f"{word('phase_length')} must be a whole number or {GROWING}, not {length!r}")
        arguments["phase_length"] = schedules.Growing()
    if "side_information" in arguments:
        chosen = arguments["side_information"]
        if chosen not in SIDE_INFORMATION:
            raise InvalidInput(f"{word('side_information')} must be {' or '.join(SIDE_INFORMATION)}, not {chosen!r}")
        arguments["side_information"] = getattr(improvement, SIDE_INFORMATION[chosen])()
    if "exploration" in arguments:
        parts = [] if arguments["exploration"] == "none" else str(arguments["exploration"]).split("+")
        if wrong := [part for part in parts if part not in EXPLORATIONS]:
            raise InvalidInput(
                f"{word('exploration')} must be none, or of {', '.join(EXPLORATIONS)}, joined by +, not {wrong[0]!r}"
            )
        arguments["exploration"] = tuple(getattr(exploration, EXPLORATIONS[part])() for part in parts)
    return arguments


def algorithm_name(algorithm: Any) -> str:
    """What an algorithm is called."""
    from aapi import algorithms, evaluation, improvement

    if isinstance(algorithm, algorithms.RLSVI | algorithms.Uniform):
        return type(algorithm).__name__.lower()
    if isinstance(algorithm.learning_rate, improvement.Scheduled):
        return "politex" if algorithm.decay else "greedy"
    if isinstance(algorithm.evaluate, evaluation.Automatic):
        return "untuned"
    return "ftrl" if isinstance(algorithm.side_information, improvement.Zero) else "aapi"
