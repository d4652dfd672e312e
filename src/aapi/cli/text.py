"""Plain text for people: facts in two columns that fit the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["plural", "print_facts"]


def print_facts(title: str, rest: str, facts: Sequence[tuple[str, str]]) -> None:
    """A title line, then a name and a text each, wrapped; bold on a terminal, plain elsewhere."""
    columns = min(100, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 80
    width = max(len(name) for name, _ in facts) + 2
    print(_bold(title) + rest, end="\n\n")
    for name, text in facts:
        first, *more = textwrap.wrap(text, max(20, columns - width)) or [""]
        print(_bold(name) + " " * (width - len(name)) + first)
        for line in more:
            print(" " * width + line)


def plural(count: int, noun: str) -> str:
    """1 state, 2 states."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _bold(text: str) -> str:
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain or not text else f"\033[1m{text}\033[0m"
