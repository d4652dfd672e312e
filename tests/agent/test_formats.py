"""Agents that an earlier version saved go on learning as they would have."""

import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.errors import InvalidInput

SAVED = Path(__file__).parent / "formats"  # by earlier versions; expected.json says what they did next
EXPECTED = json.loads((SAVED / "expected.json").read_text())


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "rlsvi"])
def test_earlier_formats_are_read_and_go_on(name):
    on_weights = name == "span-weights"
    env = gymnasium.make("CartPole-v1" if on_weights else "FrozenLake-v1")
    agent = aapi.load(SAVED / f"{name}.aapi", env=env).learn(300)
    expected = EXPECTED[name]
    found = {"steps": agent.num_steps, "phases": agent.num_phases, "total_reward": agent.total_reward}
    assert found == {key: expected[key] for key in found}
    observation = np.array([0.0, 0.0, 0.05, 0.0]) if on_weights else 0
    assert agent.probabilities(observation) == pytest.approx(expected["probabilities"], rel=1e-9)


def test_what_cannot_be_read_any_more_says_so():
    with pytest.raises(InvalidInput, match=r"rlsvi\.aapi: an RLSVI agent of an earlier format.*train it anew"):
        aapi.load(SAVED / "rlsvi.aapi")


@pytest.mark.parametrize(("name", "steps"), [("exploring", 333), ("grid", 700)])
def test_format_4_is_read_and_goes_on_by_the_rules_of_today(name, steps):
    env = gymnasium.make("FrozenLake-v1" if name == "exploring" else "MountainCar-v0")
    agent = aapi.load(SAVED / f"format-4-{name}.aapi", env=env)
    assert agent.num_steps == steps
    assert agent.learn(500).num_steps == steps + 500
