"""`aapi export-policy`: the policy of a saved agent as a light file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aapi.cli.parser import add_command
from aapi.cli.text import print_table
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands

EXAMPLES = """examples:
  aapi export-policy queue.aapi -o policy.npz --reader
"""


def add_export_policy(commands: Commands) -> None:
    """Add `export-policy` to the command line."""
    command = add_command(
        commands, "export-policy", export_policy, epilog=EXAMPLES, help="a saved agent's policy, to act by elsewhere",
        description="Write the policy of a saved agent as arrays, which NumPy alone can act by.",
    )  # fmt: skip
    command.add_argument("agent", help="a file that aapi train saved")
    command.add_argument("-o", "--out", default="policy.npz", metavar="FILE", help="default: policy.npz")
    command.add_argument("--reader", action="store_true", help="copy policy_reader.py beside it, which reads it")


def export_policy(options: argparse.Namespace) -> None:
    """Write the files, and say how they are used."""
    from aapi.agent import load

    out = Path(options.out)
    if not out.parent.is_dir():
        raise InvalidInput(f"--out {out}: the folder {out.parent} does not exist")
    agent = load(options.agent)
    agent.export(out, reader=options.reader)
    reader = "policy_reader.py, beside it" if options.reader else "policy_reader.py, which --reader copies beside it"
    print_table(
        str(out), f": the policy of {options.agent}, after {agent.num_steps} steps",
        [
            ("size", f"{out.stat().st_size:,} bytes"), ("reader", reader),
            ("use", f"Policy({out.name!r}).act(observation)"),
        ],
    )  # fmt: skip
