"""`aapi report`: the page about stored results."""

from __future__ import annotations

import argparse
import json
import shlex
from typing import Any

__all__ = ["add_command"]

EXAMPLES = """examples:
  aapi report results             writes results/report.html and results/results.md
  aapi report results --open      and shows it in the browser
"""


def add_command(commands: Any) -> None:
    """Add `report` to the command line."""
    command = commands.add_parser(
        "report",
        help="the page about stored results: tables, curves, and the inside of learners",
        description="Write report.html, one file that needs no network, and results.md, from all studies in a folder.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("folder", help="where aapi reproduce or aapi sweep put its results")
    command.add_argument("--open", action="store_true", help="show the page in the browser")
    command.add_argument("--json", action="store_true", help="say what was written as a JSON object")
    command.set_defaults(run=report)


def report(options: argparse.Namespace) -> None:
    """Write the pages and say where they are."""
    from aapi.report.folder import write_pages

    pages = write_pages(options.folder)
    if options.json:
        print(json.dumps({"page": str(pages[0]), "tables": str(pages[1]), "bytes": pages[0].stat().st_size}))
    else:
        print(f"{pages[0]}: to be looked at; {pages[1]}: the same tables as text")
        print(f"while runs are going on: aapi watch {shlex.quote(options.folder)}")
    if options.open:
        import webbrowser

        webbrowser.open(pages[0].resolve().as_uri())
