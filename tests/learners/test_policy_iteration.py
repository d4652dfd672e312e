"""Algorithm 1 with linear Q-functions, against an independent version in plain NumPy."""

import math

import numpy as np
import pytest

import aapi
from aapi.batch import simulator
from aapi.environments import ContinuousProblem, cartpole
from aapi.errors import DoesNotExist
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier, Radial, Tiles
from aapi.improvement import PreviousEstimate, SampledAdaptive, Scheduled
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw
from aapi.learners import Session

EVALUATE = MonteCarlo(horizon=9, ridge=0.8)
ALGORITHMS = {
    "aapi": aapi.AAPI(phase_length=60, eta=0.3, evaluate=EVALUATE),
    "span": aapi.AAPI(phase_length=60, eta=0.3, evaluate=EVALUATE, norm="span"),
    "politex": aapi.Politex(phase_length=60, eta=20.0, evaluate=MonteCarlo(9, centre=True), schedule="sqrt"),
    "ftrl": aapi.AdaptiveFTRL(phase_length=60, eta=0.3, evaluate=EVALUATE),
    "greedy": aapi.GreedyAPI(phase_length=60, evaluate=EVALUATE),
}
FEATURES = {"fourier": Fourier(1), "tiles": Tiles(2, 2), "radial": Radial(7)}


def reference(algorithm, problem, features, num_phases, seed):
    """Q̂ of every phase, replayed from the data by NumPy: regressions by solve, temperatures from all differences."""
    simulation = simulator(problem, features, seed)([0])
    basis = simulation.space.basis
    optimism = isinstance(algorithm.side_information, PreviousEstimate)
    past = []
    for phase in aapi.play(algorithm, simulation, num_phases * algorithm.phase_length):
        psi, rewards = basis(phase.data.states[0]), phase.data.rewards[0]
        horizon, evaluate = algorithm.evaluate.horizon, algorithm.evaluate
        centre = rewards.mean() if evaluate.centre else 0.0
        returns = np.array([(rewards[t : t + horizon] - centre).sum() for t in range(len(rewards) - horizon + 1)])
        weights = np.zeros((basis.num_features, problem.num_actions))
        for action in range(problem.num_actions):
            chosen = phase.data.actions[0, : len(returns)] == action
            gram = psi[: len(returns)][chosen].T @ psi[: len(returns)][chosen] + evaluate.ridge * np.eye(len(weights))
            weights[:, action] = np.linalg.solve(gram, psi[: len(returns)][chosen].T @ returns[chosen])
        assert phase.q_hat[0] == pytest.approx(weights, rel=1e-7, abs=1e-7)
        past.append(weights)
        guess = past[-1] if optimism else np.zeros_like(weights)
        index = (
            (algorithm.decay * sum(past[:-1], np.zeros_like(weights)) if algorithm.decay else 0.0) + past[-1] + guess
        )
        predictions = [np.zeros_like(weights), *(past[:-1] if optimism else [np.zeros_like(weights)] * len(past[:-1]))]
        rate = algorithm.learning_rate
        observations = phase.data.states[0, :20]
        if isinstance(rate, Scheduled):
            heat = np.full(20, rate.eta * (math.sqrt(len(past)) if rate.schedule == "sqrt" else 1.0))
        else:
            differences = np.array([basis(observations) @ (q - m) for q, m in zip(past, predictions, strict=True)])
            spread = (differences.max(axis=2) - differences.min(axis=2)) / 2
            size = spread if rate.norm == "span" else abs(differences).max(axis=2)
            heat = rate.eta * np.sqrt(2.0 * (size**2).sum(axis=0))
        scores = basis(observations) @ index
        below = scores - scores.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.where(below == 0.0, 1.0, np.exp(below / heat[:, None]))
        found = phase.next_policy.probabilities(basis, observations[None])[0]
        assert found == pytest.approx(odds / odds.sum(axis=1, keepdims=True), abs=1e-6)
    assert len(past) == num_phases


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_policy_iteration_on_weights(name, features):
    reference(ALGORITHMS[name], cartpole(), features, 8, seed=4)


@kernel
def drift_start(state, stream):
    state[0] = draw(stream)


@kernel
def drift(state, action, stream):
    """A point that is pushed to and fro between 0 and 1, and pays where it is."""
    push = 0.15 if action == 1 else -0.15
    state[0] = min(1.0, max(0.0, state[0] + push + 0.1 * (draw(stream) - 0.5)))
    return state[0]


@kernel
def large_drift(state, action, stream):
    return 2.0**300 * drift(state, action, stream)


def problem_of(step):
    return ContinuousProblem("drift", drift_start, step, 1, (0.0,), (1.0,), ("down", "up"))


def test_a_problem_of_ones_own_is_learnt_and_the_scale_of_rewards_changes_no_bit():
    algorithm = aapi.AAPI(phase_length=200, eta=0.3, evaluate=MonteCarlo(10, centre=True, ridge=0.1))
    small, large = (
        aapi.run(algorithm, problem_of(step), 4000, 3, features=Fourier(3)) for step in (drift, large_drift)
    )
    assert small.average_reward_since(0.9).min() > 0.9
    assert (large.rewards == 2.0**300 * small.rewards).all()
    with pytest.raises(DoesNotExist, match="optimal gain of drift is not known"):
        small.regret  # noqa: B018


def held(value):
    """The sizes of all arrays in a state, by the names of their fields."""
    if isinstance(value, np.ndarray):
        return value.size
    fields = value if isinstance(value, dict) else vars(value) if hasattr(value, "__dataclass_fields__") else {}
    return {name: held(part) for name, part in fields.items()}


def test_memory_does_not_grow_with_the_number_of_phases():
    learner = aapi.AAPI(phase_length=20, evaluate=MonteCarlo(5), num_sampled=2)
    session = Session(learner, simulator(cartpole(), Fourier(1))([0]))
    sizes = [held(session.state) for _ in session.play(60 * 20)]
    assert len(sizes) == session.state.k == 60
    assert session.state.surprise.differences.shape[1] == 20
    assert sizes[30] == sizes[59]


def test_sampling_with_the_first_difference_kept_runs_on_weights():
    rate = SampledAdaptive(0.3, num_sampled=2, keep_first=True)
    algorithm = aapi.PolicyIteration(phase_length=60, evaluate=EVALUATE, learning_rate=rate)
    result = aapi.run(algorithm, cartpole(), 600, 2, features=Fourier(1))
    assert result.next_policy.differences.shape[2] == 4
