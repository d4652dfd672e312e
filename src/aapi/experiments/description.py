"""What an object is made of, as JSON: equal descriptions mean equal computations."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import InvalidInput
from aapi.experiments.sources import PACKAGE, module_hash

if TYPE_CHECKING:
    from types import FunctionType

    from aapi.json_types import Json, JsonObject


def digest(description: Json) -> str:
    """A name for a description: 128 bits of its SHA-256, in hexadecimal."""
    canonical = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def describe(value: object) -> Json:
    """A value as JSON. Parts are given by class, module and fields; the user's own by a hash of their modules."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value  # 1 and 1.0 are one setting
    if isinstance(value, np.generic):
        return describe(value.item())
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(data.tobytes()).hexdigest(), "shape": list(data.shape), "type": data.dtype.str}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else repr(name): describe(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: describe(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return _origin(type(value)) | {"fields": fields}
    if isinstance(value, type):
        return _origin(value)
    function = getattr(value, "py_func", value)  # what a kernel was compiled from
    if inspect.isfunction(function):
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        return _origin(function) | {"bound": describe([function.__defaults__, function.__kwdefaults__, cells])}
    raise InvalidInput(
        f"{value!r} cannot be described, so its results could not be told from those of others: make it a frozen "
        "dataclass"
    )


def _origin(thing: type | FunctionType) -> JsonObject:
    """A class or function by its name and its module, or, if it is the user's own, a hash of its modules."""
    source = module_hash(thing)
    return {"part": thing.__qualname__, "module": thing.__module__ if source is None else None, "source": source}


def modules_in(description: Json) -> Iterator[str]:
    """The modules of the library that a described object is made of.

    A part of the user's own may use all of the library: the whole package is named for it.
    """
    if isinstance(description, Mapping):
        module = description.get("module")
        if isinstance(module, str) and module.partition(".")[0] == PACKAGE:
            yield module
        if description.get("source") is not None:
            yield PACKAGE
    if isinstance(description, Mapping | Sequence) and not isinstance(description, str):
        for item in description.values() if isinstance(description, Mapping) else description:
            yield from modules_in(item)
