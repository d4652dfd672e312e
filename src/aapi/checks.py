"""Checks of arguments that the whole library shares."""

from __future__ import annotations

import math
import numbers
import operator
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.array_types import AnyArray, Arrays

Part = TypeVar("Part")
SMALLEST_DELTA = 1e-200


def at_least(least: int, **values: int) -> None:
    """Raise unless every value is an integer no smaller than `least`."""
    for name, value in values.items():
        try:
            if isinstance(value, bool):
                raise TypeError
            whole = operator.index(value)
        except TypeError:
            raise InvalidInput(f"{name} must be a whole number, not {value!r}") from None
        if whole < least:
            raise InvalidInput(f"{name} must be at least {least}, not {value}")


def finite(least: float, *, strictly: bool = False, **values: float) -> None:
    """Raise unless every value is a finite number no smaller than `least`, or larger than it."""
    for name, value in values.items():
        real = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
        if not real or value < least or (strictly and value == least):
            bound = f" larger than {least:g}" if strictly else f" at least {least:g}" if least > -math.inf else ""
            raise InvalidInput(f"{name} must be a finite number{bound}, not {value!r}")


def check_probability(**values: float) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    for name, value in values.items():
        if not isinstance(value, numbers.Real) or not 0.0 < value < 1.0:
            raise InvalidInput(f"{name} must lie strictly between 0 and 1, not {value!r}")


def check_delta(delta: float) -> None:
    """Raise unless δ, with which a bound may fail, is a probability that can be divided by."""
    check_probability(delta=delta)
    if delta < SMALLEST_DELTA:
        raise InvalidInput(f"delta must be at least {SMALLEST_DELTA:g}, not {delta!r}")


def one_of(allowed: tuple[str, ...], **values: str) -> None:
    """Raise unless every value is one of those allowed."""
    for name, value in values.items():
        if value not in allowed:
            raise InvalidInput(f"{name} must be {' or '.join(allowed)}, not {value!r}")


def as_part(part: object, base: type[Part], field: str, example: str, **attributes: object) -> Part:
    """A part of a learner, which derives from `base`; or a function of the user's as one; or an error.

    field, example: for the error, what the part is for, and what it could be. attributes: those of a function's part.
    """
    if isinstance(part, base):
        return part
    if not callable(part) or isinstance(part, type):
        raise InvalidInput(f"{field} must be {example}, or a function, not {part!r}")
    methods = {"__call__": staticmethod(part), "__repr__": lambda _: repr(part)}
    made: Part = type(base.__name__, (base,), methods | attributes)()
    return made


def check_like(arrays: Arrays, name: str, like: AnyArray) -> AnyArray:
    """A copy of the stored array of that name; an error unless it is finite, with the shape and dtype of `like`."""
    array = arrays.get(name)
    if array is None or array.shape != like.shape or array.dtype != like.dtype:
        found = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        raise InvalidInput(f"{name} must be {like.dtype} of shape {like.shape}, and {found} was stored")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInput(f"{name} holds a value that is not a finite number")
    return np.array(array)


def check_indices(array: AnyArray, count: int, name: str) -> None:
    """Raise unless all numbers lie in 0 … count − 1."""
    if array.size and not (array.min() >= 0 and array.max() < count):
        raise InvalidInput(f"{name} must lie in 0..{count - 1}, and holds {array.min()} to {array.max()}")
