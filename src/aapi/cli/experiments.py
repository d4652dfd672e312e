"""What `aapi reproduce` and `aapi sweep` share: where runs are done and kept, and the closing table."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from aapi.checks import at_least
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["add_experiment_arguments", "run_experiment"]

ENGINES = ("threads", "processes", "dask")


def add_experiment_arguments(command: argparse.ArgumentParser) -> None:
    """Add where to run and where to keep results to a subcommand."""
    command.add_argument("--runs", type=int, metavar="N", help="runs of each that are reported")
    command.add_argument("--seed", type=int, metavar="S", help="of the runs that are reported; tuning has another one")
    command.add_argument("--out", default="results", metavar="DIR", help="folder for results (default: results)")
    command.add_argument(
        "--engine", choices=ENGINES,
        help="where to run: threads (default), processes (default for Gymnasium environments) or a Dask cluster",
    )  # fmt: skip
    command.add_argument("--workers", type=int, metavar="N", help="tasks at once (default: one per processor)")
    command.add_argument("--address", metavar="URL", help="of a Dask scheduler, such as tcp://10.0.0.1:8786")
    command.add_argument("--retry-failed", action="store_true", help="do runs again that failed before")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run_experiment(options: argparse.Namespace, studies: Callable[[], Any]) -> None:
    """Run, or go on, and print what came out."""
    for name in ("runs", "workers"):
        if getattr(options, name) is not None:
            at_least(1, **{f"--{name}": getattr(options, name)})
    if options.seed is not None:
        at_least(0, **{"--seed": options.seed})
    if options.address is not None and options.engine != "dask":
        raise InvalidInput("--address is of a Dask cluster: use --engine dask with it")
    from aapi.experiments import Interrupted, run_studies
    from aapi.report.folder import write_pages
    from aapi.report.tables import closing_tables

    start = time.perf_counter()
    try:
        summary = run_studies(
            studies(), options.out, engine=options.engine, workers=options.workers, address=options.address,
            progress=not options.json, retry_failed=options.retry_failed,
        )  # fmt: skip
    except Interrupted as stop:  # in order: nothing is under way any more
        again = shlex.join(["aapi", *sys.argv[1:]])
        print(f"aapi {options.command}: interrupted; {stop}; to go on: {again}", file=sys.stderr)
        sys.exit(130)
    seconds = time.perf_counter() - start
    if not options.json:
        for line in closing_tables(summary):
            print(line, flush=True)
    page, tables = write_pages(options.out)
    if options.json:
        facts = summary.to_dict() | {
            "out": options.out, "page": str(page), "tables": str(tables), "session_seconds": seconds,
        }  # fmt: skip
        print(json.dumps(facts, allow_nan=False))
        return
    print(f"\nThis took {seconds:.0f} s. Look at {page}; the same tables as text are in {tables}.")
    print(f"aapi export {shlex.quote(options.out)} runs.csv gives every run to other programs.")
