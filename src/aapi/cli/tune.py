"""`aapi tune`: a search for good settings."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from typing import TYPE_CHECKING

from aapi.cli.algorithms import add_algorithm_arguments, flag, given_settings, name_the_flag
from aapi.cli.problems import add_problem_arguments, given_sizes
from aapi.cli.text import print_table
from aapi.errors import InvalidInput
from aapi.registry.feature_words import FEATURES_HELP, FINITE_HELP
from aapi.registry.problems import OTHERS, is_environment

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


def add_command(commands: Commands) -> None:
    """Add `tune` to the command line."""
    command = commands.add_parser(
        "tune",
        help="search for good settings of an algorithm",
        description="Search for the settings with the highest average reward (needs pip install 'aapi[tune]').",
        epilog=EXAMPLES,
    )
    add_problem_arguments(command, OTHERS)
    command.add_argument(
        "--search",
        action="append",
        required=True,
        metavar="NAME=RANGE",
        help="a setting and its range; repeat for more",
    )
    command.add_argument("--trials", type=int, default=50, metavar="N", help="default: 50")
    command.add_argument("--steps", type=int, default=100_000, metavar="T", help="steps of each run (default: 100000)")
    command.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each trial (default: 5)")
    command.add_argument("--seed", type=int, default=777, metavar="S", help="seed of the tuning runs (default: 777)")
    command.add_argument("--features", metavar="F", help=f"{FEATURES_HELP}; finite: {FINITE_HELP}")
    command.add_argument("--workers", type=int, default=1, metavar="N", help="trials at once (default: 1)")
    command.add_argument("--no-prune", action="store_true", help="never give a trial up early")
    command.add_argument("--out", default="tuning", metavar="DIR", help="folder of the journal (default: tuning)")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_algorithm_arguments(command, exact=True, default="aapi-paper")
    command.set_defaults(run=tune)


def tune(options: argparse.Namespace) -> None:
    """Search and print."""
    from aapi.experiments import Problem
    from aapi.experiments.tune import tune as search

    problem = Problem(options.problem, given_sizes(options))
    ranges = dict(read_range(text, options.algorithm) for text in options.search)
    if len(ranges) < len(options.search):
        raise InvalidInput("--search names a setting twice: give each once")
    try:
        found = search(
            problem, options.algorithm, ranges, options.out, settings=given_settings(options), steps=options.steps,
            features=options.features, runs=options.runs, trials=options.trials, seed=options.seed,
            workers=options.workers, prune=not options.no_prune, progress=not options.json and sys.stderr.isatty(),
        )  # fmt: skip
    except InvalidInput as error:
        raise name_the_flag(error, options) from None
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
        raise InvalidInput(f"--search {text!r} must be NAME=RANGE, where {algorithm} takes {', '.join(known)}")
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
    shown = ", ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in found.settings.items())
    rows = [
        ("best settings", shown),
        ("average reward", f"{found.average_reward:.5g}, mean of {options.runs} runs (trial {found.trial})"),
        ("trials", f"{found.trials}, {found.pruned} of them given up early, {found.failed} failed"),
    ]
    if found.importances:
        shares = ", ".join(f"{name.replace('_', ' ')} {value:.0%}" for name, value in found.importances.items())
        rows.append(("importance", shares))
    print_table(f"{options.algorithm} on {label}", "", rows)
    print(f"\nOn other seeds: {_command(options, found)}")


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _command(options: argparse.Namespace, found: Tuned) -> str:
    """The command that runs the best settings on another seed."""
    sizes = [word for name, value in given_sizes(options).items() for word in (flag(name), str(value))]
    verb = "train" if is_environment(options.problem) else "run"
    words = ["aapi", verb, options.problem, *sizes, "--algorithm", options.algorithm, "--steps", str(options.steps)]
    for name, value in found.settings.items():
        if isinstance(value, bool):
            words.append(flag(name) if value else flag(name).replace("--", "--no-", 1))
        else:
            words += [flag(name), repr(value) if isinstance(value, float) else str(value)]
    if options.features:
        words += ["--features", options.features]
    words += ["--seed", str(0 if options.seed else 1)]
    return shlex.join(words)
