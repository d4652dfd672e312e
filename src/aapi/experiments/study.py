"""A study: problems × algorithms × grids, what is tuned, and how often all is run. From Python, or from a TOML file."""

from __future__ import annotations

import functools
import os
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aapi.checks import at_least, finite
from aapi.errors import AapiError, InvalidInput
from aapi.experiments.configuration import Configuration, Problem, configure, prepare
from aapi.experiments.entries import (
    MOST_COMBINATIONS,
    AlgorithmEntry,
    ProblemEntry,
    combinations,
    grid,
    read_algorithm,
    read_problem,
)
from aapi.experiments.plan import Plan
from aapi.experiments.work import expected_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Cell", "Study", "read_study"]

LARGEST_SEED = 2**63 - 1  # that SQLite can hold


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One line of the closing table: an algorithm on a problem, with the candidates among which tuning chooses.

    choices: the values of the tuned settings, for each candidate.
    together: cells with the same word here choose the same candidate, the best on average over all of them.
    """

    study: str
    algorithm: str
    candidates: tuple[Configuration, ...]
    choices: tuple[dict[str, Any], ...]
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

    @functools.cached_property
    def plan(self) -> Plan:
        """The cell in words and keys, for whoever reads a store without the study."""
        first = self.candidates[0]
        random, best = self.problem.references()
        return Plan(
            study=self.study, problem=self.problem.label, reward_scale=self.problem.reward_scale,
            algorithm=self.algorithm, steps=first.steps,
            settings={name: value for name, value in first.settings.items() if name not in self.tuned},
            features=None if first.features is None else str(first.features),
            candidates=tuple(candidate.key for candidate in self.candidates), choices=self.choices, tuned=self.tuned,
            together=self.together, runs=self.runs, seed=self.seed, tuning_runs=self.tuning_runs,
            tuning_seed=self.tuning_seed, random_gain=random, optimal_gain=best, seconds=expected_seconds(first),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every algorithm on every problem.

    problems: one mapping each. `name` is a built-in problem, a model file (.npz) or a Gymnasium id; its size is given
        in the words of the command (`size`, `states`, …). `steps`, `features`, `reward_scale` are for this problem;
        `settings` are for all algorithms on it, `settings_for` has more, by algorithm. For Gymnasium: `arguments`,
        `ending`, `limit`. In Python, `model` may be a FiniteMDP, and `name` any word. `label` tells it from others.
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
        with self._at("study"):
            self._check()
        folder = Path(self.source).parent
        algorithms = []
        for j, entry in enumerate(self.algorithms, 1):
            with self._at(f"[[algorithms]] {j}"):
                algorithms.append(read_algorithm(entry))
        cells: list[Cell] = []
        for i, entry in enumerate(self.problems, 1):
            with self._at(f"[[problems]] {i}"):
                read = read_problem(entry, folder)
                _check_settings(read, algorithms)
                problems = [self._problem(read, values) for values in combinations(read.varied)]
            for problem, steps, features in problems:
                for j, algorithm in enumerate(algorithms, 1):
                    with self._at(f"[[algorithms]] {j}, {algorithm.name} on {problem.label}"):
                        cells.extend(self._cells(read, algorithm, problem, steps, features))
                    if sum(len(cell.candidates) for cell in cells) > MOST_COMBINATIONS:
                        raise InvalidInput(
                            f"{self.source}: more than {MOST_COMBINATIONS} combinations: make grids smaller"
                        )
        self._check_names(cells)
        return cells

    def _check(self) -> None:
        if not isinstance(self.name, str):
            raise InvalidInput(f"name must be a text, not {self.name!r}")
        if not self.name.isprintable():
            raise InvalidInput(f"name must be a text that can be printed, not {self.name!r}")
        at_least(1, steps=self.steps, runs=self.runs, tuning_runs=self.tuning_runs)
        at_least(0, seed=self.seed, tuning_seed=self.tuning_seed)
        if max(self.seed, self.tuning_seed) > LARGEST_SEED:
            raise InvalidInput(f"seed and tuning_seed must be at most {LARGEST_SEED}")
        if self.seed == self.tuning_seed:
            raise InvalidInput(f"tuning_seed must differ from seed, {self.seed}: tuning would be cheating")
        for key in ("problems", "algorithms"):
            entries = getattr(self, key)
            if not isinstance(entries, list | tuple) or not entries or not all(isinstance(e, dict) for e in entries):
                raise InvalidInput(f"{key} must be one or more tables, [[{key}]]")

    def _problem(self, entry: ProblemEntry, values: dict[str, Any]) -> tuple[Problem, int, Any]:
        """One of the problems that an entry stands for, with its steps and features."""
        steps, scale = values.get("steps", self.steps), values.get("reward_scale", 1.0)
        at_least(1, steps=steps)
        finite(0.0, strictly=True, reward_scale=scale)
        note = [entry.label] if entry.label else []
        note += [str(values["features"])] if "features" in values else []
        note += [f"{steps} step{'s' if steps > 1 else ''}"] if len(grid("steps", entry.varied.get("steps"))) > 1 else []
        sizes = {size: values[size] for size in entry.sizes if size in values}
        problem = Problem(
            entry.name, sizes, reward_scale=float(scale), model=entry.model, note=", ".join(note), **entry.options
        )
        problem, features = prepare(problem, values.get("features"))
        return problem, steps, features

    def _cells(
        self, entry: ProblemEntry, algorithm: AlgorithmEntry, problem: Problem, steps: int, features: Any
    ) -> Iterator[Cell]:
        """One for each combination of the settings that are not tuned."""
        takes, tuned = algorithm.takes, algorithm.tune
        settings = {key: value for key, value in entry.settings.items() if takes is None or key in takes}
        settings |= algorithm.settings | entry.settings_for.get(algorithm.label, {})
        if missing := [key for key in tuned if key not in settings]:
            raise InvalidInput(f"tune must list settings that have a value here, not {missing[0]!r}")
        fixed = {key: value for key, value in settings.items() if key not in tuned}
        varied = [key for key, value in fixed.items() if len(grid(key, value)) > 1]
        for combination in combinations(fixed):
            more = "".join(f", {key} {combination[key]}" for key in varied)
            choices = tuple(combinations({key: settings[key] for key in tuned}))
            yield Cell(
                study=self.name, algorithm=f"{algorithm.label}{more}", choices=choices, tuned=tuned,
                candidates=tuple(
                    configure(problem, algorithm.name, combination | choice, steps, features, algorithm.make)
                    for choice in choices
                ),
                together=f"{self.name}: {algorithm.label}{more}" if algorithm.together and tuned else None,
                runs=self.runs, seed=self.seed, tuning_runs=self.tuning_runs, tuning_seed=self.tuning_seed,
            )  # fmt: skip

    def _check_names(self, cells: Sequence[Cell]) -> None:
        """Lines of a table must be told apart by what they are called."""
        seen: set[tuple[str, float, str]] = set()
        for cell in cells:
            called = (cell.problem.label, cell.problem.reward_scale, cell.algorithm)
            if called in seen:
                raise InvalidInput(
                    f"{self.source}: two entries are {cell.algorithm} on {cell.problem.label}: give one a label"
                )
            seen.add(called)

    @contextmanager
    def _at(self, where: str) -> Iterator[None]:
        """Errors in here say where in the study they are."""
        try:
            yield
        except AapiError as error:
            place = self.source if where == "study" else f"{self.source}: {where}"
            raise InvalidInput(f"{place}: {error}") from error


def _check_settings(problem: ProblemEntry, algorithms: Sequence[AlgorithmEntry]) -> None:
    """Settings that nobody takes, and settings for nobody, are slips of the pen."""
    for label in problem.settings_for:
        if label not in [algorithm.label for algorithm in algorithms]:
            raise InvalidInput(f"settings_for.{label} names no algorithm of this study")
    known = [algorithm.takes for algorithm in algorithms]
    for key in problem.settings:
        if all(takes is not None and key not in takes for takes in known):
            raise InvalidInput(f"settings.{key} is taken by no algorithm of this study")


def read_study(path: str | os.PathLike[str]) -> Study:
    """A study from a TOML file, whose keys are the arguments of `Study`. Modules beside the file can be imported."""
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
    beside = os.fspath(Path(path).resolve().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)  # here, and so in new processes
    return Study(**{"name": Path(path).stem} | entries, source=source)
