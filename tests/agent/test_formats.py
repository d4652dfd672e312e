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


def test_grids_of_format_4_may_have_had_other_vertices(tmp_path):
    """They had one at each whole number, however many there were."""
    with np.load(SAVED / "format-4-grid.aapi") as file:
        arrays = dict(file)
    size, actions = arrays["state_q"].shape
    arrays |= {"state_values": np.zeros(size + 7), "state_q": np.zeros((size + 7, actions))}
    path = tmp_path / "other.aapi"
    with path.open("wb") as file:
        np.savez(file, **arrays)
    agent = aapi.load(path, env=gymnasium.make("MountainCar-v0"))
    assert agent.num_steps == 700
    assert agent.learn(500).num_steps == 1200
