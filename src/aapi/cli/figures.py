"""`aapi figures`: figures for print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from aapi.cli.text import plural

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands


EXAMPLES = """examples:
  aapi figures results                           results/figures: PDF, SVG and PNG, for one and two columns
  aapi figures results --format pdf --log-steps --out paper/figures
"""


def add_command(commands: Commands) -> None:
    """Add `figures` to the command line."""
    command = commands.add_parser(
        "figures",
        help="figures for print, from stored results",
        description="Draw learning curves, regret and sensitivity for print (pip install 'aapi[plots]').",
        epilog=EXAMPLES,
    )
    command.add_argument("folder", help="where aapi reproduce or aapi sweep put its results")
    command.add_argument("--out", metavar="DIR", help="where to put them (default: figures in the folder)")
    command.add_argument("--format", choices=("pdf", "svg", "png"), action="append", help="default: all three")
    command.add_argument("--log-steps", action="store_true", help="steps on a logarithmic axis")
    command.add_argument("--json", action="store_true", help="print what was written as a JSON object")
    command.set_defaults(run=figures)


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
