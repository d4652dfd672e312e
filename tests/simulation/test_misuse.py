"""Kernels check nothing, so that nothing wrong may reach them."""

import dataclasses

import numpy as np
import pytest

import aapi
from aapi.environments import cartpole
from aapi.errors import InvalidInput, TooLarge
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier, Radial, Tiles
from aapi.improvement import SampledAdaptive
from aapi.simulation import ContinuousSimulation, LinearPolicy
from aapi.approximation.linear_policy import aligned_zeros

PROBLEM = cartpole()
BASIS = Fourier(2).basis(PROBLEM.low, PROBLEM.high)


def policy_of(runs=1, actions=2, features=BASIS.num_features):
    return LinearPolicy(np.zeros((runs, actions, features)), np.zeros(runs), aligned_zeros(runs, features, 0), False)


@pytest.mark.parametrize(
    "policy",
    [
        policy_of(features=10),
        policy_of(runs=3),
        policy_of(actions=7),
        dataclasses.replace(policy_of(), constant=np.array([-1.0])),
        dataclasses.replace(policy_of(), index=np.full((1, 2, BASIS.num_features), np.nan)),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(policy):
    simulation = ContinuousSimulation(PROBLEM, BASIS, 0, range(1), np.array([100]))
    with pytest.raises(InvalidInput, match="linear policy"):
        simulation.rollout(policy, 5)


def test_a_policy_is_asked_about_observations_that_fit():
    fifty, other = policy_of(runs=50), Fourier(6).basis(PROBLEM.low, PROBLEM.high)
    assert fifty.probabilities(BASIS, np.zeros((50, 3, 4))).shape == (50, 3, 2)
    for basis, observations in ((BASIS, (1, 3, 4)), (BASIS, (50, 3, 2)), (BASIS, (5, 4)), (other, (50, 3, 4))):
        with pytest.raises(InvalidInput, match="shape"):
            fifty.probabilities(basis, np.zeros(observations))
    assert BASIS(np.zeros((0, 4))).shape == (0, 85)
    with pytest.raises(InvalidInput, match="observations must have the shape"):
        BASIS(np.zeros((4, 3)))


@pytest.mark.parametrize(
    "features", [Fourier(np.int64(65535)), Fourier(np.int32(255)), Fourier(np.int8(15)), Tiles(np.int64(65535))]
)
def test_integers_of_numpy_do_not_overflow(features):
    with pytest.raises(TooLarge):
        features.basis(PROBLEM.low, PROBLEM.high)


def test_a_memory_of_numpy_does_not_wrap():
    simulation = ContinuousSimulation(PROBLEM, BASIS, 0, range(1), np.array([100]))
    algorithm = aapi.RLSVI(phase_length=60, horizon=2, memory=np.uint16(50))
    history = algorithm.start(simulation)
    algorithm.improve(simulation, history, simulation.rollout(history.policy, 60))
    assert history.rewards.shape == (1, 50)


@dataclasses.dataclass(frozen=True)
class Own:
    """Features of the user's."""

    changed: dict
    base: object = Fourier(1)

    def basis(self, low, high):
        return self.base.basis(low, high)._replace(**self.changed)


@pytest.mark.parametrize(
    "features",
    [
        Own({"size": 5000}),
        Own({"order": 7}),
        Own({"low": np.zeros(9), "width": np.ones(9)}),
        Own({"width": np.zeros(4)}),
        Own({"kind": 99}),
        Own({"matrix": np.full((8, 4), 2.0)}, Tiles(2, 8)),
        Own({"matrix": np.zeros((2, 4))}, Radial(30)),
    ],
)
def test_features_of_ones_own_are_checked(features):
    with pytest.raises(InvalidInput, match="this basis does not fit"):
        aapi.run(aapi.AAPI(phase_length=50, evaluate=MonteCarlo(5)), PROBLEM, 100, features=features)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state_size": 3}, "low and high must be of one length"),
        ({"high": (1.0,)}, "low and high must be of one length"),
        ({"low": (), "high": ()}, "low and high"),
        ({"action_names": ()}, "at least one action"),
    ],
)
def test_problems_of_ones_own_are_checked(changes, words):
    with pytest.raises(InvalidInput, match=words):
        dataclasses.replace(PROBLEM, **changes)


class Greedier(SampledAdaptive):
    """Says that it samples two differences, and samples thirty."""

    def __call__(self, history):
        return history.sampled_temperature(1.0, 30, keep_first=False)


@pytest.mark.parametrize("problem", [PROBLEM, aapi.environments.ergodic(5, 2)], ids=["weights", "tables"])
def test_a_rate_samples_no_more_than_it_said(problem):
    algorithm = aapi.PolicyIteration(phase_length=30, evaluate=MonteCarlo(5), learning_rate=Greedier(num_sampled=2))
    with pytest.raises(InvalidInput, match="must say so: num_sampled"):
        aapi.run(algorithm, problem, 30 * 25)


@pytest.mark.parametrize(("decay", "words"), [(3.0, "at most 1"), (0.5, "use a Scheduled rate")])
def test_a_decay_that_ends_in_the_uniform_policy_is_refused(decay, words):
    rate = aapi.improvement.Adaptive()
    algorithm = aapi.PolicyIteration(phase_length=30, evaluate=MonteCarlo(5), learning_rate=rate, decay=decay)
    with pytest.raises(InvalidInput, match=words):
        aapi.run(algorithm, PROBLEM, 100)
