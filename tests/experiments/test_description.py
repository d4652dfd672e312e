"""Two computations never share a key, and one computation hardly ever has two."""

import dataclasses
import shutil
from pathlib import Path

import gymnasium
import numpy as np
import processes
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

import aapi
from aapi.errors import InvalidInput
from aapi.experiments import Problem, configure
from aapi.experiments.description import described, digest, source_version
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
    assert described(OwnRate(1.0))["source"]
    assert described(Adaptive(1.0))["source"] is None
    assert digest(described(OwnRate(1.0, source=2.0))) != digest(described(OwnRate(1.0)))
    with pytest.raises(InvalidInput, match="make it a frozen dataclass"):
        described(NoDataclass())


def test_functions_are_known_by_what_they_hold():
    for make in (scale_by, with_default):
        assert described(make(1.0)) != described(make(2.0))
        assert described(make(1.0)) == described(make(1.0))


def test_values_have_one_form():
    assert described(1) == described(1.0) == described(np.float64(1.0)) == described(np.int32(1))
    assert digest(described(0.0)) == digest(described(-0.0))
    assert described(True) is True
    assert described({1: 2}) == described({1: 2.0})
    assert described(np.zeros(2)) != described(np.zeros(2, dtype=np.float32))
    keys = {configure(Problem("ergodic"), "aapi", {"eta": eta}, 500).key for eta in (1, 1.0, np.float64(1.0))}
    assert len(keys) == 1


@pytest.mark.slow
def test_any_source_that_determines_a_run_is_seen(tmp_path):
    """In a copy of the library with another rule for η, whatever file it is in, the version is another."""
    package = tmp_path / "aapi"
    shutil.copytree(Path(aapi.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def version():
        code = "from aapi.experiments.description import source_version; print(source_version())"
        return processes.python("-c", code, check=True, cwd=tmp_path).stdout.strip()

    last = version()
    assert last == source_version()
    for name, changes in (("cli/text.py", False), ("improvement/learning_rate.py", True), ("features/tiles.py", True)):
        before = last
        with (package / name).open("a") as file:
            file.write("\n# changed\n")
        last = version()
        assert (last != before) == changes


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
    named = configure(Problem("deep-sea", model=model), "aapi", {}, 500)
    assert named.settings == configure(Problem("mine", model=model), "aapi", {}, 500).settings
    assert named.key == configure(Problem("mine", model=model), "aapi", {}, 500).key
