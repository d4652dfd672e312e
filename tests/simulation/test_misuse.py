"""Kernels check nothing, so that nothing wrong may reach them."""

import dataclasses

import numpy as np
import pytest
from experience import rollout

import aapi
from aapi.approximation import LinearPolicy
from aapi.batch import simulator
from aapi.environments import cartpole, ergodic
from aapi.errors import InvalidInput, TooLarge
from aapi.evaluation import ExactQ, MonteCarlo
from aapi.features import Fourier, OneHot, Radial, Tiles
from aapi.improvement import SampledAdaptive
from aapi.kernels.linalg import aligned_zeros

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
    with pytest.raises(InvalidInput, match="linear policy"):
        rollout(simulator(PROBLEM, Fourier(2))([0]), policy, 5)


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
    simulation = simulator(PROBLEM, Fourier(2))([0])
    learner = aapi.RLSVI(phase_length=60, horizon=2, memory=np.uint16(50))
    state = learner.init(simulation.space, 1)
    state, _ = learner.update(state, simulation.rollout(learner.act(state), 60))
    (window,) = state.memories.values()
    assert window.rewards.shape == (1, 50)


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

    def __call__(self, k, surprise):
        return surprise.sampled_root(1.0, 30)


@pytest.mark.parametrize("problem", [PROBLEM, ergodic(5, 2)], ids=["weights", "tables"])
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


def test_what_does_not_fit_the_problem_is_refused():
    algorithm = aapi.AAPI(phase_length=60, eta=0.3, evaluate=MonteCarlo(horizon=9, ridge=0.8))
    for arguments, words in (
        ({"features": OneHot()}, "features for finite problems"),
        ({"record": True}, "record keeps tables"),
    ):
        with pytest.raises(InvalidInput, match=words):
            aapi.run(algorithm, PROBLEM, 100, **arguments)
    with pytest.raises(InvalidInput, match="features of vectors"):
        aapi.run(algorithm, ergodic(4, 2), 100, features=Fourier(1))
    with pytest.raises(InvalidInput, match="needs a finite model"):
        aapi.run(aapi.AAPI(phase_length=10, evaluate=ExactQ()), PROBLEM, 100)
    for strange in (np.array([-1.0]), np.nan, np.ones((1, 5)), "hot"):
        learner = aapi.PolicyIteration(
            phase_length=50, evaluate=algorithm.evaluate, learning_rate=lambda k, surprise, heat=strange: heat
        )
        with pytest.raises(InvalidInput, match=r"a learning rate returns a number ≥ 0, one for each of 1 runs"):
            aapi.run(learner, PROBLEM, 100, features=Fourier(1))
