"""Shared by `aapi reproduce` and `aapi sweep`: the options for running and storing, and the tables at the end."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING

from aapi.checks import at_least
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from aapi.experiments import Study


ENGINES = ("threads", "processes", "dask")


def add_experiment_arguments(command: argparse.ArgumentParser) -> None:
    """Add the options for running and storing experiments to a subcommand."""
    command.add_argument("--runs", type=int, metavar="N", help="runs of each configuration that are reported")
    command.add_argument("--seed", type=int, metavar="S", help="seed of the reported runs; tuning uses another one")
    command.add_argument("--out", default="results", metavar="DIR", help="folder for results (default: results)")
    command.add_argument(
        "--engine", choices=ENGINES,
        help="where to run: threads (default), processes (default for Gymnasium environments) or a Dask cluster",
    )  # fmt: skip
    command.add_argument("--workers", type=int, metavar="N", help="tasks at once (default: one per processor)")
    command.add_argument("--address", metavar="URL", help="of a Dask scheduler, such as tcp://10.0.0.1:8786")
    command.add_argument("--retry-failed", action="store_true", help="do runs again that failed before")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run_experiment(options: argparse.Namespace, studies: Callable[[], Study | Sequence[Study]]) -> None:
    """Run or continue, and print the results."""
    for name in ("runs", "workers"):
        if (count := vars(options)[name]) is not None:
            at_least(1, **{f"--{name}": count})
    if options.seed is not None:
        at_least(0, **{"--seed": options.seed})
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
        printed = summary.to_dict() | {
            "out": options.out, "page": str(page), "tables": str(tables), "session_seconds": seconds,
        }  # fmt: skip
        print(json.dumps(printed, allow_nan=False))
        return
    print(f"\nThis took {seconds:.0f} s. Look at {page}; the same tables as text are in {tables}.")
    print(f"aapi export {shlex.quote(options.out)} runs.csv writes every run for other programs.")
