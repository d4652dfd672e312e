"""`aapi sweep`: a study from a file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from aapi.cli.experiments import add_experiment_arguments, run_experiment

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands
    from aapi.experiments import Study


EXAMPLES = """a study file:
  steps = 100_000
  runs = 20

  [[problems]]
  name = "deep-sea"                  # or another built-in problem, a model file, a Gymnasium id
  size = [10, 20]                    # a list is a grid
  settings = { ridge = 1.0 }         # for all algorithms on this problem

  [[algorithms]]
  name = "aapi-paper"
  eta = { from = 0.01, to = 100, points = 13 }
  tune = ["eta"]                     # on runs with another seed (tuning_runs, tuning_seed)

  [[algorithms]]
  name = "politex"
  eta = [1, 10]                      # not tuned: each is reported

examples:
  aapi sweep study.toml --out results
  aapi sweep study.toml --engine processes --workers 4 --json
"""


def add_command(commands: Commands) -> None:
    """Add `sweep` to the command line."""
    command = commands.add_parser(
        "sweep",
        help="run a study of your own",
        description="Run every algorithm of a study on every problem in it. The same command continues after a stop.",
        epilog=EXAMPLES,
    )
    command.add_argument("study", help="a TOML file, see below")
    add_experiment_arguments(command)
    command.set_defaults(run=sweep)


def sweep(options: argparse.Namespace) -> None:
    """Run and print."""

    def studies() -> Study:
        from aapi.experiments import read_study

        given = {name: value for name in ("runs", "seed") if (value := vars(options)[name]) is not None}
        return dataclasses.replace(read_study(options.study), **given)

    run_experiment(options, studies)
