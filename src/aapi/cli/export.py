"""`aapi export`: stored runs for other programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aapi.cli.text import plural

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands


EXAMPLES = """examples:
  aapi export results runs.csv
  aapi export results curves.parquet --curves        needs pip install 'aapi[parquet]'
"""


def add_command(commands: Commands) -> None:
    """Add `export` to the command line."""
    command = commands.add_parser(
        "export",
        help="write stored runs as CSV or Parquet",
        description="Write a row for each run in a results folder, failed ones included, with all digits.",
        epilog=EXAMPLES,
    )
    command.add_argument("folder", help="where aapi reproduce or aapi sweep put its results")
    command.add_argument("file", help="what to write; its ending, .csv or .parquet, says the format")
    command.add_argument("--curves", action="store_true", help="a row for each run and step of its curve instead")
    command.add_argument("--json", action="store_true", help="print what was written as a JSON object")
    command.set_defaults(run=export)


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
