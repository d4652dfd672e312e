"""`aapi reproduce`, the paper's figures, and `aapi sweep`, a study from a file: many runs, stored, and their tables."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
import time
from typing import TYPE_CHECKING

from aapi.checks import at_least
from aapi.cli.parser import add_command, add_json
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from aapi.cli.parser import Commands, Parser
    from aapi.experiments import Study


REPRODUCE_EXAMPLES = """examples:
  aapi reproduce                                      all figures, small: a minute
  aapi reproduce deep-sea --preset paper --workers 2  one figure, as in the paper
  aapi reproduce untuned --preset paper               AAPI without tuning, against tuned rivals
  aapi reproduce rivals                               every algorithm, as published and tuned
  aapi reproduce changing-rewards                     rewards that change: regret in hindsight
  aapi reproduce zoo --half development               many problems: mean and worst share of λ*
  aapi reproduce operations                           queues, stock, machines, a continuing suite
  aapi reproduce all --preset paper --engine dask --address tcp://10.0.0.1:8786

After an interruption, the same command continues where it stopped.
"""
SWEEP_EXAMPLES = """a study file:
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


def add_reproduce(commands: Commands) -> None:
    """Add `reproduce` to the command line."""
    command = add_command(
        commands, "reproduce", reproduce, epilog=REPRODUCE_EXAMPLES, help="reproduce the paper's figures",
        description="Run AAPI, POLITEX and RLSVI on the paper's problems: tune each on separate runs, then report.",
    )  # fmt: skip
    command.add_argument(
        "figure", nargs="?", default="all",
        choices=("ergodic", "deep-sea", "cartpole", "all", "untuned", "ablation", "rivals", "changing-rewards", "zoo",
                 "operations"),
        help="default: all, of the paper; beyond it, untuned (AAPI without tuning), ablation (of its parts), rivals, "
        "changing-rewards (regret in hindsight), zoo (many problems), and operations (queues, stock, machines, suite)",
    )  # fmt: skip
    command.add_argument(
        "--preset", choices=("quick", "paper"), default="quick", help="quick (default), or paper: 50 runs"
    )
    command.add_argument(
        "--half", choices=("development", "reporting"),
        help="of the zoo (default: development); the other one is for reporting alone",
    )  # fmt: skip
    _add_experiment_arguments(command)


def reproduce(options: argparse.Namespace) -> None:
    """Run and print."""
    if options.half is not None and options.figure != "zoo":
        raise InvalidInput(f"--half is for the zoo: aapi reproduce zoo --half {options.half}")

    def studies() -> list[Study]:
        from aapi.experiments import reproduction

        half = options.half or "development"
        return reproduction(options.figure, options.preset, options.runs, options.seed or 0, half)

    _run_studies(options, studies)


def add_sweep(commands: Commands) -> None:
    """Add `sweep` to the command line."""
    command = add_command(
        commands, "sweep", sweep, epilog=SWEEP_EXAMPLES, help="run a study of your own",
        description="Run every algorithm of a study on every problem in it. The same command continues after a stop.",
    )  # fmt: skip
    command.add_argument("study", help="a TOML file, see below")
    _add_experiment_arguments(command)


def sweep(options: argparse.Namespace) -> None:
    """Run and print."""

    def studies() -> Study:
        from aapi.experiments import read_study

        given = {name: value for name in ("runs", "seed") if (value := vars(options)[name]) is not None}
        return dataclasses.replace(read_study(options.study), **given)

    _run_studies(options, studies)


def _add_experiment_arguments(command: Parser) -> None:
    command.add_argument("--runs", type=int, metavar="N", help="runs of each configuration that are reported")
    command.add_argument("--seed", type=int, metavar="S", help="seed of the reported runs; tuning uses another one")
    command.add_argument("--out", default="results", metavar="DIR", help="folder for results (default: results)")
    command.add_argument(
        "--engine", choices=("threads", "processes", "dask"),
        help="where to run: threads (default), processes (default for Gymnasium environments) or a Dask cluster",
    )  # fmt: skip
    command.add_argument("--workers", type=int, metavar="N", help="tasks at once (default: one per processor)")
    command.add_argument("--address", metavar="URL", help="of a Dask scheduler, such as tcp://10.0.0.1:8786")
    command.add_argument("--retry-failed", action="store_true", help="do runs again that failed before")
    add_json(command, "print one JSON object instead of tables")


def _run_studies(options: argparse.Namespace, studies: Callable[[], Study | Sequence[Study]]) -> None:
    """Run or continue, and print the results."""
    for name, least in (("runs", 1), ("workers", 1), ("seed", 0)):
        if (count := vars(options)[name]) is not None:
            at_least(least, **{f"--{name}": count})
    if options.address is not None and options.engine != "dask":
        raise InvalidInput("--address is for a Dask cluster: use --engine dask with it")
    from aapi.experiments import Interrupted, run_studies
    from aapi.report.folder import write_pages
    from aapi.report.tables import closing_tables

    start = time.perf_counter()
    try:
        summary = run_studies(
            studies(), options.out, engine=options.engine, workers=options.workers, address=options.address,
            progress=not options.json, retry_failed=options.retry_failed,
        )  # fmt: skip
    except Interrupted as stop:  # all batches in flight have finished
        again = shlex.join(["aapi", *sys.argv[1:]])
        print(f"aapi {options.command}: interrupted; {stop}; to go on: {again}", file=sys.stderr)
        sys.exit(130)
    seconds = time.perf_counter() - start
    if not options.json:
        for line in closing_tables(summary):
            print(line, flush=True)
    page, tables = write_pages(options.out)
    if options.json:
        written = {"out": options.out, "page": str(page), "tables": str(tables), "session_seconds": seconds}
        print(json.dumps(summary.to_dict() | written, allow_nan=False))
        return
    print(f"\nThis took {seconds:.0f} s. Look at {page}; the same tables as text are in {tables}.")
    print(f"aapi export {shlex.quote(options.out)} runs.csv writes every run for other programs.")
