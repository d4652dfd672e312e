"""`aapi show`: what the policy of a saved agent does, as a table and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from aapi.cli.parser import add_command, add_json
from aapi.cli.text import BOLD, coloured, plural, printable
from aapi.errors import InvalidInput, install_extra

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands

EXAMPLES = """examples:
  aapi show queue.aapi
  aapi show queue.aapi --picture queue.png --csv queue.csv
  aapi show cart.aapi --over angle,turn --picture cart.png
"""
ROWS = 20


def add_show(commands: Commands) -> None:
    """Add `show` to the command line."""
    command = add_command(
        commands, "show", show, epilog=EXAMPLES, help="what a saved agent does, as a table and a picture",
        description="Show what a saved agent does by observation, where it was most often first.",
    )  # fmt: skip
    command.add_argument("agent", help="a file that aapi train saved")
    command.add_argument("--rows", type=int, default=ROWS, metavar="N", help=f"of the table (default: {ROWS})")
    command.add_argument("--all", action="store_true", help="also countable observations that were never seen")
    command.add_argument(
        "--over", metavar="A,B", help="of vectors: one to three numbers, by name or place, that a grid is laid over"
    )
    command.add_argument("--observations", metavar="A,B,…", help="names of the numbers of an observation")
    command.add_argument("--actions", metavar="A,B,…", help="names of the actions")
    command.add_argument("--csv", metavar="FILE", help="write all rows there")
    command.add_argument(
        "--picture", metavar="FILE", help=f"draw it there: .png, .pdf or .svg ({install_extra('plots')})"
    )
    add_json(command)


def show(options: argparse.Namespace) -> None:
    """Write files, and print the table."""
    from aapi.agent import load
    from aapi.checks import at_least

    at_least(1, **{"--rows": options.rows})
    for flag, path in (("--csv", options.csv), ("--picture", options.picture)):
        if path is not None and not Path(path).parent.is_dir():
            raise InvalidInput(f"{flag} {path}: the folder {Path(path).parent} does not exist")
    given = {"observations": options.observations, "actions": options.actions}
    names = {what: text.split(",") for what, text in given.items() if text is not None}
    over = None if options.over is None else [int(n) if n.isdigit() else n for n in options.over.split(",")]
    table = load(options.agent).policy_table(names, visited=not options.all, over=over)
    if options.csv is not None:
        table.to_csv(options.csv)
    if options.picture is not None:
        table.picture(options.picture)
    if options.json:
        print(json.dumps(table.to_dict(options.rows), allow_nan=False))
        return
    print(coloured(printable(table.title), BOLD), end=f": {plural(len(table), 'observation')}\n\n")
    print(table.text(options.rows))
    for path in (options.csv, options.picture):
        if path is not None:
            print(f"\nwritten: {path}")
