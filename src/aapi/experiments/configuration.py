"""Everything that determines a run, but its seed and number."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

import aapi
from aapi.agent import Agent
from aapi.agent.agent import continuing
from aapi.algorithms import Uniform, check_features, run
from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation import ExactQ
from aapi.experiments.description import canonical, described, digest, source_hash, source_version
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.names.algorithms import agent_defaults, make_algorithm, problem_defaults
from aapi.names.environments import make_continuing
from aapi.names.features import make_features
from aapi.names.problems import OTHERS, PROBLEMS, is_environment, is_file, make_problem, unknown_problem
from aapi.simulation import ContinuousProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aapi.environments import Continuing

__all__ = ["Configuration", "Problem", "configure", "prepare"]

MADE = 64  # problems kept ready in a process


@dataclass(frozen=True)
class Problem:
    """A problem by name, to be made where it is needed: in another process, or on another machine.

    name: a built-in problem, a model file, a Gymnasium id; or any word, if `model` is given.
    sizes: of a built-in problem, in the words of the command: {"states": 10, "actions": 2}.
    arguments, ending, limit: for `gymnasium.make` and `Continuing`.
    reward_scale: what all rewards are multiplied by.
    model: a FiniteMDP or ContinuousProblem of yours.
    note: what else tables should say of it.
    """

    name: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ending: str | float | None = None
    limit: int | None = None
    reward_scale: float = 1.0
    model: FiniteMDP | ContinuousProblem | None = None
    note: str = ""

    @property
    def label(self) -> str:
        """What tables call it: deep-sea 20, ergodic 10,2."""
        size = f" {','.join(map(str, self.sizes.values()))}" if self.sizes else ""
        return self.name + size + (f", {self.note}" if self.note else "")

    @property
    def is_foreign(self) -> bool:
        """Whether it is a Gymnasium environment: Python, not compiled."""
        return self.model is None and is_environment(self.name)

    @functools.cached_property
    def description(self) -> dict[str, Any]:
        """What it is: a model by its contents, wherever its file lies; an environment by its id and source."""
        if self.is_foreign:
            return _described_environment(self)
        if self.name in PROBLEMS and self.model is None:
            what: Any = {"name": self.name, "sizes": described(self.sizes)}
        else:
            what = _described_model(self.model or make_problem(self.name, self.sizes))
        return {"problem": what, "reward_scale": self.reward_scale}

    def make(self) -> Any:
        """The model or continuous problem, made once in a process; or a new Gymnasium environment, without ends."""
        if self.is_foreign:
            return _environment(self)
        if self.model is not None:
            return self.model if self.reward_scale == 1.0 else self.model.scaled(self.reward_scale)
        return _made(self.name, tuple(self.sizes.items()), self.reward_scale)

    def references(self) -> tuple[float | None, float | None]:
        """The average reward of acting at random, and the best possible one; None where they are not known.

        Exact for finite models. For a continuous problem, the first is measured, always in the same way, and the second
        is the bound that it comes with.
        """
        if self.is_foreign:
            return None, None
        key = canonical(self.description)
        if key not in _REFERENCES:
            _REFERENCES[key] = _references(self.make())
        return _REFERENCES[key]


@functools.lru_cache(MADE)
def _made(name: str, sizes: tuple[tuple[str, Any], ...], scale: float) -> FiniteMDP | ContinuousProblem:
    model = make_problem(name, dict(sizes))
    return model if scale == 1.0 else model.scaled(scale)


_REFERENCES: dict[str, tuple[float | None, float | None]] = {}


def _references(env: FiniteMDP | ContinuousProblem) -> tuple[float | None, float | None]:
    if isinstance(env, FiniteMDP):
        uniform = np.full((env.num_states, env.num_actions), 1.0 / env.num_actions)
        start = env.initial_state
        return float(policy_values(env, uniform).gains[start]), float(solve(env).gains[start])
    played = run(Uniform(), env, 10_000, 20)
    return float(played.average_reward[:, -1].mean()), env.best_gain


def _described_model(model: FiniteMDP | ContinuousProblem) -> Any:
    if isinstance(model, ContinuousProblem):
        return described(vars(model))
    held = model.transitions
    transitions = [held.data, held.indices, held.indptr] if model.is_sparse else held
    return described(
        {
            "transitions": transitions,
            "rewards": model.rewards,
            "initial_state": model.initial_state,
            "coordinates": model.coordinates,
        }
    )


def _environment(problem: Problem) -> Continuing:
    if problem.reward_scale != 1.0:
        raise InvalidInput(f"reward_scale is for built-in problems and models; {problem.name} keeps its own rewards")
    return continuing(make_continuing(problem.name, problem.ending, problem.limit, **problem.arguments))


def _described_environment(problem: Problem) -> dict[str, Any]:
    env = _environment(problem)
    try:
        layers: list[Any] = [env.env]
        while isinstance(layers[-1], gymnasium.Wrapper):
            layers.append(layers[-1].env)
        spec = env.unwrapped.spec
        return {
            "environment": problem.name,
            "arguments": described(problem.arguments),
            "registered": None
            if spec is None
            else [described(spec.kwargs), str(spec.entry_point), spec.max_episode_steps],
            "rule": env.rule | {"ending": described(env.rule["ending"])},
            "layers": [[type(layer).__qualname__, source_hash(type(layer))] for layer in layers],
            "gymnasium": gymnasium.__version__,
        }
    finally:
        env.close()


@dataclass(frozen=True)
class Configuration:
    """An algorithm with its settings on a problem, for a number of steps: all of a run but its seed and number."""

    problem: Problem
    algorithm: Any
    settings: Mapping[str, Any]
    steps: int
    features: Any = None

    @functools.cached_property
    def description(self) -> dict[str, Any]:
        """All of it as JSON, with the versions of what computes it."""
        return self.problem.description | {
            "algorithm": described(self.algorithm),
            "features": described(self.features),
            "steps": self.steps,
            "aapi": aapi.__version__,
            "sources": source_version(),
        }

    @functools.cached_property
    def key(self) -> str:
        """A hash of the description."""
        return digest(self.description)


def prepare(problem: Problem, features: Any = None) -> tuple[Problem, Any]:
    """The problem, with its model if that is in a file, and features by name; or an error."""
    finite(0.0, strictly=True, reward_scale=problem.reward_scale)
    if isinstance(features, str):
        features = make_features(features, finite=not problem.is_foreign, word="features")
    elif features is not None and not callable(features) and not hasattr(features, "basis"):
        raise InvalidInput(f"features must be a name such as one-hot or fourier:4, not {features!r}")
    if problem.model is not None and not isinstance(problem.model, FiniteMDP | ContinuousProblem):
        raise InvalidInput(f"model must be a FiniteMDP or a ContinuousProblem, not {problem.model!r}")
    if problem.is_foreign:
        problem.make().close()
        return problem, features
    if problem.model is None and problem.name not in PROBLEMS:
        if not is_file(problem.name):
            raise unknown_problem(problem.name, OTHERS)
        problem = replace(problem, model=make_problem(problem.name, problem.sizes))  # once, and for every machine
    check_features(problem.make(), features)
    return problem, features


def configure(
    problem: Problem,
    algorithm: str,
    given: Mapping[str, Any],
    steps: int,
    features: str | Any = None,
    make: Callable[..., Any] | None = None,
) -> Configuration:
    """A configuration that was checked: an algorithm by name, or made by a function of yours from its settings."""
    at_least(1, steps=steps)
    problem, features = prepare(problem, features)
    env = problem.make()
    if make is not None:
        built, settings = _own(make, given), dict(given)
    elif problem.is_foreign:
        built, settings = make_algorithm(algorithm, given, agent_defaults(env, features, algorithm))
    else:
        known = problem.name if problem.model is None else ""
        built, settings = make_algorithm(algorithm, given, problem_defaults(known, env, algorithm))
    built.check()
    if problem.is_foreign:
        if isinstance(getattr(built, "evaluate", None), ExactQ):
            raise InvalidInput(f"exact evaluation needs a model, and {problem.name} has none")
        Agent(built, env, features)  # says what is wrong with the features
        env.close()
    return Configuration(problem, built, settings, int(steps), features)


def _own(make: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
    name = getattr(make, "__name__", repr(make))
    try:
        algorithm = make(**settings)
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InvalidInput(f"{name} cannot be called with {dict(settings)}: {told}") from error
    if not all(hasattr(algorithm, part) for part in ("check", "phases")):
        raise InvalidInput(f"{name} must return an algorithm, not {algorithm!r}")
    return algorithm
