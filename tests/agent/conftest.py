"""Little environments, one for each kind of observation: little/Box-v0, little/Dict-v0 and so on."""

from __future__ import annotations

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import aapi
from aapi.evaluation import MonteCarlo

# A space, and the question about an observation that the agent has to answer.
GUESSES = {
    "Box": (spaces.Box(-1.0, 1.0, (2,), np.float64), lambda o: o[0] > 0.0),
    "Bytes": (spaces.Box(0, 255, (2, 1), np.uint8), lambda o: o[0, 0] > 127),
    "Scalar": (spaces.Box(0.0, 1.0, ()), lambda o: o > 0.5),
    "Discrete": (spaces.Discrete(4, start=-2), lambda o: o >= 0),
    "MultiDiscrete": (spaces.MultiDiscrete([2, 3], start=[1, -1]), lambda o: o[0] == 2),
    "Narrow": (spaces.MultiDiscrete([2, 3], dtype=np.int32), lambda o: o[0] == 1),
    "Grid": (spaces.MultiDiscrete([[2, 1], [2, 1]]), lambda o: o[1, 0] == 1),
    "MultiBinary": (spaces.MultiBinary(3), lambda o: o[1] == 1),
    "Board": (spaces.MultiBinary((2, 2)), lambda o: o[1, 0] == 1),
    "Tuple": (spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2))), lambda o: o[1][0] == 1),
    "Dict": (
        spaces.Dict(
            speed=spaces.Box(0.0, 1.0, (1,)), arm=spaces.Tuple((spaces.Discrete(2, start=5), spaces.Box(-1.0, 1.0)))
        ),
        lambda o: o["arm"][0] == 6,
    ),
}


class Guess(gymnasium.Env):
    """Observations are random; action 4 earns 1 if the answer to the question is yes, action 3 if it is no.

    Episodes are of random length.
    """

    def __init__(self, name: str) -> None:
        space, self.question = GUESSES[name]
        self.observation_space = copy.deepcopy(space)
        self.action_space = spaces.Discrete(2, start=3)

    def _look(self):
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.seen = self.observation_space.sample()
        return self.seen

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._look(), {}

    def step(self, action):
        reward = float(action == 3 + bool(self.question(self.seen)))
        return self._look(), reward, bool(self.np_random.random() < 0.05), False, {}


for _name in GUESSES:
    gymnasium.register(f"little/{_name}-v0", entry_point=Guess, kwargs={"name": _name})


def _algorithm(name: str, phase_length: int = 50, horizon: int = 1):
    if name == "RLSVI":
        return aapi.RLSVI(phase_length=phase_length, horizon=horizon, noise_variance=0.1)
    parts = {"phase_length": phase_length, "evaluate": MonteCarlo(horizon=horizon, ridge=0.1)}
    return {
        "AAPI": lambda: aapi.AAPI(eta=0.3, **parts),
        "untuned": aapi.AAPI,
        "sampled AAPI": lambda: aapi.AAPI(eta=0.3, num_sampled=2, norm="span", **parts),
        "Politex": lambda: aapi.Politex(eta=0.3, schedule="sqrt", **parts),
        "AdaptiveFTRL": lambda: aapi.AdaptiveFTRL(eta=0.3, **parts),
        "GreedyAPI": lambda: aapi.GreedyAPI(**parts),
    }[name]()


@pytest.fixture
def algorithm():
    """A function that makes an algorithm of some name."""
    return _algorithm


@pytest.fixture
def agent():
    """A function that makes an agent, on little/Box-v0 or another environment."""

    def make(algorithm="AAPI", env="little/Box-v0", features=None, seed=0, **arguments):
        return aapi.Agent(_algorithm(algorithm, **arguments), gymnasium.make(env), features, seed)

    return make
