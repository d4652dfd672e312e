"""Everything that determines a run, but its seed and number."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from aapi.agent import Agent
from aapi.batch import space_of
from aapi.checks import at_least, finite
from aapi.environments import ContinuousProblem
from aapi.errors import InvalidInput
from aapi.experiments.description import describe, digest, modules_in
from aapi.experiments.sources import source_version
from aapi.features import Features, VectorFeatures
from aapi.learners import RLSVI, Exploring, Learner
from aapi.learners.learner import AnyLearner
from aapi.mdp import FiniteMDP
from aapi.presets import agent_settings, problem_settings
from aapi.registry.algorithms import make_algorithm
from aapi.registry.feature_words import make_features
from aapi.registry.problems import OTHERS, PROBLEMS, is_file, make_problem, unknown_problem

if TYPE_CHECKING:
    from aapi.experiments.problem import Problem
    from aapi.json_types import JsonObject

# The third kind is for agents: from an observation to a vector.
FeatureMap: TypeAlias = Features | VectorFeatures | Callable[[Any], object]
MakeAlgorithm: TypeAlias = Callable[..., AnyLearner]


@dataclass(frozen=True)
class Configuration:
    """An algorithm with its settings on a problem, for a number of steps: all of a run but its seed and number.

    settings: the algorithm's, by name, with the values that were filled in; for tables.
    """

    problem: Problem
    algorithm: AnyLearner
    settings: Mapping[str, object]
    steps: int
    features: FeatureMap | None = None

    @property
    def compiled_features(self) -> Features | VectorFeatures | None:
        """The features, for problems that are compiled; `prepare` has checked that they are not an agent's."""
        return cast("Features | VectorFeatures | None", self.features)

    @functools.cached_property
    def description(self) -> JsonObject:
        """All of it as JSON, with the version of the code that a run of it uses."""
        loop = "agent_runs" if self.problem.is_gymnasium else "compiled_runs"
        described = self.problem.description | {
            "algorithm": describe(self.algorithm),
            "features": describe(self.features),
            "steps": self.steps,
            "loop": {"module": f"aapi.experiments.{loop}"},
        }
        return described | {"sources": source_version(modules_in(described))}

    @functools.cached_property
    def key(self) -> str:
        """A hash of the description."""
        return digest(self.description)

    @property
    def num_phases(self) -> int:
        """How many phases a compiled run has; about, where that depends on data."""
        space = space_of(self.problem.make_model(), self.compiled_features)
        return max(1, self.algorithm.count_phases(self.steps, space))

    @property
    def expected_seconds(self) -> float:
        """About how long a run takes on one processor: to cut work into batches, and to estimate the time left."""
        if self.problem.is_gymnasium:
            return 5e-5 * self.steps
        sweeps = self.algorithm.horizon if isinstance(self.algorithm, RLSVI) else 0
        env, phases = self.problem.make_model(), self.num_phases
        if isinstance(env, FiniteMDP):
            planning = 2e-5 * env.num_states if isinstance(self.algorithm, Exploring) else 0.0
            return 4e-8 * self.steps + phases * (env.num_states * env.num_actions * (5e-8 + 3e-8 * sweeps) + planning)
        return 1e-5 * self.steps + phases * sweeps * 4e-3


def prepare(problem: Problem, features: str | FeatureMap | None = None) -> tuple[Problem, FeatureMap | None]:
    """The problem, with its model if that is in a file, and its features, also if they are given by name; checked."""
    finite(0.0, strictly=True, reward_scale=problem.reward_scale)
    if isinstance(features, str):
        features = cast("FeatureMap", make_features(features, finite=not problem.is_gymnasium, word="features"))
    elif features is not None and not callable(features) and not isinstance(features, VectorFeatures):
        raise InvalidInput(f"features must be a name such as one-hot or fourier:4, not {features!r}")
    if problem.model is not None and not isinstance(problem.model, FiniteMDP | ContinuousProblem):
        raise InvalidInput(f"model must be a FiniteMDP or a ContinuousProblem, not {problem.model!r}")
    problem = replace(problem, reward_scale=float(problem.reward_scale))
    if problem.is_gymnasium:
        problem.make_environment().close()
        return problem, features
    if problem.model is None and problem.name not in PROBLEMS:
        if not is_file(problem.name):
            raise unknown_problem(problem.name, OTHERS)
        problem = replace(problem, model=make_problem(problem.name, problem.sizes))  # once, and for every machine
    space_of(problem.make_model(), cast("Features | VectorFeatures | None", features))
    return problem, features


def configure(
    problem: Problem, algorithm: str, given: Mapping[str, object], steps: int,
    features: str | FeatureMap | None = None, make: MakeAlgorithm | None = None,
) -> Configuration:  # fmt: skip
    """A checked configuration: of an algorithm by name, or of what your function `make` makes from its settings."""
    at_least(1, steps=steps)
    problem, features = prepare(problem, features)
    with closing(problem.make_environment()) if problem.is_gymnasium else nullcontext() as env:
        if make is not None:
            built, settings = _make_own(make, given), dict(given)
        elif env is not None:
            built, settings = make_algorithm(algorithm, given, agent_settings(env, features, algorithm))
        else:
            known = problem.name if problem.model is None else ""
            built, settings = make_algorithm(algorithm, given, problem_settings(known, problem.make_model(), algorithm))
        built.check()
        if env is not None:
            Agent(built, env, features)  # an error, if none can be made of these
    return Configuration(problem, built, settings, int(steps), features)


def _make_own(make: MakeAlgorithm, settings: Mapping[str, object]) -> AnyLearner:
    name = make.__name__ if inspect.isroutine(make) or isinstance(make, type) else repr(make)
    try:
        algorithm = make(**settings)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InvalidInput(f"{name} cannot be called with {dict(settings)}: {reason}") from error
    if not isinstance(algorithm, Learner):
        raise InvalidInput(f"{name} must return a learner (aapi.Learner; see docs/extending.md), not {algorithm!r}")
    return algorithm
