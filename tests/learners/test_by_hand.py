"""Three phases, two states, two actions, through every part, computed by hand."""

import math

import numpy as np
import pytest

from aapi.approximation import Tabular
from aapi.approximation.boltzmann import boltzmann
from aapi.batch import simulator
from aapi.evaluation import MonteCarlo, estimate
from aapi.features import FeatureMatrix, OneHot
from aapi.improvement import Adaptive, PreviousEstimate, SampledAdaptive, Scheduled, Zero
from aapi.learners import PolicyIteration, Session
from aapi.mdp import FiniteMDP
from aapi.simulation import PhaseData

# states, actions, rewards; returns of two steps start at the first three.
PHASES = [
    ([0, 1, 0, 1], [0, 1, 1, 0], [1.0, 0.0, 2.0, 1.0]),  # 1 for (0,0), 2 for (1,1), 3 for (0,1)
    ([0, 0, 1, 1], [1, 1, 0, 0], [0.0, 4.0, 2.0, 0.0]),  # 4 and 6 for (0,1), 2 for (1,0)
    ([1, 1, 0, 0], [0, 1, 0, 1], [1.0, 1.0, 0.0, 3.0]),  # 2 for (1,0), 1 for (1,1), 3 for (0,0)
]
Q_HATS = [[[1, 3], [0, 2]], [[0, 5], [2, 0]], [[3, 0], [2, 1]]]


MDP = FiniteMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))


def data(phase):
    states, actions, rewards = (np.array([row]) for row in PHASES[phase])
    sums = rewards.sum(axis=1, keepdims=True)
    return PhaseData(states.astype(np.int32), actions.astype(np.int32), rewards, np.array([0]), sums, np.array([4]))


def q_hat(evaluate, phase, features=OneHot()):  # noqa: B008 - frozen
    space = Tabular(features(MDP), 2)
    return estimate(evaluate, space, space.uniform(1), data(phase)).q_hat[0]


@pytest.mark.parametrize("phase", [0, 1, 2])
def test_monte_carlo_averages_returns(phase):
    assert q_hat(MonteCarlo(horizon=2, ridge=0.0), phase).tolist() == Q_HATS[phase]


def test_monte_carlo_centres_and_shrinks():
    # The mean reward of phase 1 is 1, so that returns of two steps fall by 2.
    assert q_hat(MonteCarlo(horizon=2, centre=True, ridge=0.0), 0).tolist() == [[-1, 1], [0, 0]]
    assert q_hat(MonteCarlo(horizon=2, centre=True, ridge=1.0), 0).tolist() == [[-0.5, 0.5], [0, 0]]
    # A window of the whole phase starts once.
    assert q_hat(MonteCarlo(horizon=4, ridge=0.0), 0).tolist() == [[4, 0], [0, 0]]


def test_monte_carlo_regresses_on_features():
    # ψ(0) = 1, ψ(1) = 2. Action 0: (1, return 1), w = 1/(1+1). Action 1: (2, 2) and (1, 3), w = 7/(5+1).
    found = q_hat(MonteCarlo(horizon=2, ridge=1.0), 0, FeatureMatrix([[1.0], [2.0]]))
    assert found == pytest.approx(np.array([[1 / 2, 7 / 6], [1, 7 / 3]]))


def learnt(rate, side_information, phases=3, decay=1.0):
    """What is known after phases that were evaluated as Q_HATS says; and the index, Σ_{s≤k} Q̂_s + M_{k+1}."""
    given = iter(Q_HATS)
    learner = PolicyIteration(
        phase_length=4, evaluate=lambda policy, seen: np.array([next(given)]), learning_rate=rate,
        side_information=side_information, decay=decay,
    )  # fmt: skip
    session = Session(learner, simulator(MDP)([0]), 12)
    assert [phase.number for phase in session.play(4 * phases)] == list(range(1, phases + 1))
    return session.state, (session.state.total + session.state.prediction)[0].tolist()


def test_sums_surprises_and_index_with_the_previous_estimate():
    # Differences: [[1,3],[0,2]], then [[−1,2],[2,−2]], then [[3,−5],[0,1]].
    expected = [
        ([[1, 3], [0, 2]], [3, 2], [9, 4], [[2, 6], [0, 4]]),
        ([[1, 8], [2, 2]], [2, 2], [13, 8], [[1, 13], [4, 2]]),
        ([[4, 8], [4, 3]], [5, 1], [38, 9], [[7, 8], [6, 4]]),
    ]
    for phases, (total, surprise, squares, index) in enumerate(expected, start=1):
        state, found = learnt(Adaptive(norm="sup"), PreviousEstimate(), phases)
        assert state.total[0].tolist() == total
        assert state.surprise.last[0].tolist() == surprise
        assert state.surprise.root()[0] == pytest.approx(np.sqrt(squares), rel=1e-15)
        assert found == index


def test_surprise_in_the_span_norm_and_without_side_information():
    state, _ = learnt(Adaptive(norm="span"), PreviousEstimate())
    assert state.surprise.root()[0] == pytest.approx(np.sqrt([1 + 2.25 + 16, 1 + 4 + 0.25]))
    without, index = learnt(Adaptive(norm="sup"), Zero())
    assert without.surprise.root()[0] == pytest.approx(np.sqrt([9 + 25 + 9, 4 + 4 + 4]))
    assert index == [[4, 8], [4, 3]]


def test_a_sum_that_forgets_is_the_last_estimate():
    assert learnt(Adaptive(norm="sup"), Zero(), decay=0.0)[1] == Q_HATS[2]


def test_learning_rates():
    state, _ = learnt(SampledAdaptive(num_sampled=3), PreviousEstimate())

    def temperatures(rate):
        return state.space.temperatures(rate(3, state.surprise), 1, np.array([[0, 1]]))[0]

    assert temperatures(Adaptive(0.5)) == pytest.approx([0.5 * math.sqrt(76), 0.5 * math.sqrt(18)])
    assert temperatures(SampledAdaptive(0.5)) == pytest.approx([0.5 * math.sqrt(76), 0.5 * math.sqrt(18)])
    # The first surprise, 9 and 4, and twice that of phase 2 or 3.
    kept = temperatures(SampledAdaptive(1.0, num_sampled=2, keep_first=True)) ** 2
    assert kept[0] == pytest.approx(2 * (9 + 2 * 4)) or kept[0] == pytest.approx(2 * (9 + 2 * 25))
    assert temperatures(Scheduled(0.5)).tolist() == [0.5, 0.5]
    assert temperatures(Scheduled(0.5, "sqrt")) == pytest.approx([0.5 * math.sqrt(3)] * 2)
    assert temperatures(Scheduled(0.5, "horizon")) == pytest.approx([0.5 * math.sqrt(3 / (8 * math.log(2)))] * 2)


def test_boltzmann_policies():
    index, temperature = np.array([[[7.0, 8.0], [6.0, 4.0]]]), np.array([[math.sqrt(76), math.sqrt(18)]])
    # 1/(1 + e^(1/√76)) and 1/(1 + e^(−2/√18)).
    expected = [[0.47135444, 0.52864556], [0.61571613, 0.38428387]]
    assert boltzmann(index, temperature)[0] == pytest.approx(np.array(expected), abs=5e-9)
    level = np.array([[[2.0, 2.0], [1.0, 2.0]]])
    assert boltzmann(level, np.zeros((1, 2)))[0].tolist() == [[0.5, 0.5], [0, 1]]
