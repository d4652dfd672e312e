"""A problem by name, to be made where it is needed: in another process, or on another machine."""

from __future__ import annotations

import functools
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import gymnasium
import numpy as np

from aapi.agent.agent import continuing
from aapi.batch import run
from aapi.environments import Continuing, ContinuousProblem
from aapi.errors import InvalidInput
from aapi.experiments.description import describe
from aapi.experiments.sources import library_sources
from aapi.learners import Uniform
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.registry.gymnasium_ids import make_continuing
from aapi.registry.problems import PROBLEMS, is_environment, make_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.json_types import Json, JsonObject

Model: TypeAlias = FiniteMDP | ContinuousProblem
References: TypeAlias = tuple[float | None, float | None]
CACHED_PROBLEMS = 64  # that a process keeps


@dataclass(frozen=True)
class Problem:
    """A problem by name.

    name: a built-in problem, a model file, a Gymnasium id; or any word, if `model` is given.
    sizes: of a built-in problem, named as in the command: {"states": 10, "actions": 2}.
    arguments, ending, limit: for `gymnasium.make` and `Continuing`.
    reward_scale: what all rewards are multiplied by.
    model: a FiniteMDP or ContinuousProblem of yours.
    note: what tables add to its name.
    """

    name: str
    sizes: Mapping[str, int] = field(default_factory=dict)
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

        Exact for finite models. For a continuous problem, the first is measured in 20 runs of 10,000 steps, and the
        second is the upper bound that it comes with.
        """
        return (None, None) if self.is_gymnasium else _references(self.make_model())


@functools.lru_cache(CACHED_PROBLEMS)
def _model(source: str | Model, sizes: tuple[tuple[str, int], ...], scale: float) -> Model:
    model = make_problem(source, dict(sizes)) if isinstance(source, str) else source
    return model if scale == 1.0 else model.scaled(scale)


@functools.lru_cache(CACHED_PROBLEMS)
def _references(env: Model) -> References:
    if isinstance(env, FiniteMDP):
        uniform = np.full((env.num_states, env.num_actions), 1.0 / env.num_actions)
        start = env.initial_state
        return float(policy_values(env, uniform).gains[start]), float(solve(env).gains[start])
    measured = run(Uniform(), env, 10_000, 20)
    return float(measured.average_reward[:, -1].mean()), env.best_gain


def _describe_model(model: Model) -> Json:
    if isinstance(model, ContinuousProblem):
        return describe(vars(model))
    held = model.transitions
    transitions = [held.data, held.indices, held.indptr] if model.is_sparse else held
    contents = {"rewards": model.rewards, "initial_state": model.initial_state, "coordinates": model.coordinates}
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
