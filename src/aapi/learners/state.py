"""States of learners are values: how they are copied, stored, and restored, whatever they are made of.

A state is a frozen dataclass of arrays, numbers, other such dataclasses, and memories. A field with the metadata
`stored=False` is not stored: it follows from the rest. A class whose arrays may grow has `arrays` and `restored`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from aapi.checks import check_like
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.array_types import Arrays


T = TypeVar("T")


@runtime_checkable
class _Stores(Protocol):
    """What says itself what is to be stored of it."""

    def arrays(self) -> Arrays: ...


@runtime_checkable
class _Restores(Protocol):
    """What makes itself anew of arrays that were stored, and checks them."""

    def restored(self, arrays: Arrays) -> Any: ...


def copied(state: T) -> T:
    """A state that shares no array with another: the one may be updated and the other kept."""
    if isinstance(state, np.ndarray):
        return cast("T", state.copy())
    parts = _parts(state)
    if parts is None:
        return state
    return cast("T", _with_parts(state, {key: copied(part) for key, part in parts.items()}))


def stored(state: Any, prefix: str = "") -> Arrays:
    """All arrays and numbers of a state, by the names of their fields."""
    if isinstance(state, np.ndarray | bool | int | float | np.generic):
        return {prefix: np.asarray(state)}
    start = f"{prefix}_" if prefix else ""
    if isinstance(state, _Stores):
        return {start + name: array for name, array in state.arrays().items()}
    parts = _parts(state)
    if parts is None:
        raise InvalidInput(
            f"{prefix or 'the state'} of a learner is a {type(state).__name__}, which cannot be saved: make it an "
            "array, a number or a tuple of these, or give the field metadata={'stored': False}"
        )
    found: Arrays = {}
    for name, key in _stored_names(state, parts).items():
        found |= stored(parts[key], start + name)
    return found


def restored(like: T, arrays: Arrays, prefix: str = "") -> T:
    """The state that `stored` gave; `like` is a new one of the same learner. Every array is checked against it."""
    if isinstance(like, np.ndarray):
        return cast("T", check_like(arrays, prefix, like))
    if isinstance(like, bool | int | float | np.generic):
        return cast("T", type(like)(check_like(arrays, prefix, np.asarray(like)).item()))
    start = f"{prefix}_" if prefix else ""
    if isinstance(like, dict | tuple):
        return restored_parts(like, arrays, start)
    mine = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    return cast("T", like.restored(mine)) if isinstance(like, _Restores) else restored_parts(like, mine)


def restored_parts(like: T, arrays: Arrays, start: str = "") -> T:
    """A dataclass, a dictionary or a tuple whose parts were stored under names that begin so."""
    parts = _parts(like) or {}
    names = _stored_names(like, parts).items()
    found = {key: restored(parts[key], arrays, start + name) for name, key in names}
    return cast("T", _with_parts(like, parts | found))


def _parts(value: Any) -> dict[Any, Any] | None:
    """What a dictionary, a tuple or a dataclass is made of; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: vars(value)[field.name] for field in dataclasses.fields(value) if field.init}
    return None


def _with_parts(value: Any, parts: dict[Any, Any]) -> Any:
    if isinstance(value, dict):
        return parts
    if isinstance(value, tuple):
        return tuple(parts.values()) if type(value) is tuple else type(value)(*parts.values())  # a named one
    return dataclasses.replace(value, **parts)


def _stored_names(value: Any, parts: dict[Any, Any]) -> dict[str, Any]:
    """Under which names which parts are stored: fields under their own, others, which keep their order, as numbers."""
    names = {str(number): key for number, key in enumerate(parts)}
    if dataclasses.is_dataclass(value):
        names = {field.name: field.name for field in dataclasses.fields(value) if field.metadata.get("stored", True)}
    return {name: key for name, key in names.items() if parts[key] is not None}
