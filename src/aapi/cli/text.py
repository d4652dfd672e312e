"""Plain text for people: facts in two columns that fit the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["plural", "print_facts", "text_plot"]


def print_facts(title: str, rest: str, facts: Sequence[tuple[str, str]]) -> None:
    """A title line, then a name and a text each, wrapped; bold on a terminal, plain elsewhere."""
    width = max(len(name) for name, _ in facts) + 2
    print(_bold(title) + rest, end="\n\n")
    for name, text in facts:
        first, *more = textwrap.wrap(text, max(20, line_length() - width)) or [""]
        print(_bold(name) + " " * (width - len(name)) + first)
        for line in more:
            print(" " * width + line)


def line_length() -> int:
    """How many characters fit into a line: the terminal's, or 80 where there is none."""
    return max(40, min(100, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else 80


def plural(count: int, noun: str) -> str:
    """1 state, 2 states."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _bold(text: str) -> str:
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain or not text else f"\033[1m{text}\033[0m"


def text_plot(x: Any, y: Any, *, reference: float | None = None, label: str = "", height: int = 12) -> str:
    """A curve in characters, over steps on an even scale, with a line at `reference` if there is one."""
    tick = "" if reference is None else f"{label} {reference:.4g}"
    margin = max(12, len(tick))
    width = line_length() - margin - 1
    dot, line = ("•", "─") if (sys.stdout.encoding or "").lower().startswith("utf") else ("*", "-")
    points = [(min(width - 1, int(width * step / x[-1])), float(value)) for step, value in zip(x, y, strict=True)]
    points = [point for point in points if point[0] > 0] or points  # the first steps are noise of another size
    levels = [value for _, value in points] + ([] if reference is None else [reference])
    low, high = min(levels), max(levels)
    span = (high - low) or 1.0
    rows = [[" "] * width for _ in range(height)]

    def row(value: float) -> int:
        return round((high - value) / span * (height - 1))

    ticks = {0: f"{high:.4g}", height - 1: f"{low:.4g}"}
    if reference is not None:
        rows[row(reference)] = [line] * width
        ticks[row(reference)] = tick
    for column, value in points:
        rows[row(value)][column] = dot
    lines = [f"{ticks.get(i, ''):>{margin}} {''.join(cells)}".rstrip() for i, cells in enumerate(rows)]
    return "\n".join([*lines, f"{'step':>{margin}} 0{int(x[-1]):>{width - 1}}"])
