"""The algorithm on the command line, with its settings."""

from __future__ import annotations

import argparse
from typing import Any

from aapi.errors import InvalidInput
from aapi.names.algorithms import (
    ALGORITHMS,
    EVALUATIONS,
    EXPLORATIONS,
    GROWING,
    SETTINGS,
    SIDE_INFORMATION,
    make_algorithm,
)

__all__ = ["add_algorithm_arguments", "flag", "given_settings", "name_the_flag", "read_algorithm"]


def add_algorithm_arguments(command: argparse.ArgumentParser, *, exact: bool, usual: str = "aapi") -> None:
    """Add the algorithm and its settings to a subcommand. exact: whether policies can be evaluated exactly."""
    command.add_argument(
        "--algorithm", choices=ALGORITHMS, default="aapi",
        help=f"aapi is the paper's, untuned AAPI that chooses everything itself (default: {usual})",
    )  # fmt: skip
    group = command.add_argument_group("the algorithm (defaults depend on the problem, and are printed)")
    group.add_argument("--phase-length", type=_length, metavar="TAU", help="steps between two policies, or growing")
    group.add_argument("--eta", type=float, help="scale of the temperature (aapi, politex, ftrl)")
    group.add_argument("--norm", choices=("sup", "span"), help="how surprise is measured (aapi, ftrl)")
    group.add_argument("--sampled", type=int, metavar="N", help="estimate the rate from N past differences (aapi)")
    group.add_argument("--schedule", choices=("constant", "sqrt", "horizon"), help="of the temperature (politex)")
    evaluations = [name for name in EVALUATIONS if exact or name != "exact"]
    group.add_argument("--evaluation", choices=evaluations, help="of policies (all but rlsvi; default: monte-carlo)")
    group.add_argument("--side-information", choices=SIDE_INFORMATION, help="what is predicted (aapi, untuned)")
    group.add_argument(
        "--exploration", metavar="E", help=f"none, or {', '.join(EXPLORATIONS)}, joined by + (all but rlsvi)"
    )
    group.add_argument("--horizon", type=int, metavar="H", help="length of returns; for rlsvi, number of sweeps")
    group.add_argument("--centre", action=argparse.BooleanOptionalAction, help="subtract the mean reward from returns")
    group.add_argument("--ridge", type=float, help="of the regression")
    group.add_argument("--trace", type=float, metavar="L", help="λ of lstd and lspe, in [0, 1)")
    group.add_argument("--reuse", choices=("phase", "window", "all"), help="which data lstd and lspe use")
    group.add_argument("--window", type=int, metavar="N", help="steps that lstd, lspe and importance look back")
    group.add_argument("--prior", type=float, metavar="A", help="of self-consistent and posterior evaluation")
    group.add_argument("--bonus", type=float, metavar="B", help="for rare visits, in self-consistent evaluation")
    group.add_argument("--form", choices=("relative", "finite-horizon", "discounted"), help="of rlsvi")
    group.add_argument("--noise-variance", type=float, metavar="V", help="of rlsvi (default: 1)")
    group.add_argument("--memory", type=int, metavar="N", help="transitions kept by rlsvi on vectors (default: 10000)")


def _length(text: str) -> int | str:
    if text == GROWING:
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor {GROWING}") from None


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings on the command line."""
    return {name: value for name in SETTINGS if (value := getattr(options, name, None)) is not None}


def read_algorithm(options: argparse.Namespace, defaults: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The algorithm that the command line describes, and its settings with all defaults filled in."""
    return make_algorithm(options.algorithm, given_settings(options), defaults, flag)


def name_the_flag(error: InvalidInput, options: argparse.Namespace) -> InvalidInput:
    """An error about a parameter, with the name of the option it came from."""
    name, _, rest = str(error).partition(" ")
    parameters = {
        "num_steps": "--steps",
        "num_runs": "--runs",
        "num_sampled": "--sampled",
        "ending": "--continuing",
        "groups": "--features aggregate:GROUPS",
    }
    renamed = parameters.get(name)
    return InvalidInput(f"{flag(name) if hasattr(options, name) else renamed or name} {rest}")


def flag(option: str) -> str:
    """--phase-length for phase_length."""
    return "--" + option.replace("_", "-")
