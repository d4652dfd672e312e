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
    value: Any = state
    if isinstance(value, np.ndarray):
        return cast("T", value.copy())
    if isinstance(value, dict):
        return cast("T", {key: copied(item) for key, item in value.items()})
    if isinstance(value, tuple):
        items = [copied(item) for item in value]
        return cast("T", tuple(items) if type(value) is tuple else type(value)(*items))  # a named one
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {name: copied(item) for name, item in vars(value).items() if _is_state(item)}
        return cast("T", dataclasses.replace(value, **parts))
    return state


def _is_state(value: Any) -> bool:
    return isinstance(value, np.ndarray | dict | tuple) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def stored(state: Any, prefix: str = "") -> Arrays:
    """All arrays and numbers of a state, by the names of their fields."""
    if isinstance(state, np.ndarray | bool | int | float | np.generic):
        return {prefix: np.asarray(state)}
    if isinstance(state, dict | tuple):  # memories, which keep their order
        items = state.values() if isinstance(state, dict) else state
        return _joined({f"{number}": item for number, item in enumerate(items)}, prefix)
    if isinstance(state, _Stores):
        return {f"{prefix}_{name}" if prefix else name: array for name, array in state.arrays().items()}
    if not dataclasses.is_dataclass(state):
        raise InvalidInput(
            f"{prefix or 'the state'} of a learner is a {type(state).__name__}, which cannot be saved: make it an "
            "array, a number or a tuple of these, or give the field metadata={'stored': False}"
        )
    return _joined(_stored_fields(state), prefix)


def _joined(parts: dict[str, Any], prefix: str) -> Arrays:
    start = f"{prefix}_" if prefix else ""
    found: Arrays = {}
    for name, part in parts.items():
        if part is not None:
            found |= stored(part, start + name)
    return found


def _stored_fields(state: Any) -> dict[str, Any]:
    fields = dataclasses.fields(state)
    return {field.name: vars(state)[field.name] for field in fields if field.metadata.get("stored", True)}


def restored(like: T, arrays: Arrays, prefix: str = "") -> T:
    """The state that `stored` gave; `like` is a new one of the same learner. Every array is checked against it."""
    value: Any = like
    if isinstance(value, np.ndarray):
        return cast("T", check_like(arrays, prefix, value))
    if isinstance(value, bool | int | float | np.generic):
        return cast("T", type(value)(check_like(arrays, prefix, np.asarray(value))))
    if isinstance(value, dict):
        parts = enumerate(value.items())
        return cast("T", {key: restored(item, arrays, f"{prefix}_{number}") for number, (key, item) in parts})
    if isinstance(value, tuple):
        return cast("T", tuple(restored(item, arrays, f"{prefix}_{number}") for number, item in enumerate(value)))
    start = f"{prefix}_" if prefix else ""
    mine = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    if isinstance(value, _Restores):
        return cast("T", value.restored(mine))
    return restored_fields(like, mine)


def restored_fields(like: T, arrays: Arrays) -> T:
    """A dataclass whose fields were stored."""
    value: Any = like
    parts = {name: part for name, part in _stored_fields(value).items() if part is not None}
    found = {name: restored(part, arrays, name) for name, part in parts.items()}
    return cast("T", dataclasses.replace(value, **found))
