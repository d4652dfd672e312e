"""Checks of arguments that the whole library shares."""

from __future__ import annotations

import operator

from aapi.errors import InvalidInput

__all__ = ["at_least"]


def at_least(least: int, **values: int) -> None:
    """Raise unless every value is a whole number no smaller than `least`."""
    for name, value in values.items():
        try:
            whole = operator.index(value)
        except TypeError:
            raise InvalidInput(f"{name} must be a whole number, not {value!r}") from None
        if whole < least:
            raise InvalidInput(f"{name} must be at least {least}, not {value}")
