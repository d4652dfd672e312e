"""The argument parser of the command and its subcommands."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Parser(argparse.ArgumentParser):
    """Prints errors in one line. Arguments whose definition takes long are added when they are needed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter} | options)
        self._deferred: list[Callable[[], None]] = []

    def defer(self, add: Callable[[], None]) -> None:
        """Call a function that adds arguments as soon as something is parsed, or help is printed."""
        self._deferred.append(add)

    # The type of the namespace is a type variable in argparse.
    def parse_known_args(  # type: ignore[override]
        self, args: Iterable[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, with all arguments in place."""
        while self._deferred:
            self._deferred.pop(0)()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # what `add_subparsers` returns
