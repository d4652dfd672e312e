"""What an object is made of, as JSON: equal descriptions mean equal computations."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import aapi
from aapi.errors import InvalidInput

__all__ = ["canonical", "described", "digest", "source_hash", "source_version"]

# Packages of the library that cannot change a run; and of the Python world, those that are known by their versions.
ASIDE = ("cli", "experiments", "names", "report", "statistics.py", "theory")
KNOWN = {"aapi", "builtins", "gymnasium", "numpy"} | set(sys.stdlib_module_names) - {"__main__"}


@functools.cache
def source_version() -> str:
    """A hash of all sources of the library that determine a run: equal versions compute equal bits."""
    package = Path(aapi.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        inner = path.relative_to(package)
        if inner.parts[0] not in ASIDE or inner.name == "work.py":
            digest.update(inner.as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def canonical(description: Any) -> str:
    """JSON with one form for each value."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(description: Any) -> str:
    """A name for a description, short enough for people and long enough to be unique."""
    return hashlib.sha256(canonical(description).encode()).hexdigest()[:32]


def described(value: Any) -> Any:
    """A value as JSON: parts by their class and fields; those of the user's own with a hash of their modules, too."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value  # 1 and 1.0 are one setting
    if isinstance(value, np.generic):
        return described(value.item())
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(data.tobytes()).hexdigest(), "shape": list(data.shape), "type": data.dtype.str}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else repr(name): described(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: described(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"part": type(value).__qualname__, "source": source_hash(type(value)), "fields": fields}
    if hasattr(value, "py_func"):  # compiled
        return described(value.py_func)
    if inspect.isclass(value):
        return {"part": value.__qualname__, "source": source_hash(value)}
    if inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        bound = described([value.__defaults__, value.__kwdefaults__, cells])
        return {"part": value.__qualname__, "source": source_hash(value), "bound": bound}
    raise InvalidInput(
        f"it cannot be told what {value!r} is made of, so its results could not be told from others: make it a frozen "
        "dataclass"
    )


def source_hash(thing: Any) -> str | None:
    """A hash of the modules that a class, its bases or a function are from; None if all are known by their versions.

    A module as a whole: its helpers and constants count. What it imports from other modules of the user's does not.
    """
    modules = [base.__module__ for base in inspect.getmro(thing)] if inspect.isclass(thing) else [thing.__module__]
    own = [name for name in dict.fromkeys(modules) if name.partition(".")[0] not in KNOWN]
    if not own:
        return None
    try:
        return hashlib.sha256("\0".join(inspect.getsource(sys.modules[name]) for name in own).encode()).hexdigest()[:16]
    except (OSError, TypeError, KeyError):
        raise InvalidInput(
            f"the source of {thing.__qualname__} is not to be had, so its results could not be told from those of "
            "another version: put it into a file"
        ) from None
