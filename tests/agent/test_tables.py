"""What an agent does, as a table."""

import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import aapi
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo
from aapi.policies import Names


class Lights(gymnasium.Env):
    """Two switches, of which the first is worth something."""

    observation_space = spaces.MultiDiscrete([3, 2], start=[1, -1])
    action_space = spaces.Discrete(2, start=4)
    observation_names, action_names = ["hall", "stairs"], ["off", "on"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([1, 0]), {}

    def step(self, action):
        return np.array([self.np_random.integers(1, 3), 0]), float(action == 5), False, False, {}


@pytest.fixture
def lights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = aapi.Agent(aapi.AAPI(), Lights())
    return agent.learn(500)


def test_the_rows_are_what_was_visited_most_often_first(lights):
    table = lights.policy_table()
    assert sorted(table.observations.tolist()) == [[1, 0], [2, 0]]
    assert table.been.sum() == 500
    assert table.been[0] >= table.been[1]
    for row, observation in enumerate(table.observations):
        chances = lights.probabilities(observation.astype(int))
        np.testing.assert_array_equal(table.probabilities[row], chances)
    assert table.names == Names(("hall", "stairs"), ("off", "on"))
    assert len(lights.policy_table(visited=False)) == 6


def test_names_are_saved_and_may_be_given(lights):
    lights.save("l.aapi")
    again = aapi.load("l.aapi")
    assert again.names == Names(("hall", "stairs"), ("off", "on"))
    assert repr(again.policy_table()) == repr(lights.policy_table())
    assert again.policy_table({"actions": ["0", "1"]}).names == Names(("hall", "stairs"), ("0", "1"))
    with pytest.raises(InvalidInput, match="there are 2 actions to name, and 1 names: x"):
        again.policy_table({"actions": ["x"]})


BY_PHASES = aapi.GreedyAPI(phase_length=70, evaluate=MonteCarlo(horizon=2))


@pytest.mark.parametrize("algorithm", [aapi.DifferentialQ(), aapi.UCRL2(reward_low=0.0, reward_high=1.0), BY_PHASES])
def test_visits_are_of_all_steps_or_of_those_remembered(algorithm):
    agent = aapi.Agent(algorithm, Lights())
    table = agent.learn(300).policy_table()
    counted = table.been.sum()
    assert counted == (20 if algorithm is BY_PHASES else 300)
    assert ("visits are of the 20 steps remembered" in table.text()) == (counted == 20)


def test_vectors_seen_again_and_again_are_rows():
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("aapi/CrissCross-v0"))
    table = agent.learn(2000).policy_table()
    assert table.names.observations == ("class 1", "class 2", "class 3")
    assert table.been.sum() == 2000
    assert (table.observations == np.floor(table.observations)).all()
    np.testing.assert_array_equal(table.probabilities[3], agent.probabilities(table.observations[3]))


def test_other_vectors_are_on_a_grid_over_two_of_them():
    features = aapi.features.Fourier(order=1)
    learner = aapi.GreedyAPI(phase_length=200, evaluate=MonteCarlo(horizon=5, ridge=1.0))
    agent = aapi.Agent(learner, gymnasium.make("CartPole-v1"), features).learn(500)
    table = agent.policy_table(over=("angle", 3))
    assert len(table) == 41 * 41
    assert len(np.unique(table.observations[:, 0])) == 1
    assert table.been.sum() == 100
    np.testing.assert_allclose(table.probabilities[5], agent.probabilities(table.observations[5]))
    assert len(np.unique(agent.policy_table().observations[:, 2])) == 3
    for over in ("height", ["angle"] * 2, [7], []):
        with pytest.raises(InvalidInput, match="over names"):
            agent.policy_table(over=over)


def test_features_of_ones_own_are_shown_by_observation(agent):
    learnt = agent(env="little/Box-v0", features=lambda observation: np.append(observation, 1.0)).learn(120)
    table = learnt.policy_table()
    assert table.visits is None
    assert table.observations.min() == -1.0
    np.testing.assert_allclose(table.probabilities[7], learnt.probabilities(table.observations[7]))


def test_wrapped_environments_show_what_has_no_names(tmp_path):
    env = gymnasium.wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 2)
    agent = aapi.Agent(aapi.AAPI(), env).learn(50)
    assert agent.names == Names((), ("left", "right"))
    assert agent.policy_table().names.observations[7] == "observation[7]"


@pytest.mark.parametrize("names", [{"actions": ["a"]}, {"observations": "ab"}, ["a"], {"actions": [1, 2]}])
def test_names_in_a_file_that_was_altered_are_refused(names, lights):
    lights.names = Names(("a", "b"), ("c", "d"))
    lights.save("l.aapi")
    with np.load("l.aapi") as file:
        arrays = dict(file)
    description = json.loads(arrays["agent"].tobytes()) | {"names": names}
    arrays["agent"] = np.frombuffer(json.dumps(description).encode(), dtype=np.uint8)
    with Path("l.aapi").open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(InvalidInput, match=r"l\.aapi"):
        aapi.load("l.aapi")
