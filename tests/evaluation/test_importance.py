"""Importance weights against Monte Carlo on-policy, against dense regressions, and by hand."""

import numpy as np
import pytest
from experience import Past, random_policies, shape_of, uniform
from support import interpreted

import aapi
from aapi.approximation import Linear, LinearPolicy
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, garnet
from aapi.errors import InvalidInput
from aapi.evaluation import ImportanceMonteCarlo, MonteCarlo, exact_q_values
from aapi.features import Coordinates, FeatureMatrix, Fourier, OneHot, Tiles
from aapi.kernels.linalg import aligned_zeros
from aapi.mdp import FiniteMDP
from aapi.memory import Experience
from aapi.simulation import PhaseData

PAIRS = np.random.default_rng(3).normal(size=(6, 3, 4))
PROBLEMS = {
    "one-hot": (ergodic(5, 2), OneHot()),
    "coordinates": (deep_sea(3), Coordinates()),
    "pair matrix": (garnet(6, 3, 4), FeatureMatrix(PAIRS)),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("horizon", [1, 6])
def test_on_policy_it_is_monte_carlo(name, centre, horizon):
    simulation = simulator(*PROBLEMS[name])(range(3))
    policy = random_policies(0, shape_of(simulation))
    evaluate = ImportanceMonteCarlo(horizon, window=None, centre=centre, ridge=0.7)
    past = Past.of(simulation, evaluate)
    for _ in range(2):
        past.roll(simulation, policy, 90)
    expected = past.q_hat(MonteCarlo(horizon, centre=centre, ridge=0.7), policy)
    assert past.q_hat(evaluate, policy) == pytest.approx(expected, rel=1e-10, abs=1e-12)


BASES = {
    "fourier": Fourier(3).basis([-1.0] * 2, [1.0] * 2),
    "tiles": Tiles(2, 3).basis([-1.0] * 2, [1.0] * 2),
}


def vector_phase(seed, policy, basis, steps=100):
    """Random observations, and actions of a policy."""
    random = np.random.default_rng(seed)
    states = random.uniform(-1, 1, (1, steps, 2))
    probabilities = policy.probabilities(basis, states)[0]
    actions = (random.random(steps) > probabilities[:, 0]).astype(np.int32)[None]
    return PhaseData(states, actions, random.normal(size=(1, steps)), random.uniform(-1, 1, (1, 2)), 0, 0)


def linear_policy(seed, basis):
    size = basis.num_features
    index = np.random.default_rng(seed).normal(size=(1, 2, size))
    return LinearPolicy(index, np.full(1, 3.0), aligned_zeros(1, size, 0), False)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_vectors_on_policy(basis):
    evaluate, policy = ImportanceMonteCarlo(5, window=None), linear_policy(0, basis)
    past = Past(Linear(basis, 2), 1, evaluate.memory)
    past.add(vector_phase(1, policy, basis), policy)
    expected = past.q_hat(MonteCarlo(5), policy)
    assert past.q_hat(evaluate, policy) == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_weighted_regression_on_vectors(basis):
    size, target = basis.num_features, linear_policy(9, basis)
    evaluate = ImportanceMonteCarlo(3, window=150, centre=True, ridge=0.4, clip=1.5)
    past = Past(Linear(basis, 2), 1, evaluate.memory)
    states, actions, rewards, ratios = [], [], [], []
    for k in range(2):
        policy = linear_policy(k, basis)
        data = past.add(vector_phase(k, policy, basis), policy)
        taken = np.arange(100), data.actions[0]
        states += list(data.states[0])
        actions += list(data.actions[0])
        rewards += list(data.rewards[0])
        ratios += list(
            target.probabilities(basis, data.states)[0][taken] / policy.probabilities(basis, data.states)[0][taken]
        )
    psi, rewards, ratios, actions = (
        basis(np.array(states[-150:])),
        np.array(rewards[-150:]),
        ratios[-150:],
        actions[-150:],
    )
    found = past.q_hat(evaluate, target)[0]
    for action in range(2):
        chosen = [t for t in range(148) if actions[t] == action]
        weights = np.array([min(1.5, ratios[t + 1] * ratios[t + 2]) for t in chosen])
        returns = np.array([rewards[t : t + 3].sum() - 3 * rewards.mean() for t in chosen])
        rows = psi[chosen]
        expected = np.linalg.solve(
            rows.T @ (weights[:, None] * rows) + 0.4 * np.eye(size), rows.T @ (weights * returns)
        )
        assert found[:, action] == pytest.approx(expected, abs=1e-8)


def test_weights_by_hand():
    """Two states in turn, two steps: one weight for each return, from the second action alone."""
    transitions = np.zeros((2, 2, 2))
    transitions[0, :, 1] = transitions[1, :, 0] = 1.0
    simulation = simulator(FiniteMDP(transitions, np.zeros((2, 2))))([0])
    evaluate = ImportanceMonteCarlo(2, window=5, ridge=0.0, clip=3.0)
    past = Past.of(simulation, evaluate)
    acting = np.array([[[0.5, 0.5], [0.2, 0.8]]])
    states, actions = np.array([[0, 1, 0, 1, 0]], dtype=np.int32), np.array([[0, 0, 1, 1, 0]], dtype=np.int32)
    rewards = np.array([[1.0, 2.0, 4.0, 8.0, 16.0]])
    past.add(PhaseData(states, actions, rewards, np.array([1]), 0, 0), acting)
    target = np.array([[[0.9, 0.1], [0.8, 0.2]]])
    # Returns 3, 6, 12, 24 with the weights .8/.2 clipped to 3, .1/.5, .2/.8, .9/.5.
    expected = [[[3.0, 12.0], [6.0, 24.0]]]
    assert past.q_hat(evaluate, target) == pytest.approx(np.array(expected))
    shrunk = past.q_hat(ImportanceMonteCarlo(2, window=5, ridge=1.0, clip=3.0), target)
    parts = [[[3 * 3 / 4, 0.25 * 12 / 1.25], [0.2 * 6 / 1.2, 1.8 * 24 / 2.8]]]
    assert shrunk == pytest.approx(np.array(parts))


def test_what_the_policy_never_does_does_not_count():
    simulation = simulator(ergodic(5, 2))([0])
    never = np.zeros(shape_of(simulation))
    never[:, :, 1] = 1.0
    evaluate = ImportanceMonteCarlo(4, clip=1e300)
    past = Past.of(simulation, evaluate)
    past.roll(simulation, uniform(simulation), 300)
    found = past.q_hat(evaluate, never)
    assert np.isfinite(found).all()
    assert found.any()


def test_old_data_of_another_policy_do():
    """Returns of three steps, in which uniform actions are reweighted to those of the policy."""
    mdp = ergodic(5, 2)
    simulation = simulator(mdp)(range(4))
    target = np.zeros(shape_of(simulation))
    target[:, :, 0], target[:, :, 1] = 0.9, 0.1
    evaluate = ImportanceMonteCarlo(3, window=60_000, ridge=0.0)
    past = Past.of(simulation, evaluate)
    for _ in range(2):
        past.roll(simulation, uniform(simulation), 30_000)
    transitions = np.asarray(mdp.transitions).reshape(5, 2, 5)
    q_values = np.broadcast_to(mdp.rewards, target.shape)
    for _ in range(2):
        values = (target * q_values).sum(axis=2)
        q_values = mdp.rewards + np.einsum("xay,ky->kxa", transitions, values)
    assert abs(past.q_hat(evaluate, target) - q_values).max() < 0.03
    ignoring = MonteCarlo(3, ridge=0.0)(target, Experience(simulation.space, past.memory, {}))  # the steps kept, as one
    assert abs(ignoring - q_values).max() > 0.1


def test_no_bit_depends_on_the_batch_or_on_the_scale_of_rewards():
    def estimates(mdp, runs):
        simulation = simulator(mdp)(runs)
        past = Past.of(simulation, evaluate)
        for _ in range(3):
            past.roll(simulation, uniform(simulation), 60)
        return past.q_hat(evaluate, random_policies(0, simulation.space.shape(1)).repeat(len(runs), axis=0))

    mdp, evaluate = ergodic(5, 2), ImportanceMonteCarlo(5, window=100, centre=True)
    together = estimates(mdp, range(3))
    assert (estimates(mdp, [2])[0] == together[2]).all()
    larger = FiniteMDP(mdp.transitions, mdp.rewards * 2.0**-30)
    assert (estimates(larger, range(3)) == together * 2.0**-30).all()


def test_dependent_features_without_a_ridge_are_refused():
    simulation = simulator(*PROBLEMS["coordinates"])([0])
    evaluate = ImportanceMonteCarlo(2, ridge=0.0)
    past = Past.of(simulation, evaluate)
    past.roll(simulation, uniform(simulation), 100)
    with pytest.raises(InvalidInput, match=r"^ridge is 0, and the features seen are linearly dependent"):
        past.estimate(evaluate, uniform(simulation))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"horizon": 0}, "horizon must be at least 1, not 0"),
        ({"horizon": 5, "clip": 0.0}, "clip must be a finite number larger than 0, not 0.0"),
        ({"horizon": 5, "ridge": -1.0}, "ridge must be a finite number at least 0, not -1.0"),
        ({"horizon": 5, "window": 0}, "window must be at least 1, not 0"),
        (
            {"horizon": 51},
            "horizon must be at most the phase length and the window, 50, not 51: no window of returns would fit",
        ),
        (
            {"horizon": 20, "window": 10},
            "horizon must be at most the phase length and the window, 10, not 20: no window of returns would fit",
        ),
    ],
)
def test_wrong_arguments(arguments, line):
    with pytest.raises(InvalidInput) as error:
        aapi.run(aapi.AAPI(phase_length=50, evaluate=ImportanceMonteCarlo(**arguments)), ergodic(5, 2), 100)
    assert str(error.value) == line


def test_aapi_learns():
    evaluate = ImportanceMonteCarlo(5, window=1000, centre=True)
    result = aapi.run(aapi.AAPI(phase_length=200, norm="span", evaluate=evaluate), ergodic(5, 2), 10_000, 3)
    assert (result.average_reward[:, -1] > 0.26).all()  # uniform: .196; the best policy: .307
    exact = exact_q_values(ergodic(5, 2), result.final_policy)[0]
    assert (exact[:, 0] > 0.28).all()


def small_estimates():
    """Tables and vectors."""
    simulation = simulator(ergodic(3, 2))([0])
    evaluate = ImportanceMonteCarlo(3)
    past = Past.of(simulation, evaluate)
    past.roll(simulation, uniform(simulation), 40)
    found = [past.q_hat(evaluate, random_policies(0, shape_of(simulation))).tolist()]
    for basis in (Fourier(1).basis([-1.0] * 2, [1.0] * 2), Tiles(1, 1).basis([-1.0] * 2, [1.0] * 2)):
        policy = linear_policy(0, basis)
        past = Past(Linear(basis, 2), 1, evaluate.memory)
        past.add(vector_phase(0, policy, basis, 20), policy)
        found.append(past.q_hat(evaluate, linear_policy(1, basis)).tolist())
    return found


def test_interpreted_kernels_give_the_same():
    for found, expected in zip(interpreted(__file__, "small_estimates"), small_estimates(), strict=True):
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)
