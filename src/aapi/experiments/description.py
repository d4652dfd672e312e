"""What an object is made of, as JSON: equal descriptions mean equal computations."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from aapi.errors import InvalidInput

__all__ = ["canonical", "described", "digest"]


def canonical(description: Any) -> str:
    """JSON with one form for each value."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(description: Any) -> str:
    """A name for a description, short enough for people and long enough to be unique."""
    return hashlib.sha256(canonical(description).encode()).hexdigest()[:32]


def described(value: Any) -> Any:
    """A value as JSON: parts by their class and fields; those of the user's own with a hash of their source, too."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(data.tobytes()).hexdigest(), "shape": list(data.shape), "type": data.dtype.str}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): described(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: described(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"part": type(value).__name__, "source": _source(type(value))} | fields
    if inspect.isfunction(value) or inspect.isclass(value):
        return {"part": value.__qualname__, "source": _source(value)}
    raise InvalidInput(
        f"it cannot be told what {value!r} is made of, so its results could not be told from others: make it a frozen "
        "dataclass"
    )


def _source(thing: Any) -> str | None:
    """A hash of the source of what is the user's own; the library's is known by its version."""
    module = thing.__module__ or ""
    if module.split(".")[0] == "aapi":
        return None
    try:
        return hashlib.sha256(inspect.getsource(thing).encode()).hexdigest()[:16]
    except (OSError, TypeError):
        raise InvalidInput(
            f"the source of {thing.__qualname__} is not to be had, so its results could not be told from those of "
            "another version: put it into a file"
        ) from None
