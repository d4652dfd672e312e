"""The tables of a study, [[problems]] and [[algorithms]], checked key by key before anything is made of them."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import AapiError, InvalidInput
from aapi.names.algorithms import ALGORITHMS
from aapi.names.environments import check_ending
from aapi.names.problems import OTHERS, PROBLEMS, is_environment, is_file, make_problem, unknown_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = [
    "MOST_COMBINATIONS",
    "AlgorithmEntry",
    "ProblemEntry",
    "combinations",
    "grid",
    "log_spaced",
    "read_algorithm",
    "read_problem",
]

# What a table may hold besides the sizes of a built-in problem, or the settings of an algorithm; and of which type.
PROBLEM_KEYS: dict[str, Any] = {
    "name": str, "label": str, "steps": object, "features": object, "reward_scale": object, "settings": dict,
    "settings_for": dict, "model": object,
}  # fmt: skip
FOREIGN_KEYS: dict[str, Any] = {"arguments": dict, "ending": object, "limit": int}
ALGORITHM_KEYS: dict[str, Any] = {"name": str, "label": str, "tune": (list, tuple), "together": bool, "make": object}
WORDS = {str: "a text", dict: "a table", bool: "true or false", int: "a whole number", (list, tuple): "a list"}
MOST_POINTS = 10_000
MOST_COMBINATIONS = 20_000


@dataclass(frozen=True)
class ProblemEntry:
    """One of [[problems]]. varied: what may be a grid: sizes, steps, features, reward_scale."""

    name: str
    label: str
    model: Any
    sizes: tuple[str, ...]
    varied: dict[str, Any]
    options: dict[str, Any]
    settings: dict[str, Any]
    settings_for: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class AlgorithmEntry:
    """One of [[algorithms]]. takes: the names of all settings it knows; None if that is not known."""

    name: str
    label: str
    settings: dict[str, Any]
    tune: tuple[str, ...]
    together: bool
    make: Callable[..., Any] | None
    takes: tuple[str, ...] | None


def read_problem(entry: Mapping[str, Any], folder: Path) -> ProblemEntry:
    """Check an entry. Model files are looked for in `folder` first."""
    name, model = entry.get("name"), entry.get("model")
    if not isinstance(name, str):
        raise InvalidInput(f"name must name a problem: {', '.join(PROBLEMS)}, a model file or a Gymnasium id")
    if model is None and name not in PROBLEMS:
        path = folder / name if (folder / name).is_file() else Path(name)
        if name.endswith(".npz") or path.is_file():
            model = make_problem(str(path), {})
    foreign = model is None and is_environment(name)
    if not (foreign or model is not None or name in PROBLEMS or is_file(name)):
        raise InvalidInput(f"name is an {unknown_problem(name, OTHERS)}")
    sizes = () if model is not None else tuple(PROBLEMS.get(name, ()))
    _check(entry, PROBLEM_KEYS | (FOREIGN_KEYS if foreign else dict.fromkeys(sizes, object)), f"{name} takes")
    options = {key: entry[key] for key in ("arguments", "limit") if key in entry}
    if "ending" in entry:
        options["ending"] = check_ending(entry["ending"], "ending")
    for label, settings in entry.get("settings_for", {}).items():
        if not isinstance(settings, dict):
            raise InvalidInput(f"settings_for.{label} must be a table, not {settings!r}")
    return ProblemEntry(
        name=name,
        label=_label(entry.get("label", "")),
        model=model,
        sizes=sizes,
        varied={key: entry[key] for key in (*sizes, "steps", "features", "reward_scale") if key in entry},
        options=options,
        settings=entry.get("settings", {}),
        settings_for=entry.get("settings_for", {}),
    )


def read_algorithm(entry: Mapping[str, Any]) -> AlgorithmEntry:
    """Check an entry."""
    name, make = entry.get("name"), _maker(entry.get("make"))
    if not isinstance(name, str) or (make is None and name not in ALGORITHMS):
        raise InvalidInput(f"name must be one of {', '.join(ALGORITHMS)}, not {name!r}")
    takes = _parameters(make) if make else ("phase_length", *ALGORITHMS[name])
    known = ALGORITHM_KEYS | dict.fromkeys(takes if takes is not None else entry, object)
    _check(entry, known | ALGORITHM_KEYS, f"{name} takes")
    tune = tuple(entry.get("tune", ()))
    if not all(isinstance(key, str) for key in tune):
        raise InvalidInput(f"tune must list names of settings, not {list(tune)!r}")
    return AlgorithmEntry(
        name=name,
        label=_label(entry.get("label", name)) or name,
        settings={key: value for key, value in entry.items() if key not in ALGORITHM_KEYS},
        tune=tune,
        together=entry.get("together", False),
        make=make,
        takes=takes,
    )


def _label(given: str) -> str:
    """A label in one line; or an error, if it holds what no table can show."""
    label = " ".join(given.split())
    if not label.isprintable():
        raise InvalidInput(f"label must be a text that can be printed, not {given!r}")
    return label


def _check(entry: Mapping[str, Any], known: Mapping[str, Any], takes: str) -> None:
    for key, value in entry.items():
        if key not in known:
            raise InvalidInput(f"{key} is not known: {takes} {', '.join(known)}")
        if not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            raise InvalidInput(f"{key} must be {WORDS[known[key]]}, not {value!r}")


def _maker(make: Any) -> Callable[..., Any] | None:
    """The function that makes an algorithm; a file names one as module:function."""
    found: Callable[..., Any]
    if make is None:
        return None
    if callable(make):
        found = make
        return found
    module, _, function = str(make).partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InvalidInput(f"make must be module:function, and {make!r} is not to be had: {told}") from error
    return found


def _parameters(make: Callable[..., Any]) -> tuple[str, ...] | None:
    """The names of a function's arguments; None if it takes any, or does not say."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def combinations(entries: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each combination of the values of grids."""
    grids = [grid(key, value) for key, value in entries.items()]
    if math.prod(map(len, grids)) > MOST_COMBINATIONS:
        raise InvalidInput(f"{', '.join(entries)} have more than {MOST_COMBINATIONS} combinations: make grids smaller")
    return (dict(zip(entries, values, strict=True)) for values in itertools.product(*grids))


def grid(key: str, value: Any) -> list[Any]:
    """What a setting stands for: a list for each of its values, {from, to, points} for a range."""
    try:
        if isinstance(value, dict):
            if value.keys() != {"from", "to", "points"}:
                raise InvalidInput(f"must be a value, a list, or {{from, to, points}}, not {value!r}")
            return log_spaced(value["from"], value["to"], value["points"])
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not values:
            raise InvalidInput("is a grid without values")
        if wrong := [each for each in values if isinstance(each, float) and not math.isfinite(each)]:
            raise InvalidInput(f"must be a finite number, not {wrong[0]}")
    except AapiError as error:
        raise InvalidInput(f"{key} {error}") from None
    return values


def log_spaced(low: float, high: float, points: int) -> list[float]:
    """Numbers on a logarithmic scale, both ends included, rounded to three digits."""
    numbers: Sequence[Any] = (low, high, points)
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        raise InvalidInput(f"needs numbers, not from {low!r}, to {high!r}, points {points!r}")
    if not 0.0 < low < high < math.inf or points not in range(2, MOST_POINTS + 1):
        raise InvalidInput(
            f"needs 0 < from < to and a whole number of points from 2 to {MOST_POINTS}, not from {low}, to {high}, "
            f"points {points}"
        )
    return [float(f"{value:.3g}") for value in np.geomspace(low, high, int(points))]
