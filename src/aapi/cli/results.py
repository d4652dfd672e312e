"""`aapi report`, `watch`, `figures` and `export`: what can be had from a folder of results."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aapi.cli.parser import add_command, add_json
from aapi.cli.text import plural
from aapi.errors import install_extra

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands

REPORT_EXAMPLES = """examples:
  aapi report results             writes results/report.html and results/results.md
  aapi report results --open      and shows it in the browser
"""
WATCH_EXAMPLES = """examples:
  aapi watch results              then open http://127.0.0.1:8642
  aapi watch results --open       opens it
On another machine: ssh -L 8642:127.0.0.1:8642 that-machine, and aapi watch there.
"""
FIGURES_EXAMPLES = """examples:
  aapi figures results                           results/figures: PDF, SVG and PNG, for one and two columns
  aapi figures results --format pdf --log-steps --out paper/figures
"""
EXPORT_EXAMPLES = """examples:
  aapi export results runs.csv
  aapi export results curves.parquet --curves        needs the extra parquet
"""
FOLDER = "where aapi reproduce or aapi sweep put its results"
WRITTEN = "print what was written as a JSON object"


def add_report(commands: Commands) -> None:
    """Add `report` to the command line."""
    command = add_command(
        commands, "report", report, epilog=REPORT_EXAMPLES,
        help="the page about stored results: tables, curves, and diagnostics of learners",
        description="Write report.html, one file that needs no network, and results.md, from all studies in a folder.",
    )  # fmt: skip
    command.add_argument("folder", help=FOLDER)
    command.add_argument("--open", action="store_true", help="show the page in the browser")
    add_json(command, WRITTEN)


def report(options: argparse.Namespace) -> None:
    """Write the pages, and print where they are."""
    from aapi.report.folder import write_pages

    page, tables = write_pages(options.folder)
    if options.json:
        print(json.dumps({"page": str(page), "tables": str(tables), "bytes": page.stat().st_size}))
    else:
        print(f"{page}: for the browser; {tables}: the same tables as text")
        print(f"while runs are going on: aapi watch {shlex.quote(options.folder)}")
    if options.open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def add_watch(commands: Commands) -> None:
    """Add `watch` to the command line."""
    command = add_command(
        commands, "watch", watch, epilog=WATCH_EXAMPLES, help="the report of a running experiment, live",
        description="Serve the report of a folder on this machine only: progress, time left, curves as they grow.",
    )  # fmt: skip
    command.add_argument("folder", help="where aapi reproduce or aapi sweep is writing")
    command.add_argument("--port", type=int, default=8642, metavar="N", help="default: 8642; 0 for any that is free")
    command.add_argument("--open", action="store_true", help="show it in the browser")


def watch(options: argparse.Namespace) -> None:
    """Serve until Ctrl-C."""
    from aapi.report.watch import start_server

    with start_server(options.folder, options.port) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"{options.folder} is at {address} until Ctrl-C", flush=True)
        if options.open:
            import webbrowser

            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.2)


def add_figures(commands: Commands) -> None:
    """Add `figures` to the command line."""
    command = add_command(
        commands, "figures", figures, epilog=FIGURES_EXAMPLES, help="figures for print, from stored results",
        description=f"Draw learning curves, regret and sensitivity for print ({install_extra('plots')}).",
    )  # fmt: skip
    command.add_argument("folder", help=FOLDER)
    command.add_argument("--out", metavar="DIR", help="where to put them (default: figures in the folder)")
    command.add_argument("--format", choices=("pdf", "svg", "png"), action="append", help="default: all three")
    command.add_argument("--log-steps", action="store_true", help="steps on a logarithmic axis")
    add_json(command, WRITTEN)


def figures(options: argparse.Namespace) -> None:
    """Draw, and print what was written."""
    from aapi.report.figures import write_figures
    from aapi.report.panels import FORMATS

    out = Path(options.folder) / "figures" if options.out is None else Path(options.out)
    paths = write_figures(
        options.folder, out, formats=options.format or FORMATS, log_steps=options.log_steps, progress=not options.json
    )
    if options.json:
        print(json.dumps({"files": [str(path) for path in paths]}))
    else:
        print(f"{out}: {plural(len(paths), 'file')}")


def add_export(commands: Commands) -> None:
    """Add `export` to the command line."""
    command = add_command(
        commands, "export", export, epilog=EXPORT_EXAMPLES, help="write stored runs as CSV or Parquet",
        description="Write a row for each run in a results folder, failed ones included, with all digits.",
    )  # fmt: skip
    command.add_argument("folder", help=FOLDER)
    command.add_argument("file", help="what to write; its ending, .csv or .parquet, says the format")
    command.add_argument("--curves", action="store_true", help="a row for each run and step of its curve instead")
    add_json(command, WRITTEN)


def export(options: argparse.Namespace) -> None:
    """Export, and print what was written."""
    from aapi.experiments import Store
    from aapi.experiments import export as write

    with Store(options.folder, write=False) as store:
        rows = write(store, options.file, curves=options.curves)
    if options.json:
        print(json.dumps({"file": options.file, "rows": rows}))
    else:
        print(f"{options.file}: {plural(rows, 'row')}")
