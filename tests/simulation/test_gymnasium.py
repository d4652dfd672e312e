"""The step loop of Gymnasium environments trusts nobody: what acts in it is checked, as in the compiled ones."""

from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo
from aapi.exploration import Excursion
from aapi.learners import Uniform
from aapi.simulation import Stretch


@dataclass(frozen=True)
class Odd(Uniform):
    """Acts by a policy of the test's."""

    make: object = None

    def act(self, state):
        return Stretch(state.k + 1, state.start, 50, self.make(state.policy))


@pytest.mark.parametrize(
    ("env", "make", "message"),
    [
        ("FrozenLake-v1", lambda policy: np.full((1, 1, 4), 0.25), "policies must have the shape"),
        ("FrozenLake-v1", lambda policy: 2.0 * policy, "policies must be probabilities"),
        ("FrozenLake-v1", lambda policy: policy * np.nan, "policies must be probabilities"),
        ("FrozenLake-v1", lambda policy: "left", "policies must return numbers, not str"),
        ("CartPole-v1", lambda policy: np.full((1, 4, 2), 0.5), "a policy on features is a LinearPolicy"),
    ],
)
def test_policies_are_checked(env, make, message):
    with pytest.raises(InvalidInput, match=message):
        aapi.Agent(Odd(make=make), gymnasium.make(env)).learn(100)


def test_a_linear_policy_of_another_size_is_refused():
    agent = aapi.Agent(Uniform(), gymnasium.make("CartPole-v1"))
    space = agent.space
    wide = space.softmax(np.zeros((1, space.num_features, space.num_actions)), 1.0)
    with pytest.raises(InvalidInput, match="a linear policy has an index of shape"):
        aapi.Agent(Odd(make=lambda _: wide), gymnasium.make("CartPole-v1")).learn(100)


@pytest.mark.parametrize(
    "out",
    [
        lambda counts: Excursion(np.ones(1, bool), np.ones(counts.visits.shape)),
        lambda counts: Excursion(np.ones(1, bool), np.full(counts.visits.shape, np.nan)),
        lambda counts: Excursion(np.ones(1), np.full(counts.visits.shape, 0.25)),
        lambda counts: Excursion(np.ones(1, bool), np.full((1, 2, 4), 0.25)),
        lambda counts: Excursion(np.ones(1, bool), np.full(counts.visits.shape, 0.25), limits=counts.visits),
        lambda counts: Excursion(np.ones(1, bool), np.full(counts.visits.shape, 0.25), steps=0),
        lambda counts: (1, 2, 3),
    ],
)
def test_excursions_are_checked(out):
    learner = aapi.AAPI(phase_length=50, evaluate=MonteCarlo(5), exploration=(lambda situation: out(situation.counts),))
    with pytest.raises(InvalidInput):
        aapi.Agent(learner, gymnasium.make("FrozenLake-v1")).learn(300)
