"""The argument parser of the command and its subcommands."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from aapi.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # what `add_subparsers` returns


class Parser(argparse.ArgumentParser):
    """Prints errors in one line. Arguments whose definition takes long are added when they are needed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter} | options)
        self._deferred: list[Callable[[], None]] = []

    def defer(self, add: Callable[[], None]) -> None:
        """Call a function that adds arguments as soon as something is parsed, or help is printed."""
        self._deferred.append(add)

    def given(self, options: argparse.Namespace) -> set[str]:
        """The names of the options that are not at their defaults."""
        return {name for name, value in vars(options).items() if value != self.get_default(name)} - {"command"}

    # The type of the namespace is a type variable in argparse.
    def parse_known_args(  # type: ignore[override]
        self, args: Iterable[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, with all arguments in place."""
        while self._deferred:
            self._deferred.pop(0)()
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return options, unknown

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            hint = did_you_mean(value, action.choices)
            message = f"invalid choice: {value!r}{hint}: choose {', '.join(action.choices)}"
            raise argparse.ArgumentError(action, message)

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def add_command(commands: Commands, name: str, run: Callable[[argparse.Namespace], None], **texts: Any) -> Parser:
    """Add a subcommand. run: what it does; texts: its help, description and epilog."""
    command = commands.add_parser(name, **texts)
    command.set_defaults(run=run, parser=command)
    return command


def add_json(command: Parser, what: str = "print one JSON object") -> None:
    """Add `--json` to a subcommand."""
    command.add_argument("--json", action="store_true", help=what)
