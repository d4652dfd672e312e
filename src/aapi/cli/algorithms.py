"""The algorithm on the command line, with a flag for every setting in the registry."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.cli.parser import Parser
    from aapi.json_types import Setting, Settings
    from aapi.learners.learner import AnyLearner


GROUP = "the algorithm (defaults depend on the problem, and are printed)"


def add_algorithm_arguments(command: Parser, *, exact: bool, default: str = "aapi") -> None:
    """Add the algorithm and its settings to a subcommand. exact: whether policies can be evaluated exactly."""
    command.defer(lambda: _add(command, exact, default))


def _add(command: Parser, exact: bool, default: str) -> None:
    from aapi.approximation import NORMS
    from aapi.evaluation.projected import REUSE
    from aapi.improvement.learning_rate import SCHEDULES
    from aapi.learners.rlsvi import FORMS
    from aapi.registry.algorithms import ALGORITHMS, settings_for
    from aapi.registry.parts import PARTS

    command.add_argument(
        "--algorithm", default=default, metavar="A",
        help=f"{', '.join(ALGORITHMS)}; aapi needs no tuning, aapi-paper is the paper's (default: {default})",
    )  # fmt: skip
    group = command.add_argument_group(GROUP)
    choices = {
        "norm": NORMS, "schedule": SCHEDULES, "reuse": REUSE, "form": FORMS,
        "evaluation": tuple(each for each in PARTS["evaluation"] if exact or each != "exact"),
        "side_information": tuple(PARTS["side_information"]),
    }  # fmt: skip
    for name, usages in settings_for().items():
        text = "; ".join(f"{each.setting.help} ({', '.join(each.words)})".strip() for each in usages)
        kind = usages[0].setting.type
        if name == "phase_length":
            group.add_argument(flag(name), type=_length, metavar="TAU", help="steps between two policies, or growing")
        elif kind is bool:
            group.add_argument(flag(name), action=argparse.BooleanOptionalAction, help=text)
        elif name in choices:
            group.add_argument(flag(name), choices=choices[name], help=text)
        elif name == "exploration":
            group.add_argument(flag(name), metavar="E", help=f"none, or {', '.join(PARTS[name])}, joined by +")
        else:
            group.add_argument(flag(name), type=kind, metavar="N" if kind is int else "X", help=text)


def _length(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        if text != "growing":
            raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor growing") from None
        return text


def given_settings(options: argparse.Namespace) -> dict[str, Setting]:
    """The settings on the command line."""
    from aapi.registry.algorithms import settings_for

    found = {name: vars(options).get(name) for name in settings_for()}
    return {name: value for name, value in found.items() if value is not None}


def read_algorithm(options: argparse.Namespace, defaults: Settings) -> tuple[AnyLearner, dict[str, Setting]]:
    """The algorithm that the command line describes, and its settings with all defaults filled in."""
    from aapi.registry.algorithms import make_algorithm

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
    return InvalidInput(f"{flag(name) if name in vars(options) else renamed or name} {rest}")


def flag(option: str) -> str:
    """--phase-length for phase_length."""
    return "--" + option.replace("_", "-")
