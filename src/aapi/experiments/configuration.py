"""Everything that determines a run, but its seed and number: a problem, a learner, features and steps."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import gymnasium
import numpy as np

from aapi.agent import Agent
from aapi.batch import run, space_of
from aapi.checks import at_least, finite
from aapi.environments import ChangingRewards, Continuing, ContinuousProblem
from aapi.environments.copies import continuing
from aapi.errors import InvalidInput
from aapi.experiments.description import describe, digest, modules_in
from aapi.experiments.sources import library_sources, source_version
from aapi.features import Features, VectorFeatures
from aapi.learners import RLSVI, Exploring, Learner, Uniform
from aapi.learners.learner import AnyLearner
from aapi.learners.model_based import ModelBased
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.presets import agent_settings, problem_settings
from aapi.registry.algorithms import make_algorithm
from aapi.registry.feature_words import make_features
from aapi.registry.gymnasium_ids import make_continuing
from aapi.registry.problems import OTHERS, PROBLEMS, is_environment, is_file, make_problem, unknown_problem

if TYPE_CHECKING:
    from aapi.json_types import Json, JsonObject
    from aapi.registry.problems import Size

Model: TypeAlias = FiniteMDP | ChangingRewards | ContinuousProblem
References: TypeAlias = tuple[float | None, float | None]
CACHED_PROBLEMS = 64  # that a process keeps
# The third kind is for agents: from an observation to a vector.
FeatureMap: TypeAlias = Features | VectorFeatures | Callable[[Any], object]
MakeAlgorithm: TypeAlias = Callable[..., AnyLearner]


@dataclass(frozen=True)
class Problem:
    """A problem by name.

    name: a built-in problem, a model file, a Gymnasium id; or any word, if `model` is given.
    sizes: of a built-in problem, named as in the command: {"states": 10, "actions": 2}, {"regime": "BM"}.
    arguments, ending, limit: for `gymnasium.make` and `Continuing`.
    reward_scale: what all rewards are multiplied by.
    model: a FiniteMDP, ChangingRewards or ContinuousProblem of yours.
    note: what tables add to its name.
    """

    name: str
    sizes: Mapping[str, Size] = field(default_factory=dict)
    arguments: Mapping[str, object] = field(default_factory=dict)
    ending: str | float | None = None
    limit: int | None = None
    reward_scale: float = 1.0
    model: Model | None = None
    note: str = ""

    @property
    def label(self) -> str:
        """What tables call it: deep-sea 20, ergodic 10,2."""
        size = f" {','.join(map(str, self.sizes.values()))}" if self.sizes else ""
        return self.name + size + (f", {self.note}" if self.note else "")

    @property
    def is_gymnasium(self) -> bool:
        """Whether it is a Gymnasium environment, which steps in Python; all others are compiled."""
        return self.model is None and is_environment(self.name)

    @functools.cached_property
    def description(self) -> JsonObject:
        """What it is: a built-in by name and sizes, a model by its contents, an environment by its id and layers."""
        if self.is_gymnasium:
            return _describe_environment(self)
        if self.name in PROBLEMS and self.model is None:
            (module,) = library_sources().defining(f"aapi.environments.{self.name.replace('-', '_')}")
            what: Json = {"name": self.name, "sizes": describe(self.sizes), "module": module}
        else:
            what = _describe_model(self.model or make_problem(self.name, self.sizes))
        return {"problem": what, "reward_scale": self.reward_scale}

    def make_model(self) -> Model:
        """The finite model or continuous problem, made once in a process."""
        return _model(self.name if self.model is None else self.model, tuple(self.sizes.items()), self.reward_scale)

    def make_environment(self) -> Continuing:
        """A new Gymnasium environment, in which the next episode follows when one ends."""
        if self.reward_scale != 1.0:
            raise InvalidInput(f"reward_scale is for built-in problems and models; {self.name} keeps its own rewards")
        return continuing(make_continuing(self.name, self.ending, self.limit, **self.arguments))

    def references(self) -> References:
        """The average reward of the uniform policy, and the optimal one; None where they are not known.

        Exact for finite models; not known where rewards change. For a continuous problem, the first is measured in 20
        runs of 10,000 steps, and the second is the upper bound that it comes with.
        """
        return (None, None) if self.is_gymnasium else _references(self.make_model())


@functools.lru_cache(CACHED_PROBLEMS)
def _model(source: str | Model, sizes: tuple[tuple[str, Size], ...], scale: float) -> Model:
    model = make_problem(source, dict(sizes)) if isinstance(source, str) else source
    return model if scale == 1.0 else model.scaled(scale)


@functools.lru_cache(CACHED_PROBLEMS)
def _references(env: Model) -> References:
    if isinstance(env, FiniteMDP):
        uniform = np.full((env.num_states, env.num_actions), 1.0 / env.num_actions)
        start = env.initial_state
        return float(policy_values(env, uniform).gains[start]), float(solve(env).gains[start])
    if not isinstance(env, ContinuousProblem):
        return None, None
    measured = run(Uniform(), env, 10_000, 20)
    return float(measured.average_reward[:, -1].mean()), env.best_gain


def _describe_model(model: Model) -> Json:
    if isinstance(model, ContinuousProblem):
        return describe(vars(model))
    if isinstance(model, ChangingRewards):
        return {"dynamics": _describe_model(model.mdp), "changing": describe([model.rewards, model.cycle])}
    held = model.transitions
    transitions = [held.data, held.indices, held.indptr] if model.is_sparse else held
    contents = {"rewards": model.rewards, "initial_state": model.initial_state, "coordinates": model.coordinates}
    if model.outcomes is not None:
        contents["outcomes"] = list(vars(model.outcomes).values())
    if model.reward_spread is not None:
        contents["reward_spread"] = model.reward_spread
    return describe({"transitions": transitions} | contents)


def _describe_environment(problem: Problem) -> JsonObject:
    with closing(problem.make_environment()) as env:
        layers: list[object] = [env.env]
        while isinstance(layers[-1], gymnasium.Wrapper):
            layers.append(layers[-1].env)
        spec = env.unwrapped.spec
        registered = spec and [spec.kwargs, str(spec.entry_point), spec.max_episode_steps]
        return {
            "environment": problem.name, "arguments": describe(problem.arguments), "registered": describe(registered),
            "rule": describe(env.rule), "layers": [describe(type(layer)) for layer in layers],
            "gymnasium": gymnasium.__version__,
        }  # fmt: skip


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
        if isinstance(env, ContinuousProblem):
            return 1e-5 * self.steps + phases * sweeps * 4e-3
        pairs, states = env.dynamics.rewards.size, env.dynamics.num_states
        planning = 2e-5 * states if isinstance(self.algorithm, Exploring | ModelBased) else 0.0
        return 4e-8 * self.steps + phases * (pairs * (5e-8 + 3e-8 * sweeps) + planning)


def prepare(problem: Problem, features: str | FeatureMap | None = None) -> tuple[Problem, FeatureMap | None]:
    """The problem, with its model if that is in a file, and its features, also if they are given by name; checked."""
    finite(0.0, strictly=True, reward_scale=problem.reward_scale)
    if isinstance(features, str):
        features = cast("FeatureMap", make_features(features, finite=not problem.is_gymnasium, word="features"))
    elif features is not None and not callable(features) and not isinstance(features, VectorFeatures):
        raise InvalidInput(f"features must be a name such as one-hot or fourier:4, not {features!r}")
    if problem.model is not None and not isinstance(problem.model, FiniteMDP | ChangingRewards | ContinuousProblem):
        kinds = "a FiniteMDP, ChangingRewards or a ContinuousProblem"
        raise InvalidInput(f"model must be {kinds}, not {problem.model!r}")
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
