"""Two computations never share a key, and one computation hardly ever has two."""

import dataclasses
import importlib

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

import aapi
from aapi.errors import InvalidInput
from aapi.experiments import Problem, configure
from aapi.experiments.description import describe, digest
from aapi.improvement import Adaptive


@dataclasses.dataclass(frozen=True)
class OwnRate(Adaptive):
    source: float = 1.0  # a field of that name must not hide the source


class NoDataclass:
    pass


def scale_by(factor):
    return lambda x: factor * x


def with_default(factor):
    def scale(x, factor=factor):
        return factor * x

    return scale


def test_parts_of_ones_own_are_known_by_their_source_and_fields():
    assert describe(OwnRate(1.0))["source"]
    assert describe(OwnRate(1.0))["module"] is None
    assert describe(Adaptive(1.0))["source"] is None
    assert describe(Adaptive(1.0))["module"] == "aapi.improvement.learning_rate"
    assert digest(describe(OwnRate(1.0, source=2.0))) != digest(describe(OwnRate(1.0)))
    with pytest.raises(InvalidInput, match="make it a frozen dataclass"):
        describe(NoDataclass())


def test_functions_are_known_by_what_they_hold():
    for make in (scale_by, with_default):
        assert describe(make(1.0)) != describe(make(2.0))
        assert describe(make(1.0)) == describe(make(1.0))


def test_values_have_one_form():
    assert describe(1) == describe(1.0) == describe(np.float64(1.0)) == describe(np.int32(1))
    assert digest(describe(0.0)) == digest(describe(-0.0))
    assert describe(True) is True
    assert describe({1: 2}) == describe({1: 2.0})
    assert describe(np.zeros(2)) != describe(np.zeros(2, dtype=np.float32))
    keys = {configure(Problem("ergodic"), "aapi-paper", {"eta": eta}, 500).key for eta in (1, 1.0, np.float64(1.0))}
    assert len(keys) == 1


def test_own_modules_count_as_parsed_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    code = "from dataclasses import dataclass\nFACTOR = 1.0\n@dataclass(frozen=True)\nclass Part:\n    x: float = 0.0\n"

    def source(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return describe(importlib.import_module(name).Part())["source"]

    before = source("first", code)
    assert before == source("second", f'"""A docstring."""\n# a comment\n{code}')
    assert before != source("third", code.replace("1.0", "2.0"))


class Negated(gymnasium.RewardWrapper):
    def reward(self, reward):
        return -float(reward)


def negated(**arguments):
    return Negated(FrozenLakeEnv(**arguments))


def test_environments_are_known_by_all_their_layers():
    keys = set()
    for entry, slippery in ((FrozenLakeEnv, True), (FrozenLakeEnv, False), (negated, False)):
        gymnasium.register("Lake-v0", entry_point=entry, kwargs={"is_slippery": slippery})
        keys.add(digest(Problem("Lake-v0").description))
        keys.add(digest(Problem("Lake-v0").description))
        del gymnasium.registry["Lake-v0"]
    assert len(keys) == 3


def test_a_model_called_as_a_problem_is_not_that_problem():
    model = aapi.environments.river_swim()
    named = configure(Problem("deep-sea", model=model), "aapi-paper", {}, 500)
    assert named.settings == configure(Problem("mine", model=model), "aapi-paper", {}, 500).settings
    assert named.key == configure(Problem("mine", model=model), "aapi-paper", {}, 500).key
