"""`aapi tune`: a search for good settings."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from typing import TYPE_CHECKING

from aapi.cli import arguments
from aapi.cli.parser import add_command, add_json
from aapi.cli.text import print_table
from aapi.errors import InvalidInput, did_you_mean, install_extra
from aapi.registry.feature_words import FEATURES_HELP, FINITE_HELP
from aapi.registry.problems import OTHERS, is_environment
from aapi.report.formatting import format_settings

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands
    from aapi.experiments.tune import Choices, Tuned
    from aapi.json_types import Setting


EXAMPLES = """examples:
  aapi tune deep-sea --size 20 --search eta=0.01..100 --search phase_length=200..2000
  aapi tune cartpole --algorithm politex --search eta=1..100 --search ridge=1..100 --workers 2
  aapi tune ergodic --search horizon=5,10,20 --search centre=true,false --trials 100

LOW..HIGH is a range on a logarithmic scale (of whole numbers, if both are); A,B,C are choices. After an
interruption, the same command continues until there are --trials trials. Report on other seeds than the tuning seed.
"""


def add_tune(commands: Commands) -> None:
    """Add `tune` to the command line."""
    command = add_command(
        commands, "tune", tune, epilog=EXAMPLES, help="search for good settings of an algorithm",
        description=f"Search for the settings with the highest average reward ({install_extra('tune')}).",
    )  # fmt: skip
    arguments.add_problem(command, OTHERS)
    command.add_argument(
        "--search", action="append", required=True, metavar="NAME=RANGE",
        help="a setting and its range; repeat for more",
    )  # fmt: skip
    command.add_argument("--trials", type=int, default=50, metavar="N", help="default: 50")
    command.add_argument("--steps", type=int, default=100_000, metavar="T", help="steps of each run (default: 100000)")
    command.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each trial (default: 5)")
    command.add_argument("--seed", type=int, default=777, metavar="S", help="seed of the tuning runs (default: 777)")
    command.add_argument("--features", metavar="F", help=f"{FEATURES_HELP}; finite: {FINITE_HELP}")
    command.add_argument("--workers", type=int, default=1, metavar="N", help="trials at once (default: 1)")
    command.add_argument("--no-prune", action="store_true", help="never give a trial up early")
    command.add_argument("--out", default="tuning", metavar="DIR", help="folder of the journal (default: tuning)")
    add_json(command)
    arguments.add_algorithm(command, default="aapi-paper")


def tune(options: argparse.Namespace) -> None:
    """Search and print."""
    from aapi.experiments import Problem
    from aapi.experiments.tune import tune as search

    problem = Problem(options.problem, arguments.given_sizes(options))
    ranges = dict(read_range(text, options.algorithm) for text in options.search)
    if len(ranges) < len(options.search):
        raise InvalidInput("--search names a setting twice: give each once")
    try:
        with arguments.errors_name_flags(options):
            found = search(
                problem, options.algorithm, ranges, options.out, settings=arguments.given_settings(options),
                steps=options.steps, features=options.features, runs=options.runs, trials=options.trials,
                seed=options.seed, workers=options.workers, prune=not options.no_prune,
                progress=not options.json and sys.stderr.isatty(),
            )  # fmt: skip
    except KeyboardInterrupt:
        again = shlex.join(["aapi", *sys.argv[1:]])
        raise KeyboardInterrupt(f"(the trials so far are stored in {options.out}; to continue: {again})") from None
    if options.json:
        print(json.dumps(dataclasses.asdict(found) | {"out": options.out}))
    else:
        _show(options, problem.label, found)


def read_range(text: str, algorithm: str) -> tuple[str, Choices]:
    """The name and the range in a text such as eta=0.01..100 or horizon=5,10,20."""
    from aapi.experiments.tune import Between
    from aapi.registry.algorithms import takes

    name, equals, values = text.partition("=")
    name = name.strip().replace("-", "_")
    known = takes(algorithm)
    if not equals or name not in known:
        hint = did_you_mean(name, known) if equals else ""
        raise InvalidInput(f"--search {text!r}{hint} must be NAME=RANGE, where {algorithm} takes {', '.join(known)}")
    try:
        if match := re.fullmatch(r"\s*(.+?)\s*\.\.\s*(.+?)\s*", values):
            return name, Between(_number(match[1]), _number(match[2]))
        return name, tuple(_setting(value.strip()) for value in values.split(","))
    except ValueError:
        raise InvalidInput(f"--search {text!r}: a range is LOW..HIGH, choices are A,B,C") from None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _setting(text: str) -> Setting:
    if text in ("true", "false"):
        return text == "true"
    if not text:
        raise ValueError(text)
    try:
        return _number(text)
    except ValueError:
        return text


def _show(options: argparse.Namespace, label: str, found: Tuned) -> None:
    rows = [
        ("best settings", format_settings(found.settings, _short)),
        ("average reward", f"{found.average_reward:.5g}, mean of {options.runs} runs (trial {found.trial})"),
        ("trials", f"{found.trials}, {found.pruned} of them given up early, {found.failed} failed"),
    ]
    if found.importances:
        rows.append(("importance", format_settings(found.importances, "{:.0%}".format)))
    print_table(f"{options.algorithm} on {label}", "", rows)
    print(f"\nOn other seeds: {_command(options, found)}")


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _command(options: argparse.Namespace, found: Tuned) -> str:
    """The command that runs the best settings on another seed."""
    features = {"features": options.features} if options.features else {}
    settings = arguments.given_sizes(options) | {"algorithm": options.algorithm, "steps": options.steps}
    settings |= {**found.settings, **features, "seed": 0 if options.seed else 1}
    verb = "train" if is_environment(options.problem) else "run"
    return shlex.join(["aapi", verb, options.problem, *arguments.to_words(settings)])
