import numpy as np
import pytest
from support import interpreted

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, garnet
from aapi.errors import InvalidInput
from aapi.evaluation import ImportanceMonteCarlo, MonteCarlo, exact_q_values
from aapi.features import Coordinates, FeatureMatrix, Fourier, OneHot, Tiles
from aapi.mdp import FiniteMDP
from aapi.simulation import PhaseData
from aapi.approximation.linear_policy import LinearPolicy, aligned_zeros

PAIRS = np.random.default_rng(3).normal(size=(6, 3, 4))
PROBLEMS = {
    "one-hot": (ergodic(5, 2), OneHot()),
    "coordinates": (deep_sea(3), Coordinates()),
    "pair matrix": (garnet(6, 3, 4), FeatureMatrix(PAIRS)),
}


def policies(seed, shape):
    weights = np.random.default_rng(seed).random(shape)
    return weights / weights.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("horizon", [1, 6])
def test_on_policy_it_is_monte_carlo(name, centre, horizon):
    simulation = simulator(*PROBLEMS[name])(range(3))
    policy = policies(0, simulation.shape)
    evaluate = ImportanceMonteCarlo(horizon, window=None, centre=centre, ridge=0.7)
    memory = evaluate.remembers.start(simulation)
    for _ in range(2):
        data = simulation.rollout(policy, 90)
        memory.add(data, policy)
    expected = MonteCarlo(horizon, centre=centre, ridge=0.7)(simulation, policy, data)
    assert evaluate(simulation, policy, memory) == pytest.approx(expected, rel=1e-10, abs=1e-12)


class Vectors:
    def __init__(self, basis, shape):
        self.features, self.shape = basis, shape


BASES = {
    "fourier": Fourier(3).basis([-1.0] * 2, [1.0] * 2),
    "tiles": Tiles(2, 3).basis([-1.0] * 2, [1.0] * 2),
}


def vector_phase(seed, policy, basis, steps=100):
    """Random observations, and actions of a policy."""
    random = np.random.default_rng(seed)
    states = random.uniform(-1, 1, (1, steps, 2))
    chances = policy.probabilities(basis, states)[0]
    actions = (random.random(steps) > chances[:, 0]).astype(np.int32)[None]
    return PhaseData(states, actions, random.normal(size=(1, steps)), random.uniform(-1, 1, (1, 2)), 0, 0)


def linear_policy(seed, basis):
    size = basis.num_features
    index = np.random.default_rng(seed).normal(size=(1, 2, size))
    return LinearPolicy(index, np.full(1, 3.0), aligned_zeros(1, size, 0), False)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_vectors_on_policy(basis):
    simulation, policy = Vectors(basis, (1, basis.num_features, 2)), linear_policy(0, basis)
    evaluate = ImportanceMonteCarlo(5, window=None)
    memory = evaluate.remembers.start(simulation)
    data = vector_phase(1, policy, basis)
    memory.add(data, policy)
    expected = MonteCarlo(5)(simulation, policy, data)
    assert evaluate(simulation, policy, memory) == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_weighted_regression_on_vectors(basis):
    size = basis.num_features
    simulation, target = Vectors(basis, (1, size, 2)), linear_policy(9, basis)
    evaluate = ImportanceMonteCarlo(3, window=150, centre=True, ridge=0.4, clip=1.5)
    memory = evaluate.remembers.start(simulation)
    states, actions, rewards, ratios = [], [], [], []
    for k in range(2):
        policy = linear_policy(k, basis)
        data = vector_phase(k, policy, basis)
        memory.add(data, policy)
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
    found = evaluate(simulation, target, memory)[0]
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
    memory = evaluate.remembers.start(simulation)
    acting = np.array([[[0.5, 0.5], [0.2, 0.8]]])
    states, actions = np.array([[0, 1, 0, 1, 0]], dtype=np.int32), np.array([[0, 0, 1, 1, 0]], dtype=np.int32)
    rewards = np.array([[1.0, 2.0, 4.0, 8.0, 16.0]])
    memory.add(PhaseData(states, actions, rewards, np.array([1]), 0, 0), acting)
    target = np.array([[[0.9, 0.1], [0.8, 0.2]]])
    # Returns 3, 6, 12, 24 with the weights .8/.2 clipped to 3, .1/.5, .2/.8, .9/.5.
    expected = [[[3.0, 12.0], [6.0, 24.0]]]
    assert evaluate(simulation, target, memory) == pytest.approx(np.array(expected))
    shrunk = ImportanceMonteCarlo(2, window=5, ridge=1.0, clip=3.0)(simulation, target, memory)
    parts = [[[3 * 3 / 4, 0.25 * 12 / 1.25], [0.2 * 6 / 1.2, 1.8 * 24 / 2.8]]]
    assert shrunk == pytest.approx(np.array(parts))


def test_what_the_policy_never_does_does_not_count():
    simulation = simulator(ergodic(5, 2))([0])
    uniform = np.full(simulation.shape, 0.5)
    never = np.zeros(simulation.shape)
    never[:, :, 1] = 1.0
    evaluate = ImportanceMonteCarlo(4, clip=1e300)
    memory = evaluate.remembers.start(simulation)
    memory.add(simulation.rollout(uniform, 300), uniform)
    found = evaluate(simulation, never, memory)
    assert np.isfinite(found).all()
    assert found.any()


def test_old_data_of_another_policy_do():
    """Returns of three steps, in which uniform actions are reweighted to those of the policy."""
    mdp = ergodic(5, 2)
    simulation = simulator(mdp)(range(4))
    uniform, target = np.full(simulation.shape, 0.5), np.zeros(simulation.shape)
    target[:, :, 0], target[:, :, 1] = 0.9, 0.1
    evaluate = ImportanceMonteCarlo(3, window=60_000, ridge=0.0)
    memory = evaluate.remembers.start(simulation)
    for _ in range(2):
        memory.add(simulation.rollout(uniform, 30_000), uniform)
    transitions = np.asarray(mdp.transitions).reshape(5, 2, 5)
    q_values = np.broadcast_to(mdp.rewards, simulation.shape)
    for _ in range(2):
        values = (target * q_values).sum(axis=2)
        q_values = mdp.rewards + np.einsum("xay,ky->kxa", transitions, values)
    assert abs(evaluate(simulation, target, memory) - q_values).max() < 0.03
    ignoring = MonteCarlo(3, ridge=0.0)(simulation, target, memory)
    assert abs(ignoring - q_values).max() > 0.1


def test_no_bit_depends_on_the_batch_or_on_the_scale_of_rewards():
    def estimates(mdp, runs):
        simulation = simulator(mdp)(runs)
        uniform = np.full(simulation.shape, 0.5)
        memory = evaluate.remembers.start(simulation)
        for _ in range(3):
            memory.add(simulation.rollout(uniform, 60), uniform)
        return evaluate(simulation, policies(0, (1, *simulation.shape[1:])).repeat(len(runs), axis=0), memory)

    mdp, evaluate = ergodic(5, 2), ImportanceMonteCarlo(5, window=100, centre=True)
    together = estimates(mdp, range(3))
    assert (estimates(mdp, [2])[0] == together[2]).all()
    larger = FiniteMDP(mdp.transitions, mdp.rewards * 2.0**-30)
    assert (estimates(larger, range(3)) == together * 2.0**-30).all()


def test_dependent_features_without_a_ridge_are_refused():
    simulation = simulator(*PROBLEMS["coordinates"])([0])
    uniform = np.full(simulation.shape, 0.5)
    evaluate = ImportanceMonteCarlo(2, ridge=0.0)
    memory = evaluate.remembers.start(simulation)
    memory.add(simulation.rollout(uniform, 100), uniform)
    with pytest.raises(InvalidInput, match=r"^ridge is 0, and the features seen are linearly dependent"):
        evaluate(simulation, uniform, memory)


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
    uniform = np.full(simulation.shape, 0.5)
    evaluate = ImportanceMonteCarlo(3)
    memory = evaluate.remembers.start(simulation)
    memory.add(simulation.rollout(uniform, 40), uniform)
    found = [evaluate(simulation, policies(0, simulation.shape), memory).tolist()]
    for basis in (Fourier(1).basis([-1.0] * 2, [1.0] * 2), Tiles(1, 1).basis([-1.0] * 2, [1.0] * 2)):
        policy = linear_policy(0, basis)
        continuous = Vectors(basis, (1, basis.num_features, 2))
        memory = evaluate.remembers.start(continuous)
        memory.add(vector_phase(0, policy, basis, 20), policy)
        found.append(evaluate(continuous, linear_policy(1, basis), memory).tolist())
    return found


def test_interpreted_kernels_give_the_same():
    for found, expected in zip(interpreted(__file__, "small_estimates"), small_estimates(), strict=True):
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)
