"""Numbers and lists as people write them. It imports nothing heavy: commands need it before anything else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aapi.experiments.summary import Sensitivity


def format_number(value: float | None) -> str:
    """12,345 or 0.123 or 1.2e+12; – where there is none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if 999.5 <= abs(value) < 1e9 else f"{value:.3g}"


def format_interval(mean: float | None, lower: float | None, upper: float | None) -> str:
    """12.3 [11, 13.6], or the mean alone, where there is no interval."""
    if lower is None or upper is None or math.isnan(lower):
        return format_number(mean)
    return f"{format_number(mean)} [{format_number(lower)}, {format_number(upper)}]"


def format_decimal(value: float, digits: int = 2) -> str:
    """0.97, or −0.03; never −0.00."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text.replace("-", "−")


def format_score(score: float | None) -> str:
    """A score, or – where there is none."""
    return "–" if score is None else format_decimal(score)


def format_setting(value: object) -> str:
    """The value of a setting, with as few digits as will do."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def format_settings(settings: Mapping[str, object], form: Callable[[object], str] = str) -> str:
    """phase length 100, eta 0.5. form: how values are written."""
    return ", ".join(f"{name.replace('_', ' ')} {form(value)}" for name, value in settings.items())


def format_range(values: Iterable[int]) -> str:
    """5, or 5 to 50."""
    found = list(values)
    low, high = min(found), max(found)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def format_list(words: Sequence[str]) -> str:
    """a, b and c; or a, x; b and c, if there are commas in them."""
    comma = "; " if any("," in word for word in words) else ", "
    return words[0] if len(words) == 1 else f"{comma.join(words[:-1])} and {words[-1]}"


def candidate_text(value: Sensitivity) -> str:
    """The values of the tuned settings."""
    return ", ".join(map(format_setting, value["candidate"].values()))


def axis_position(value: Sensitivity) -> float | str:
    """On an axis: the value of the one tuned setting if it is a number, else the text."""
    only = next(iter(value["candidate"].values())) if len(value["candidate"]) == 1 else None
    return float(only) if isinstance(only, int | float) and not isinstance(only, bool) else candidate_text(value)
