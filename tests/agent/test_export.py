"""Exported policies act as their agents do, with NumPy alone."""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

import gymnasium
import numpy as np
import processes
import pytest

import aapi
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo
from aapi.policies.policy_reader import Policy

SERVER = Path(__file__).parents[2] / "examples" / "serve_policy.py"


def by_phases(**more):
    return aapi.AAPI(eta=0.3, phase_length=50, evaluate=MonteCarlo(horizon=1, ridge=0.1), **more)


GREEDY = aapi.GreedyAPI(phase_length=50, evaluate=MonteCarlo(horizon=1, ridge=0.1))
CASES = {
    "a table": ("little/Discrete-v0", aapi.AAPI(), None),
    "MultiDiscrete": ("little/MultiDiscrete-v0", aapi.AAPI(), None),
    "MultiBinary": ("little/Board-v0", aapi.AAPI(), None),
    "a queue on a grid": ("aapi/CrissCross-v0", aapi.AAPI(), None),
    "Fourier": ("little/Box-v0", by_phases(), aapi.features.Fourier(order=2)),
    "Fourier, span": ("little/Box-v0", by_phases(norm="span"), aapi.features.Fourier(order=1, linear=False)),
    "Radial": ("little/Box-v0", by_phases(), aapi.features.Radial(num_features=20)),
    "greedy": ("little/Box-v0", GREEDY, aapi.features.Fourier()),
}


@pytest.mark.parametrize("case", CASES)
def test_a_policy_and_its_agent_do_the_same(case, tmp_path):
    env, algorithm, features = CASES[case]
    agent = aapi.Agent(algorithm, gymnasium.make(env), features).learn(230)
    agent.export(tmp_path / "p.npz")
    policy = Policy(tmp_path / "p.npz")
    rng = np.random.default_rng(0)
    if env == "aapi/CrissCross-v0":  # those beyond what was seen, too
        each = list(rng.integers(0, 9, (200, 3)))
    else:
        each = [agent.observation_space.sample() for _ in range(200)]
    for observation in each:
        expected = agent.probabilities(observation)
        np.testing.assert_allclose(policy.probabilities(observation), expected, rtol=1e-9, atol=1e-12)
        if np.diff(np.sort(expected))[-1] > 1e-9:  # else it is a tie
            assert policy.act(observation) == agent.predict(observation, deterministic=True)
    drawn = np.mean([policy.act(each[0], draw=rng.random) == agent.action_space.start for _ in range(2000)])
    assert abs(drawn - agent.probabilities(each[0])[0]) < 0.05


def test_what_an_exported_policy_is_of_is_in_it(tmp_path):
    aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1")).learn(100).export(tmp_path / "p.npz")
    about = Policy(tmp_path / "p.npz").about
    assert (about["environment"], about["steps"]) == ("FrozenLake-v1", 100)
    assert about["actions"] == ["left", "down", "right", "up"]


@pytest.mark.parametrize("observation", [[0, 1], np.nan, 16, -1])
def test_the_reader_refuses_what_is_no_observation(observation, tmp_path):
    aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1")).learn(100).export(tmp_path / "p.npz")
    with pytest.raises((ValueError, TypeError)):
        Policy(tmp_path / "p.npz").act(observation)


@pytest.mark.parametrize("observation", [16, -1, 2.5])
def test_the_reader_names_what_is_no_observation_of_a_table(observation, tmp_path):
    aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1")).learn(100).export(tmp_path / "p.npz")
    with pytest.raises(ValueError, match=f"{observation} is no observation: these are whole numbers"):
        Policy(tmp_path / "p.npz").act(observation)


@pytest.mark.parametrize("features", [aapi.features.Tiles(), lambda o: np.append(o, 1.0), None])
def test_what_cannot_be_exported_is_said(features, tmp_path):
    agent = aapi.Agent(by_phases() if features else aapi.AAPI(), gymnasium.make("little/Box-v0"), features).learn(400)
    with pytest.raises(InvalidInput, match=r"policies on tables, .* can be exported, not on"):
        agent.export(tmp_path / "p.npz")
    assert not (tmp_path / "p.npz").exists()


def test_the_reader_is_copied_but_never_over_another_file(tmp_path):
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1")).learn(100)
    for _ in range(2):
        agent.export(tmp_path / "p.npz", reader=True)
    (tmp_path / "policy_reader.py").write_text("mine = True\n")
    with pytest.raises(InvalidInput, match="is another file than the reader"):
        agent.export(tmp_path / "p.npz", reader=True)


@pytest.mark.slow
def test_a_policy_is_exported_and_served_without_aapi(tmp_path):
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1")).learn(300)
    agent.save(tmp_path / "lake.aapi")
    command = [*processes.AAPI, "export-policy", "lake.aapi", "-o", "policy.npz", "--reader"]
    assert "Policy('policy.npz').act(observation)" in processes.run(command, cwd=tmp_path, check=True).stdout
    (tmp_path / "serve.py").write_text(SERVER.read_text())
    (tmp_path / "aapi.py").write_text("raise ImportError('there is no aapi here')\n")
    with processes.start([sys.executable, "serve.py", "policy.npz", "0"], cwd=tmp_path) as server:
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        for observation in range(16):
            with urllib.request.urlopen(address, json.dumps({"observation": observation}).encode()) as answer:  # noqa: S310
                assert json.load(answer) == {"action": agent.predict(observation, deterministic=True)}
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(address, b'{"observation": 99}')  # noqa: S310
        server.terminate()
        assert server.wait() != 0
