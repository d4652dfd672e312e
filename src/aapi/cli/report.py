"""`aapi report`: the page about stored results."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands


EXAMPLES = """examples:
  aapi report results             writes results/report.html and results/results.md
  aapi report results --open      and shows it in the browser
"""


def add_command(commands: Commands) -> None:
    """Add `report` to the command line."""
    command = commands.add_parser(
        "report",
        help="the page about stored results: tables, curves, and diagnostics of learners",
        description="Write report.html, one file that needs no network, and results.md, from all studies in a folder.",
        epilog=EXAMPLES,
    )
    command.add_argument("folder", help="where aapi reproduce or aapi sweep put its results")
    command.add_argument("--open", action="store_true", help="show the page in the browser")
    command.add_argument("--json", action="store_true", help="print what was written as a JSON object")
    command.set_defaults(run=report)


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
