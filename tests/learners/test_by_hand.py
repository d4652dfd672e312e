"""Three phases, two states, two actions, through every part, computed by hand."""

import math

import numpy as np
import pytest

from aapi.evaluation import MonteCarlo
from aapi.features import FeatureMatrix, OneHot
from aapi.improvement import (
    Adaptive,
    PreviousEstimate,
    QHistory,
    SampledAdaptive,
    Scheduled,
    Zero,
    boltzmann,
)
from aapi.mdp import FiniteMDP
from aapi.simulation import FiniteSimulation, PhaseData, transition_tables
from aapi.kernels.random import streams

# states, actions, rewards; returns of two steps start at the first three.
PHASES = [
    ([0, 1, 0, 1], [0, 1, 1, 0], [1.0, 0.0, 2.0, 1.0]),  # 1 for (0,0), 2 for (1,1), 3 for (0,1)
    ([0, 0, 1, 1], [1, 1, 0, 0], [0.0, 4.0, 2.0, 0.0]),  # 4 and 6 for (0,1), 2 for (1,0)
    ([1, 1, 0, 0], [0, 1, 0, 1], [1.0, 1.0, 0.0, 3.0]),  # 2 for (1,0), 1 for (1,1), 3 for (0,0)
]
Q_HATS = [[[1, 3], [0, 2]], [[0, 5], [2, 0]], [[3, 0], [2, 1]]]


def simulation(features=OneHot()):  # noqa: B008 - frozen
    mdp = FiniteMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)))
    return FiniteSimulation(mdp, features(mdp), transition_tables(mdp), 0, [0], np.array([], dtype=np.int64))


def data(phase):
    states, actions, rewards = (np.array([row]) for row in PHASES[phase])
    sums = rewards.sum(axis=1, keepdims=True)
    return PhaseData(states.astype(np.int32), actions.astype(np.int32), rewards, np.array([0]), sums, np.array([4]))


@pytest.mark.parametrize("phase", [0, 1, 2])
def test_monte_carlo_averages_returns(phase):
    assert MonteCarlo(horizon=2, ridge=0.0)(simulation(), None, data(phase))[0].tolist() == Q_HATS[phase]


def test_monte_carlo_centres_and_shrinks():
    # The mean reward of phase 1 is 1, so that returns of two steps fall by 2.
    assert MonteCarlo(horizon=2, centre=True, ridge=0.0)(simulation(), None, data(0))[0].tolist() == [[-1, 1], [0, 0]]
    assert MonteCarlo(horizon=2, centre=True, ridge=1.0)(simulation(), None, data(0))[0].tolist() == [
        [-0.5, 0.5],
        [0, 0],
    ]
    # A window of the whole phase starts once.
    assert MonteCarlo(horizon=4, ridge=0.0)(simulation(), None, data(0))[0].tolist() == [[4, 0], [0, 0]]


def test_monte_carlo_regresses_on_features():
    # ψ(0) = 1, ψ(1) = 2. Action 0: (1, return 1), w = 1/(1+1). Action 1: (2, 2) and (1, 3), w = 7/(5+1).
    q_hat = MonteCarlo(horizon=2, ridge=1.0)(simulation(FeatureMatrix([[1.0], [2.0]])), None, data(0))[0]
    assert q_hat == pytest.approx(np.array([[1 / 2, 7 / 6], [1, 7 / 3]]))


def history(norm, side_information, phases=3, decay=1.0, keep=False):
    result = QHistory((1, 2, 2), 3, streams(0, [0]), norm=norm, decay=decay, num_sampled=3 if keep else None)
    for q_hat in Q_HATS[:phases]:
        result.add(np.array([q_hat], dtype=float))
        result.predict(side_information)
    return result


def test_sums_surprises_and_index_with_the_previous_estimate():
    # Differences: [[1,3],[0,2]], then [[−1,2],[2,−2]], then [[3,−5],[0,1]].
    expected = [
        ([[1, 3], [0, 2]], [3, 2], [9, 4], [[2, 6], [0, 4]]),
        ([[1, 8], [2, 2]], [2, 2], [13, 8], [[1, 13], [4, 2]]),
        ([[4, 8], [4, 3]], [5, 1], [38, 9], [[7, 8], [6, 4]]),
    ]
    for phases, (total, surprise, squares, index) in enumerate(expected, start=1):
        h = history("sup", PreviousEstimate(), phases)
        assert h.total[0].tolist() == total
        assert h.surprise[0].tolist() == surprise
        assert h.root_sum[0] == pytest.approx(np.sqrt(squares), rel=1e-15)
        assert h.index[0].tolist() == index


def test_surprise_in_the_span_norm_and_without_side_information():
    assert history("span", PreviousEstimate()).root_sum[0] == pytest.approx(np.sqrt([1 + 2.25 + 16, 1 + 4 + 0.25]))
    without = history("sup", Zero())
    assert without.root_sum[0] == pytest.approx(np.sqrt([9 + 25 + 9, 4 + 4 + 4]))
    assert without.index[0].tolist() == [[4, 8], [4, 3]]


def test_a_sum_that_forgets_is_the_last_estimate():
    assert history("sup", Zero(), decay=0.0).index[0].tolist() == Q_HATS[2]


def test_learning_rates():
    h = history("sup", PreviousEstimate(), keep=True)
    assert Adaptive(0.5)(h)[0] == pytest.approx([0.5 * math.sqrt(76), 0.5 * math.sqrt(18)])
    assert SampledAdaptive(0.5)(h)[0] == pytest.approx([0.5 * math.sqrt(76), 0.5 * math.sqrt(18)])
    # The first surprise, 9 and 4, and twice that of phase 2 or 3.
    kept = SampledAdaptive(1.0, num_sampled=2, keep_first=True)(h)[0] ** 2
    assert kept[0] == pytest.approx(2 * (9 + 2 * 4)) or kept[0] == pytest.approx(2 * (9 + 2 * 25))
    assert Scheduled(0.5)(h)[0].tolist() == [0.5, 0.5]
    assert Scheduled(0.5, "sqrt")(h)[0] == pytest.approx([0.5 * math.sqrt(3)] * 2)
    assert Scheduled(0.5, "horizon")(h)[0] == pytest.approx([0.5 * math.sqrt(3 / (8 * math.log(2)))] * 2)


def test_boltzmann_policies():
    index, temperature = np.array([[[7.0, 8.0], [6.0, 4.0]]]), np.array([[math.sqrt(76), math.sqrt(18)]])
    # 1/(1 + e^(1/√76)) and 1/(1 + e^(−2/√18)).
    expected = [[0.47135444, 0.52864556], [0.61571613, 0.38428387]]
    assert boltzmann(index, temperature)[0] == pytest.approx(np.array(expected), abs=5e-9)
    level = np.array([[[2.0, 2.0], [1.0, 2.0]]])
    assert boltzmann(level, np.zeros((1, 2)))[0].tolist() == [[0.5, 0.5], [0, 1]]
