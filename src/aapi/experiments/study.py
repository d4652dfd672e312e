"""A study: problems × algorithms × grids, what is tuned, and how often all is run. From Python, or from a TOML file."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least
from aapi.errors import AapiError, InvalidInput
from aapi.experiments.configuration import Configuration, Problem, configure, prepare
from aapi.names.algorithms import ALGORITHMS
from aapi.names.environments import check_ending
from aapi.names.problems import OTHERS, PROBLEMS, is_environment, is_file, unknown_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Cell", "Study", "log_spaced", "read_study"]

MOST_CANDIDATES = 100_000
# What [[problems]] may hold besides the sizes of a built-in one, and [[algorithms]] besides settings.
PROBLEM_KEYS = ("name", "steps", "features", "reward_scale", "settings", "settings_for", "model")
FOREIGN_KEYS = ("arguments", "ending", "limit")
ALGORITHM_KEYS = ("name", "label", "tune", "together", "make")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One line of the closing table: an algorithm on a problem, with the candidates among which tuning chooses.

    together: cells with the same word here choose the same candidate, the best on average over all of them.
    """

    study: str
    algorithm: str
    candidates: tuple[Configuration, ...]
    tuned: tuple[str, ...]
    together: str | None
    runs: int
    seed: int
    tuning_runs: int
    tuning_seed: int

    @property
    def problem(self) -> Problem:
        """The problem of all candidates."""
        return self.candidates[0].problem

    def plan(self) -> dict[str, Any]:
        """The cell as JSON, for whoever reads a store without the study."""
        return {
            "study": self.study,
            "problem": self.problem.label,
            "reward_scale": self.problem.reward_scale,
            "algorithm": self.algorithm,
            "candidates": [candidate.key for candidate in self.candidates],
            "tuned": self.tuned,
            "together": self.together,
            "runs": self.runs,
            "seed": self.seed,
            "tuning_runs": self.tuning_runs,
            "tuning_seed": self.tuning_seed,
        }


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every algorithm on every problem.

    problems: one mapping each. `name` is a built-in problem, a model file (.npz) or a Gymnasium id; its size is given
        in the words of the command (`size`, `states`, …). `steps`, `features`, `reward_scale` are for this problem;
        `settings` are for all algorithms on it, `settings_for` has more, by algorithm. For Gymnasium: `arguments`,
        `ending`, `limit`. In Python, `model` may be a FiniteMDP, and `name` any word.
    algorithms: one mapping each. `name` is an algorithm and all else its settings in the words of the command; or any
        word, if `make` is a function that makes the algorithm from the settings (in a file, "module:function").
        `label` names it in tables.
    A list, or {from, to, points} on a logarithmic scale, stands for each of its values: a grid. Settings named in
    `tune` are chosen on tuning runs, which no report uses; all others are crossed. `together` makes all problems share
    one choice.
    """

    name: str
    problems: Sequence[Mapping[str, Any]]
    algorithms: Sequence[Mapping[str, Any]]
    steps: int = 100_000
    runs: int = 20
    seed: int = 0
    tuning_runs: int = 5
    tuning_seed: int = 777
    source: str = field(default="study", compare=False)

    def cells(self) -> list[Cell]:
        """Everything there is to do; or one error that names the key that is wrong."""
        try:
            at_least(1, steps=self.steps, runs=self.runs, tuning_runs=self.tuning_runs)
            at_least(0, seed=self.seed, tuning_seed=self.tuning_seed)
        except InvalidInput as error:
            raise InvalidInput(f"{self.source}: {error}") from None
        if self.seed == self.tuning_seed:
            raise InvalidInput(
                f"{self.source}: tuning_seed must differ from seed, {self.seed}: tuning would be cheating"
            )
        for key in ("problems", "algorithms"):
            entries = getattr(self, key)
            if not isinstance(entries, list | tuple) or not entries or not all(isinstance(e, dict) for e in entries):
                raise InvalidInput(f"{self.source}: {key} must be one or more tables, [[{key}]]")
        return [
            cell
            for i, problem in enumerate(self.problems, 1)
            for made, steps, features, settings, own in self._problems(f"[[problems]] {i}", problem)
            for j, algorithm in enumerate(self.algorithms, 1)
            for cell in self._cells(f"[[algorithms]] {j}", algorithm, made, steps, features, settings, own)
        ]

    def _problems(self, where: str, entry: Mapping[str, Any]) -> Iterator[tuple[Problem, int, Any, Any, Any]]:
        """Each problem that an entry stands for, with what it says about runs and settings."""
        name = entry.get("name")
        if not isinstance(name, str):
            raise self._wrong(
                where, "name", f"must name a problem: {', '.join(PROBLEMS)}, a model file or a Gymnasium id"
            )
        model = entry.get("model")
        foreign = model is None and is_environment(name)
        if not (foreign or model is not None or name in PROBLEMS or is_file(name)):
            raise self._wrong(where, "name", f"is an {unknown_problem(name, OTHERS)}")
        sizes = () if model is not None else tuple(PROBLEMS.get(name, ()))
        allowed = (*PROBLEM_KEYS, *(FOREIGN_KEYS if foreign else sizes))
        self._check_keys(where, entry, allowed, f"{name} takes")
        for key in ("settings", "settings_for", "arguments"):
            if not isinstance(entry.get(key, {}), dict):
                raise self._wrong(where, key, "must be a table")
        for label in entry.get("settings_for", {}):
            if label not in [a.get("label", a.get("name")) for a in self.algorithms]:
                raise self._wrong(where, f"settings_for.{label}", "names no algorithm of this study")
        gridded = {key: entry[key] for key in (*sizes, "steps", "features", "reward_scale") if key in entry}
        for values in self._combinations(where, gridded):
            options: dict[str, Any] = {key: entry[key] for key in ("arguments", "limit") if key in entry}
            if "ending" in entry:
                options["ending"] = check_ending(entry["ending"], f"{self.source}: {where}: ending")
            scale = values.get("reward_scale", 1.0)
            if isinstance(scale, bool) or not isinstance(scale, int | float):
                raise self._wrong(where, "reward_scale", f"must be a number, not {scale!r}")
            made = {size: values[size] for size in sizes if size in values}
            steps = values.get("steps", self.steps)
            try:
                at_least(1, steps=steps)
                note = [str(values["features"])] if "features" in values else []
                note += [f"{steps} steps"] if len(_values(entry.get("steps"))) > 1 else []
                problem = Problem(name, made, reward_scale=float(scale), model=model, note=", ".join(note), **options)
                problem, features = prepare(problem, values.get("features"))
            except AapiError as error:
                raise InvalidInput(f"{self.source}: {where}: {error}") from None
            yield problem, steps, features, entry.get("settings", {}), entry.get("settings_for", {})

    def _cells(
        self, where: str, entry: Mapping[str, Any], problem: Problem, steps: int, features: Any,
        shared: Mapping[str, Any], own: Mapping[str, Mapping[str, Any]],
    ) -> Iterator[Cell]:  # fmt: skip
        """One for each combination of the settings that are not tuned."""
        name, make = entry.get("name"), self._maker(where, entry.get("make"))
        if not isinstance(name, str) or (make is None and name not in ALGORITHMS):
            raise self._wrong(where, "name", f"must be one of {', '.join(ALGORITHMS)}, not {name!r}")
        label = entry.get("label", name)
        takes = None if make else ("phase_length", *ALGORITHMS[name])
        if takes is not None:
            self._check_keys(where, entry, (*ALGORITHM_KEYS, *takes), f"{name} takes")
        settings = {key: value for key, value in shared.items() if takes is None or key in takes}
        settings |= {key: value for key, value in entry.items() if key not in ALGORITHM_KEYS}
        settings |= own.get(label, {})
        tuned = entry.get("tune", [])
        if not isinstance(tuned, list | tuple) or not all(key in settings for key in tuned):
            raise self._wrong(where, "tune", f"must list settings that have a value here, not {tuned!r}")
        fixed = {key: value for key, value in settings.items() if key not in tuned}
        for combination in self._combinations(where, fixed):
            varied = [key for key in fixed if len(_values(fixed[key])) > 1]
            more = "".join(f", {key} {combination[key]}" for key in varied)
            candidates = tuple(
                self._configured(where, problem, name, combination | choice, steps, features, make)
                for choice in self._combinations(where, {key: settings[key] for key in tuned})
            )
            yield Cell(
                study=self.name, algorithm=f"{label}{more}", candidates=candidates, tuned=tuple(tuned),
                together=f"{self.name}: {label}{more}" if entry.get("together") and tuned else None,
                runs=self.runs, seed=self.seed, tuning_runs=self.tuning_runs, tuning_seed=self.tuning_seed,
            )  # fmt: skip

    def _configured(self, where: str, problem: Problem, name: str, *rest: Any) -> Configuration:
        try:
            return configure(problem, name, *rest)
        except AapiError as error:
            raise InvalidInput(f"{self.source}: {where}, {name} on {problem.label}: {error}") from None

    def _combinations(self, where: str, entries: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Each combination of the values of grids."""
        grids = []
        for key, value in entries.items():
            try:
                grids.append(_values(value))
                if not grids[-1]:
                    raise InvalidInput("is a grid without values")
            except AapiError as error:
                raise self._wrong(where, key, str(error)) from None
        if np.prod([len(grid) for grid in grids], dtype=float) > MOST_CANDIDATES:
            raise InvalidInput(
                f"{self.source}: {where} has more than {MOST_CANDIDATES} combinations: make grids smaller"
            )
        return (dict(zip(entries, values, strict=True)) for values in itertools.product(*grids))

    def _maker(self, where: str, make: Any) -> Callable[..., Any] | None:
        """The function that makes the algorithm; a file names one as module:function."""
        if make is None:
            return None
        found: Callable[..., Any]
        if callable(make):
            found = make
            return found
        module, _, function = str(make).partition(":")
        beside = os.fspath(Path(self.source).resolve().parent)
        if beside not in sys.path:
            sys.path.insert(0, beside)  # modules beside the file are found, here and in new processes
        try:
            found = getattr(importlib.import_module(module), function)
        except Exception as error:  # noqa: BLE001 - whatever importing a module may raise
            told = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise self._wrong(
                where, "make", f"must be module:function, and {make!r} is not to be had: {told}"
            ) from None
        return found

    def _check_keys(self, where: str, entry: Mapping[str, Any], allowed: Sequence[str], takes: str) -> None:
        for key in entry.keys() - set(allowed):
            raise self._wrong(where, key, f"is not known: {takes} {', '.join(allowed)}")

    def _wrong(self, where: str, key: str, what: str) -> InvalidInput:
        return InvalidInput(f"{self.source}: {where}: {key} {what}")


def read_study(path: str | os.PathLike[str]) -> Study:
    """A study from a TOML file, whose keys are the arguments of `Study`."""
    source = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            entries = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{source} is not TOML: {error}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{source} is not a text in UTF-8, so it is no study") from None
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror}") from None
    allowed = [entry.name for entry in fields(Study) if entry.name != "source"]
    for key in entries.keys() - set(allowed):
        raise InvalidInput(f"{source}: {key} is not known: a study takes {', '.join(allowed)}")
    for key in ("problems", "algorithms"):
        if key not in entries:
            raise InvalidInput(f"{source}: {key} must be one or more tables, [[{key}]]")
    return Study(**{"name": Path(path).stem} | entries, source=source)


def log_spaced(low: float, high: float, points: int) -> list[float]:
    """Numbers on a logarithmic scale, rounded to three digits, both ends included."""
    if not 0.0 < low < high or points < 2:
        raise InvalidInput(f"needs 0 < from < to and points ≥ 2, not from {low}, to {high}, points {points}")
    return [float(f"{value:.3g}") for value in np.geomspace(low, high, points)]


def _values(value: Any) -> list[Any]:
    """What a setting stands for: a list is a grid."""
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        if value.keys() != {"from", "to", "points"} or not all(isinstance(v, int | float) for v in value.values()):
            raise InvalidInput(f"must be a value, a list, or {{from, to, points}}, not {value!r}")
        return log_spaced(value["from"], value["to"], int(value["points"]))
    return [value]
