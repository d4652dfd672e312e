"""Sensitivity to what was tuned: the tuning runs of each candidate, in words and on an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.report.formatting import format_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.experiments.summary import Sensitivity


def candidate_text(value: Sensitivity) -> str:
    """The values of the tuned settings."""
    return ", ".join(map(format_setting, value["candidate"].values()))


def axis_position(value: Sensitivity) -> float | str:
    """On an axis: the value of the one tuned setting if it is a number, else the text."""
    only = next(iter(value["candidate"].values())) if len(value["candidate"]) == 1 else None
    return float(only) if isinstance(only, int | float) and not isinstance(only, bool) else candidate_text(value)


def by_position(values: Sequence[Sensitivity]) -> list[Sensitivity]:
    """In the order of the axis, where the first settings of all are numbers."""
    firsts = [next(iter(value["candidate"].values()), None) for value in values]
    numbers = [first for first in firsts if isinstance(first, int | float)]
    if len(numbers) < len(values):
        return list(values)
    return [value for _, value in sorted(zip(numbers, values, strict=True), key=lambda pair: pair[0])]
