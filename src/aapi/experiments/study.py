"""A study: problems × algorithms × grids, what is tuned, and how often all is run. From Python, or from a TOML file."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import tomllib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from aapi.checks import at_least
from aapi.errors import AapiError, InvalidInput
from aapi.experiments import schema
from aapi.experiments.configuration import Configuration, FeatureMap, configure, prepare
from aapi.experiments.plan import Plan
from aapi.registry.algorithms import describe_learner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aapi.experiments.configuration import Problem
    from aapi.experiments.schema import AlgorithmSpec, ProblemSpec
    from aapi.registry.problems import Size

LARGEST_SEED = 2**63 - 1  # that SQLite can hold


@dataclass(frozen=True, eq=False)
class Cell:
    """One line of the closing table: an algorithm on a problem, with the candidates among which tuning chooses.

    choices: the values of the tuned settings, for each candidate. shared_tuning: as in `Plan`.
    """

    study: Study
    algorithm: str
    tuned: tuple[str, ...]
    choices: tuple[dict[str, object], ...]
    candidates: tuple[Configuration, ...]
    shared_tuning: str | None

    @property
    def problem(self) -> Problem:
        """The problem of all candidates."""
        return self.candidates[0].problem

    @functools.cached_property
    def plan(self) -> Plan:
        """The cell as names, numbers and keys, for readers of a store who do not have the study."""
        study, first, (random, best) = self.study, self.candidates[0], self.problem.references()
        return Plan(
            study=study.name, problem=self.problem.label, reward_scale=self.problem.reward_scale, steps=first.steps,
            algorithm=self.algorithm, parts=describe_learner(first.algorithm),
            settings={name: value for name, value in first.settings.items() if name not in self.tuned},
            features=None if first.features is None else str(first.features),
            tuned=self.tuned, choices=self.choices, shared_tuning=self.shared_tuning,
            candidates=tuple(candidate.key for candidate in self.candidates),
            runs=study.runs, seed=study.seed, tuning_runs=study.tuning_runs, tuning_seed=study.tuning_seed,
            random_gain=random, optimal_gain=best, seconds=first.expected_seconds,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Study:
    """Every algorithm on every problem.

    problems: one mapping each. `name` is a built-in problem, a model file (.npz, .npy, .csv) or a Gymnasium id; its
        sizes are named as in the command (`size`, `states`, …). `steps`, `features`, `reward_scale` are for this
        problem; `settings` are for all algorithms on it, `settings_for` has more, by algorithm. For Gymnasium:
        `arguments`, `ending`, `limit`. In Python, `model` may be a FiniteMDP, and `name` any word. `label` tells it
        from others.
    algorithms: one mapping each. `name` is an algorithm and all else its settings, named as in the command; or any
        word, if `make` is a function that makes the algorithm from the settings (in a file, "module:function").
        `label` names it in tables.
    A list, or {from, to, points} on a logarithmic scale, stands for each of its values: a grid. Settings named in
    `tune` are chosen on tuning runs, which no report uses; all others are crossed. `together` makes all problems share
    one choice.
    diagnostics: whether learner traces and regret decompositions are made when all runs are there.
    """

    name: str
    problems: Sequence[Mapping[str, object]]
    algorithms: Sequence[Mapping[str, object]]
    steps: int = 100_000
    runs: int = 20
    seed: int = 0
    tuning_runs: int = 5
    tuning_seed: int = 777
    diagnostics: bool = True
    source: str = field(default="study", compare=False)

    def cells(self) -> list[Cell]:
        """Every line of the closing table; or one error that names the key that is wrong."""
        with self._at("study"):
            self._check()
        algorithms = []
        for j, table in enumerate(self.algorithms, 1):
            with self._at(f"[[algorithms]] {j}"):
                algorithms.append(schema.read_algorithm(table))
        cells: list[Cell] = []
        for i, table in enumerate(self.problems, 1):
            with self._at(f"[[problems]] {i}"):
                spec = schema.read_problem(table, Path(self.source).parent)
                _check_settings(spec, algorithms)
                problems = [self._problem(spec, values) for values in schema.combinations(spec.grids)]
            for problem, (j, algorithm) in itertools.product(problems, enumerate(algorithms, 1)):
                with self._at(f"[[algorithms]] {j}, {algorithm.name} on {problem[0].label}"):
                    cells.extend(self._cells(spec, algorithm, *problem))
                if sum(len(cell.candidates) for cell in cells) > (most := schema.MOST_COMBINATIONS):
                    raise InvalidInput(f"{self.source}: more than {most} combinations: make grids smaller")
        self._check_names(cells)
        return cells

    def _check(self) -> None:
        schema.check_printable(name=self.name)
        at_least(1, steps=self.steps, runs=self.runs, tuning_runs=self.tuning_runs)
        at_least(0, seed=self.seed, tuning_seed=self.tuning_seed)
        if max(self.seed, self.tuning_seed) > LARGEST_SEED:
            raise InvalidInput(f"seed and tuning_seed must be at most {LARGEST_SEED}")
        if not isinstance(self.diagnostics, bool):
            raise InvalidInput(f"diagnostics must be true or false, not {self.diagnostics!r}")
        if self.seed == self.tuning_seed:
            raise InvalidInput(f"tuning_seed must differ from seed, {self.seed}: tuning would be cheating")
        for key, tables in (("problems", self.problems), ("algorithms", self.algorithms)):
            if not isinstance(tables, list | tuple) or not tables or not all(isinstance(t, dict) for t in tables):
                raise InvalidInput(f"{key} must be one or more tables, [[{key}]]")

    def _problem(self, spec: ProblemSpec, values: dict[str, object]) -> tuple[Problem, int, FeatureMap | None]:
        """One of the problems that a table stands for, with its steps and features."""
        steps = cast("int", values.get("steps", self.steps))
        at_least(1, steps=steps)
        notes = [spec.problem.note] if spec.problem.note else []
        notes += [str(values["features"])] if "features" in values else []
        if len(schema.expand_grid("steps", spec.grids.get("steps"))) > 1:
            notes += [f"{steps} step{'s' if steps > 1 else ''}"]
        problem = replace(
            spec.problem, note=", ".join(notes), reward_scale=cast("float", values.get("reward_scale", 1.0)),
            sizes={name: cast("Size", value) for name, value in values.items() if name not in schema.VARIED},
        )  # fmt: skip
        problem, features = prepare(problem, cast("str | FeatureMap | None", values.get("features")))
        return problem, steps, features

    def _cells(
        self, spec: ProblemSpec, algorithm: AlgorithmSpec, problem: Problem, steps: int, features: FeatureMap | None
    ) -> Iterator[Cell]:
        """One for each combination of the settings that are not tuned."""
        takes, tuned = algorithm.takes, algorithm.tune
        settings = {key: value for key, value in spec.settings.items() if takes is None or key in takes}
        settings |= algorithm.settings | spec.settings_for.get(algorithm.label, {})
        if missing := [key for key in tuned if key not in settings]:
            raise InvalidInput(f"tune must list settings that have a value here, not {missing[0]!r}")
        fixed = {key: value for key, value in settings.items() if key not in tuned}
        varied = [key for key, value in fixed.items() if len(schema.expand_grid(key, value)) > 1]
        for combination in schema.combinations(fixed):
            more = "".join(f", {key} {combination[key]}" for key in varied)
            choices = tuple(schema.combinations({key: settings[key] for key in tuned}))
            candidates = tuple(
                configure(problem, algorithm.name, combination | choice, steps, features, algorithm.make)
                for choice in choices
            )
            shared = f"{self.name}: {algorithm.label}{more}" if algorithm.shared_tuning and tuned else None
            yield Cell(self, f"{algorithm.label}{more}", tuned, choices, candidates, shared)

    def _check_names(self, cells: Sequence[Cell]) -> None:
        """Lines of a table must have different names."""
        named = Counter((cell.problem.label, cell.problem.reward_scale, cell.algorithm) for cell in cells)
        for (problem, _, algorithm), count in named.items():
            if count > 1:
                raise InvalidInput(f"{self.source}: two entries are {algorithm} on {problem}: give one a label")

    @contextmanager
    def _at(self, where: str) -> Iterator[None]:
        """Errors in this block say where in the study they are."""
        try:
            yield
        except AapiError as error:
            place = self.source if where == "study" else f"{self.source}: {where}"
            raise InvalidInput(f"{place}: {error}") from error


def _check_settings(problem: ProblemSpec, algorithms: Sequence[AlgorithmSpec]) -> None:
    """Settings that no algorithm takes, and settings for an algorithm that is not there, are mistakes."""
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
            table = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{source} is not TOML: {error}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{source} is not a text in UTF-8, so it is no study") from None
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror}") from None
    allowed = [each.name for each in fields(Study) if each.name != "source"]
    for key in table.keys() - set(allowed):
        raise InvalidInput(f"{source}: {key} is not known: a study takes {', '.join(allowed)}")
    beside = os.fspath(Path(path).resolve().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)  # here, and so in new processes
    return Study(**{"name": Path(path).stem, "problems": [], "algorithms": []} | table, source=source)
