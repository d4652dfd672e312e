"""Sensitivity to what was tuned: the tuning runs of each candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aapi.experiments.plan import titled
from aapi.report.formatting import format_setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aapi.experiments.summary import Sensitivity


@dataclass(frozen=True)
class TunedValue:
    """A candidate, the values of its tuned settings, and its tuning runs.

    mean, std: of the average reward over runs; mean is None if all failed. score: 0 is acting at random, 1 the
        optimum; None where these are not known, or all runs failed.
    """

    study: str
    problem: str
    reward_scale: float
    algorithm: str
    candidate: Mapping[str, object]
    runs: int
    failed: int
    mean: float | None
    std: float
    score: float | None

    @property
    def title(self) -> str:
        """What the problem is called, with the scale of its rewards."""
        return titled(self.problem, self.reward_scale)

    @property
    def text(self) -> str:
        """The values of the tuned settings."""
        return ", ".join(map(format_setting, self.candidate.values()))

    @property
    def position(self) -> float | str:
        """On an axis: the value of the one tuned setting if it is a number, else the text."""
        value = next(iter(self.candidate.values())) if len(self.candidate) == 1 else None
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else self.text


def tuned_values(candidates: Sequence[Sensitivity]) -> list[TunedValue]:
    """Those of a summary."""
    return [TunedValue(**candidate) for candidate in candidates]


def by_position(values: Sequence[TunedValue]) -> list[TunedValue]:
    """In the order of the axis, where the first settings of all are numbers."""
    firsts = [next(iter(value.candidate.values()), None) for value in values]
    numbers = [first for first in firsts if isinstance(first, int | float)]
    if len(numbers) < len(values):
        return list(values)
    return [value for _, value in sorted(zip(numbers, values, strict=True), key=lambda pair: pair[0])]
