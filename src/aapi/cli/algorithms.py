"""Algorithms by name, with their settings."""

from __future__ import annotations

import argparse
from typing import Any

from aapi.errors import InvalidInput

__all__ = [
    "ALGORITHMS",
    "add_algorithm_arguments",
    "algorithm_name",
    "flag",
    "make_algorithm",
    "name_the_flag",
    "vector_defaults",
]

# What each algorithm can be told, beside --phase-length.
EVALUATION = ("evaluation", "horizon", "centre", "ridge")
ALGORITHMS = {
    "aapi": ("eta", "norm", "sampled", *EVALUATION),
    "politex": ("eta", "schedule", *EVALUATION),
    "ftrl": ("eta", "norm", *EVALUATION),
    "greedy": EVALUATION,
    "rlsvi": ("form", "horizon", "ridge", "noise_variance"),
}


def add_algorithm_arguments(command: argparse.ArgumentParser, *, exact: bool) -> None:
    """Add the algorithm and its settings to a subcommand. exact: whether policies can be evaluated exactly."""
    command.add_argument("--algorithm", choices=ALGORITHMS, default="aapi", help="default: aapi")
    group = command.add_argument_group("the algorithm (defaults depend on the problem, and are printed)")
    group.add_argument("--phase-length", type=int, metavar="TAU", help="steps between two policies")
    group.add_argument("--eta", type=float, help="scale of the temperature (aapi, politex, ftrl)")
    group.add_argument("--norm", choices=("sup", "span"), help="how surprise is measured (aapi, ftrl)")
    group.add_argument("--sampled", type=int, metavar="N", help="estimate the rate from N past differences (aapi)")
    group.add_argument("--schedule", choices=("constant", "sqrt", "horizon"), help="of the temperature (politex)")
    if exact:
        group.add_argument("--evaluation", choices=("monte-carlo", "exact"), help="of policies (all but rlsvi)")
    else:
        command.set_defaults(evaluation=None)
    group.add_argument("--horizon", type=int, metavar="H", help="length of returns; for rlsvi, number of sweeps")
    group.add_argument("--centre", action=argparse.BooleanOptionalAction, help="subtract the mean reward from returns")
    group.add_argument("--ridge", type=float, help="of the regression")
    group.add_argument("--form", choices=("relative", "finite-horizon", "discounted"), help="of rlsvi")
    group.add_argument("--noise-variance", type=float, metavar="V", help="of rlsvi (default: 1)")


def vector_defaults(algorithm: str) -> dict[str, Any]:
    """Settings for features of vectors, chosen on CartPole with seeds that no test and no report uses."""
    if algorithm == "rlsvi":  # its ridge is the precision of a prior, and draws have to reach beyond it
        return {"phase_length": 2000, "horizon": 20, "ridge": 1.0}
    eta = 30.0 if algorithm == "politex" else 0.05
    return {"phase_length": 2000, "horizon": 100, "centre": False, "ridge": 30.0, "eta": eta}


def make_algorithm(options: argparse.Namespace, defaults: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The algorithm that the command line describes, and its settings with all defaults filled in."""
    from aapi import algorithms, evaluation

    takes = ("phase_length", *ALGORITHMS[options.algorithm])
    every = {name for names in ALGORITHMS.values() for name in names}
    for name in sorted(every - set(takes)):
        if getattr(options, name) is not None:
            flags = ", ".join(map(flag, takes))
            raise InvalidInput(f"{options.algorithm} takes {flags}, not {flag(name)}")
    given = {name: getattr(options, name) for name in takes if getattr(options, name) is not None}
    exact = given.pop("evaluation", "monte-carlo") == "exact"
    if exact and (superfluous := [name for name in ("horizon", "centre", "ridge") if name in given]):
        raise InvalidInput(f"exact evaluation takes no --{superfluous[0]}")
    settings = {name: value for name, value in defaults.items() if name in takes} | given
    if options.horizon is None and options.algorithm != "rlsvi":  # a default must not stand in the way
        settings["horizon"] = min(settings["horizon"], max(1, settings["phase_length"]))
    arguments = dict(settings)
    if options.algorithm == "rlsvi":
        return algorithms.RLSVI(**arguments), settings
    returns = {name: arguments.pop(name) for name in ("horizon", "centre", "ridge")}
    if exact:
        settings = {name: value for name, value in settings.items() if name not in returns} | {"evaluation": "exact"}
    arguments["evaluate"] = evaluation.ExactQ() if exact else evaluation.MonteCarlo(**returns)
    if "sampled" in arguments:
        arguments["num_sampled"] = arguments.pop("sampled")
    makers: dict[str, Any] = {
        "aapi": algorithms.AAPI,
        "politex": algorithms.Politex,
        "ftrl": algorithms.AdaptiveFTRL,
        "greedy": algorithms.GreedyAPI,
    }
    return makers[options.algorithm](**arguments), settings


def algorithm_name(algorithm: Any) -> str:
    """What the command calls an algorithm."""
    from aapi import algorithms, improvement

    if isinstance(algorithm, algorithms.RLSVI):
        return "rlsvi"
    if isinstance(algorithm.learning_rate, improvement.Scheduled):
        return "politex" if algorithm.decay else "greedy"
    return "ftrl" if isinstance(algorithm.side_information, improvement.Zero) else "aapi"


def name_the_flag(error: InvalidInput, options: argparse.Namespace) -> InvalidInput:
    """An error about a parameter, with the name of the option it came from."""
    name, _, rest = str(error).partition(" ")
    parameters = {"num_steps": "--steps", "num_runs": "--runs", "num_sampled": "--sampled", "ending": "--continuing"}
    renamed = parameters.get(name)
    return InvalidInput(f"{flag(name) if hasattr(options, name) else renamed or name} {rest}")


def flag(option: str) -> str:
    """--phase-length for phase_length."""
    return "--" + option.replace("_", "-")
