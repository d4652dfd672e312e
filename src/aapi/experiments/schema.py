"""The schema of a study: its tables [[problems]] and [[algorithms]], checked key by key before anything is made."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import operator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.errors import AapiError, InvalidInput
from aapi.experiments.configuration import Model, Problem
from aapi.registry.algorithms import ALGORITHMS, OLD_WORDS
from aapi.registry.algorithms import takes as settings_of
from aapi.registry.gymnasium_ids import check_ending
from aapi.registry.problems import OTHERS, PROBLEMS, is_environment, is_file, make_problem, unknown_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aapi.experiments.configuration import MakeAlgorithm

# What a table may hold besides the sizes of a built-in problem, or the settings of an algorithm; and of which type.
PROBLEM_KEYS: dict[str, type] = {
    "name": str, "label": str, "steps": object, "features": object, "reward_scale": object, "settings": dict,
    "settings_for": dict, "model": object,
}  # fmt: skip
GYMNASIUM_KEYS: dict[str, type] = {"arguments": dict, "ending": object, "limit": int}
ALGORITHM_KEYS: dict[str, type] = {"name": str, "label": str, "tune": list, "together": bool, "make": object}
TYPE_NAMES = {str: "a text", dict: "a table", bool: "true or false", int: "a whole number", list: "a list"}
VARIED = ("steps", "features", "reward_scale")  # what may be a grid, besides sizes
MOST_POINTS = 10_000
MOST_COMBINATIONS = 20_000


@dataclass(frozen=True)
class ProblemSpec:
    """One of [[problems]]. problem: without what may be a grid; grids: its sizes, steps, features and reward_scale."""

    problem: Problem
    grids: dict[str, object]
    settings: dict[str, object]
    settings_for: dict[str, dict[str, object]]


@dataclass(frozen=True)
class AlgorithmSpec:
    """One of [[algorithms]]. takes: the names of all settings it knows; None if that is not known.

    shared_tuning: whether all problems share one choice of the tuned settings; the key `together` of study files.
    """

    name: str
    label: str
    settings: dict[str, object]
    tune: tuple[str, ...]
    shared_tuning: bool
    make: MakeAlgorithm | None
    takes: tuple[str, ...] | None


def read_problem(table: Mapping[str, object], folder: Path) -> ProblemSpec:
    """Check a table. Model files are looked for in `folder` first."""
    name, model = table.get("name"), cast("Model | None", table.get("model"))
    if not isinstance(name, str):
        raise InvalidInput(f"name must name a problem: {', '.join(PROBLEMS)}, a model file or a Gymnasium id")
    if model is None and name not in PROBLEMS:
        path = folder / name if (folder / name).is_file() else Path(name)
        if is_file(str(path)):
            model = make_problem(str(path), {})
        elif not is_environment(name):
            raise InvalidInput(f"name is an {unknown_problem(name, OTHERS)}")
    sizes = PROBLEMS.get(name, {}) if model is None else {}
    gymnasium = model is None and name not in PROBLEMS
    _check_keys(table, PROBLEM_KEYS | (GYMNASIUM_KEYS if gymnasium else dict.fromkeys(sizes, object)), name)
    settings_for = cast("dict[str, dict[str, object]]", table.get("settings_for", {}))
    for label, settings in settings_for.items():
        if not isinstance(settings, dict):
            raise InvalidInput(f"settings_for.{label} must be a table, not {settings!r}")
    problem = Problem(
        name, arguments=cast("dict[str, object]", table.get("arguments", {})),
        ending=check_ending(table["ending"], "ending") if "ending" in table else None,
        limit=cast("int | None", table.get("limit")), model=model, note=_read_label(table),
    )  # fmt: skip
    grids = {key: table[key] for key in (*sizes, *VARIED) if key in table}
    return ProblemSpec(problem, grids, cast("dict[str, object]", table.get("settings", {})), settings_for)


def read_algorithm(table: Mapping[str, object]) -> AlgorithmSpec:
    """Check a table."""
    name, make = table.get("name"), _read_make(table.get("make"))
    if not isinstance(name, str) or (make is None and name not in ALGORITHMS):
        now = f": that is now {OLD_WORDS[name]}" if isinstance(name, str) and name in OLD_WORDS else ""
        raise InvalidInput(f"name must be one of {', '.join(ALGORITHMS)}, not {name!r}{now}")
    takes = _parameters(make) if make else settings_of(name)
    known = ALGORITHM_KEYS | dict.fromkeys(takes if takes is not None else table, object)
    _check_keys(table, known | ALGORITHM_KEYS, name)
    tune = tuple(cast("list[str]", table.get("tune", ())))
    if not all(isinstance(key, str) for key in tune):
        raise InvalidInput(f"tune must list names of settings, not {list(tune)!r}")
    settings = {key: value for key, value in table.items() if key not in ALGORITHM_KEYS}
    if make is None:
        takes = settings_of(name, evaluation="evaluation" in table)  # what settings of a problem are for
    shared = bool(table.get("together", False))
    return AlgorithmSpec(name, _read_label(table) or name, settings, tune, shared, make, takes)


def _read_label(table: Mapping[str, object]) -> str:
    """A label in one line; empty, if there is none."""
    label = " ".join(str(table.get("label", "")).split())
    check_printable(label=label)
    return label


def check_printable(**texts: str) -> None:
    """Raise unless every value is a text that a table can show."""
    for name, text in texts.items():
        if not isinstance(text, str) or not text.isprintable():
            what = " that can be printed" if isinstance(text, str) else ""
            raise InvalidInput(f"{name} must be a text{what}, not {text!r}")


def _check_keys(table: Mapping[str, object], known: Mapping[str, type], name: str) -> None:
    for key, value in table.items():
        if key not in known:
            raise InvalidInput(f"{key} is not known: {name} takes {', '.join(known)}")
        given = list(value) if known[key] is list and isinstance(value, tuple) else value
        if not isinstance(given, known[key]) or (known[key] is int and isinstance(value, bool)):
            raise InvalidInput(f"{key} must be {TYPE_NAMES[known[key]]}, not {value!r}")


def _read_make(make: object) -> MakeAlgorithm | None:
    """The function that makes an algorithm; a file names one as module:function."""
    if make is None or callable(make):
        return make
    module, _, function = str(make).partition(":")
    try:
        return cast("MakeAlgorithm", operator.attrgetter(function)(importlib.import_module(module)))
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InvalidInput(f"make must be module:function, and {make!r} cannot be imported: {reason}") from error


def _parameters(make: Callable[..., object]) -> tuple[str, ...] | None:
    """The names of a function's arguments; None if it takes any, or does not say."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def combinations(grids: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Each combination of the values of grids."""
    expanded = [expand_grid(key, value) for key, value in grids.items()]
    if math.prod(map(len, expanded)) > MOST_COMBINATIONS:
        raise InvalidInput(f"{', '.join(grids)} have more than {MOST_COMBINATIONS} combinations: make grids smaller")
    return (dict(zip(grids, values, strict=True)) for values in itertools.product(*expanded))


def expand_grid(key: str, value: object) -> list[object]:
    """The values that a setting stands for: a list for each of its own, {from, to, points} for a range."""
    try:
        if isinstance(value, dict):
            if value.keys() != {"from", "to", "points"}:
                raise InvalidInput(f"must be a value, a list, or {{from, to, points}}, not {value!r}")
            return [*log_spaced(value["from"], value["to"], value["points"])]
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
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in (low, high, points)):
        raise InvalidInput(f"needs numbers, not from {low!r}, to {high!r}, points {points!r}")
    if not 0.0 < low < high < math.inf or points not in range(2, MOST_POINTS + 1):
        raise InvalidInput(
            f"needs 0 < from < to and a whole number of points from 2 to {MOST_POINTS}, not from {low}, to {high}, "
            f"points {points}"
        )
    return [float(f"{value:.3g}") for value in np.geomspace(low, high, int(points))]
