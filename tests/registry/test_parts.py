"""Parts of one's own get a word, and nothing odd does."""

import sys
from types import ModuleType

import gymnasium
import pytest

import aapi
from aapi.cli.main import parser
from aapi.errors import InvalidInput
from aapi.registry import PARTS, register
from aapi.registry.algorithms import describe_learner, make_algorithm, settings_for, takes
from aapi.registry.parts import COMMAND_OPTIONS, evaluates_off_policy, settings_of
from aapi.schedules import Constant

SOURCE = """
from dataclasses import dataclass
from typing import Optional
from aapi.evaluation import Evaluation, MonteCarlo as Theirs
from aapi.learners import Uniform

@dataclass(frozen=True)
class Own(Evaluation):
    strength: float = 1.0
    extent: Optional[int] = None

    def __call__(self, policy, seen):
        return seen.space.zeros(seen.runs) + self.strength

@dataclass(frozen=True)
class MonteCarlo(Evaluation):
    horizon: int = 3

@dataclass(frozen=True)
class Mine(Uniform):
    boldness: int = 3

@dataclass(frozen=True)
class Seeded(Evaluation):
    seed: int = 0

@dataclass(frozen=True)
class OtherRidge(Evaluation):
    ridge: str = "small"

number = 5
"""


@pytest.fixture
def module(monkeypatch):
    made = ModuleType("parts_of_my_own")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(SOURCE, vars(made))  # noqa: S102
    for kind in PARTS:
        monkeypatch.setitem(PARTS, kind, dict(PARTS[kind]))
    monkeypatch.setattr("aapi.registry.algorithms.ALGORITHMS", PARTS["algorithm"])
    yield made
    settings_of.cache_clear()


def test_a_registered_part_has_settings_and_is_saved_and_loaded(module, tmp_path):
    register("evaluation", "own", "parts_of_my_own:Own")
    assert {name: setting.type for name, setting in settings_of("evaluation", "own").items()} == {
        "strength": float,
        "extent": int,
    }
    learner, settings = make_algorithm("greedy", {"evaluation": "own", "strength": 2.0, "phase_length": 50}, {})
    assert settings == {"evaluation": "own", "strength": 2.0, "phase_length": 50}
    aapi.Agent(learner, gymnasium.make("FrozenLake-v1")).learn(120).save(tmp_path / "agent")
    assert aapi.load(tmp_path / "agent").algorithm == learner


def test_a_registered_algorithm_has_a_name(module):
    register("algorithm", "mine", "parts_of_my_own:Mine")
    assert takes("mine") == ("phase_length", "boldness")
    assert make_algorithm("mine", {"phase_length": 7, "boldness": 2}, {})[0] == module.Mine(phase_length=7, boldness=2)
    (usage,) = settings_for()["boldness"]  # of which the command makes a flag
    assert (usage.setting.type, usage.words) == (int, ("mine",))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("colour", "own", "parts_of_my_own:Own"), "unknown kind of part 'colour'"),
        (("evaluation", "a b", "parts_of_my_own:Own"), "small letters, digits and hyphens, not 'a b'"),
        (("evaluation", "", "parts_of_my_own:Own"), "small letters, digits and hyphens, not ''"),
        (("evaluation", "own", "no_module:Own"), "must be module:Class, and is not to be had: ModuleNotFoundError"),
        (("evaluation", "own", "parts_of_my_own:Nothing"), "must be module:Class, and is not to be had: KeyError"),
        (("evaluation", "own", "parts_of_my_own:number"), "must be a dataclass"),
        (("evaluation", "lstd", "parts_of_my_own:Own"), "the evaluation lstd or Own exists already"),
        (("evaluation", "mine", "parts_of_my_own:MonteCarlo"), "the evaluation mine or MonteCarlo exists already"),
        (("evaluation", "seeded", "parts_of_my_own:Seeded"), "has a field seed, an option of the command itself"),
        (
            ("evaluation", "other", "parts_of_my_own:OtherRidge"),
            "has a field ridge of type str, and the setting ridge of other parts is of type float",
        ),
    ],
)
def test_odd_words_and_places_are_refused(module, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        register(*arguments)


def test_options_of_the_commands_are_known():
    for line in ("run ergodic", "theory ergodic", "tune ergodic --search eta=1..2", "train CartPole-v1"):
        options = vars(parser().parse_args(line.split()))
        assert options.keys() - settings_for().keys() <= COMMAND_OPTIONS


def test_a_constant_schedule_is_saved_and_loaded(tmp_path):
    learner = aapi.AAPI(phase_length=Constant(50), evaluate=aapi.evaluation.MonteCarlo(5))
    aapi.Agent(learner, gymnasium.make("FrozenLake-v1")).learn(120).save(tmp_path / "agent")
    assert aapi.load(tmp_path / "agent").algorithm == learner
    with pytest.raises(InvalidInput, match="phase_length must be a whole number or growing, not 'constant'"):
        make_algorithm("politex", {"phase_length": "constant", "horizon": 5}, {})


def test_a_rate_that_is_no_number_is_not_described():
    learner = aapi.Politex(phase_length=50, evaluate=aapi.evaluation.MonteCarlo(5), eta="x")
    with pytest.raises(InvalidInput, match="eta must be a finite number at least 0, not 'x'"):
        describe_learner(learner)


def test_which_evaluations_are_off_policy():
    words = {word for word in PARTS["evaluation"] if evaluates_off_policy(word)}
    assert words == set(PARTS["evaluation"]) - {"monte-carlo"}
