"""`aapi watch`: the report of a running experiment, live."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands


EXAMPLES = """examples:
  aapi watch results              then open http://127.0.0.1:8642
  aapi watch results --open       opens it
On another machine: ssh -L 8642:127.0.0.1:8642 that-machine, and aapi watch there.
"""


def add_command(commands: Commands) -> None:
    """Add `watch` to the command line."""
    command = commands.add_parser(
        "watch",
        help="the report of a running experiment, live",
        description="Serve the report of a folder on this machine only: progress, time left, curves as they grow.",
        epilog=EXAMPLES,
    )
    command.add_argument("folder", help="where aapi reproduce or aapi sweep is writing")
    command.add_argument("--port", type=int, default=8642, metavar="N", help="default: 8642; 0 for any that is free")
    command.add_argument("--open", action="store_true", help="show it in the browser")
    command.set_defaults(run=watch)


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
