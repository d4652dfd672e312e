"""Text for the terminal: tables of two columns, bars and plots."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aapi.array_types import AnyArray


BOLD, FAINT, BLUE = 1, 2, 34  # codes of a terminal
Numbers: TypeAlias = "Sequence[float] | AnyArray"


def print_table(title: str, subtitle: str, rows: Sequence[tuple[str, str]]) -> None:
    """A line with title and subtitle, then rows of a name and a wrapped text; bold titles and names on a terminal."""
    width = max(len(name) for name, _ in rows) + 2
    print(coloured(title, BOLD) + subtitle, end="\n\n")
    for name, text in rows:
        first, *more = textwrap.wrap(text, max(20, line_length() - width)) or [""]
        print(coloured(name, BOLD) + " " * (width - len(name)) + first)
        for line in more:
            print(" " * width + line)


def print_lines(title: str, lines: Iterable[str]) -> None:
    """An empty line, a title, and lines, which are wrapped with an indent where they are too long."""
    print("\n" + coloured(title, BOLD))
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        for part in textwrap.wrap(line, line_length() - 2, subsequent_indent=indent):
            print("  " + part)


def print_picture(lines: Iterable[str]) -> None:
    """An empty line, a heading, wrapped, and lines; nothing if there are none."""
    for i, line in enumerate(lines):
        print(line if i else "\n" + "\n".join(textwrap.wrap(line, line_length())))


def line_length() -> int:
    """How many characters fit into a line: the terminal's, or 80 where there is none."""
    return max(40, min(100, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else 80


def printable(text: str) -> str:
    """A text from a file without what could move a terminal's cursor, or worse: ? in its place."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def plural(count: int, noun: str) -> str:
    """1 state, 2 states."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def coloured(text: str, code: int) -> str:
    """A text in a style of the terminal, BOLD, FAINT or BLUE; plain elsewhere."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return text if plain or not text else f"\033[{code}m{text}\033[0m"


def fancy() -> bool:
    """Whether the output can show more than ASCII."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def bar(share: float, width: int) -> str:
    """A bar whose length is in proportion to a number in [0, 1]; not empty unless it is 0."""
    eighths = round(8 * width * share)
    if not fancy():
        return "#" * max(round(width * share), share > 0.0)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip() or ("▏" if share > 0.0 else "")


def marks(names: Sequence[str]) -> list[str]:
    """One character for each name: arrows for directions, else first or last letters if they differ, else digits."""
    arrows = {"left": "←", "right": "→", "up": "↑", "down": "↓"}
    if fancy() and all(name in arrows for name in names):
        return [arrows[name] for name in names]
    for letter in (0, -1):
        found = [name[letter] for name in names if name]
        if len(set(found)) == len(names):
            return found
    return [str(number % 10) for number in range(len(names))]


def text_plot(x: Numbers, y: Numbers, *, reference: float | None = None, label: str = "", height: int = 12) -> str:
    """A curve in characters, over steps on a linear scale, with a line at `reference` if there is one."""
    tick = "" if reference is None else f"{label} {reference:.4g}"
    margin = max(12, len(tick))
    width = line_length() - margin - 1
    dot, line = ("•", "─") if fancy() else ("*", "-")
    points = [(min(width - 1, int(width * step / x[-1])), float(value)) for step, value in zip(x, y, strict=True)]
    points = [point for point in points if point[0] > 0] or points  # the first averages vary much more
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
    paint = {dot: coloured(dot, BLUE), line: coloured(line, FAINT)}
    lines = [
        f"{ticks.get(i, ''):>{margin}} {''.join(paint.get(cell, cell) for cell in ''.join(cells).rstrip())}".rstrip()
        for i, cells in enumerate(rows)
    ]
    return "\n".join([*lines, f"{'step':>{margin}} 0{int(x[-1]):>{width - 1}}"])
