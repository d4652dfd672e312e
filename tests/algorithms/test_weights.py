"""Algorithm 1 with linear Q-functions, against an independent version in plain NumPy, and against itself."""

import hashlib
import math

import numpy as np
import pytest
from support import interpreted

import aapi
from aapi.environments import cartpole
from aapi.errors import DoesNotExist, InvalidInput
from aapi.evaluation import ExactQ, MonteCarlo
from aapi.features import Fourier, OneHot, Radial, Tiles
from aapi.improvement import PreviousEstimate, SampledAdaptive, Scheduled, Zero
from aapi.simulation import ContinuousProblem, ContinuousSimulation
from aapi.simulation.jit import kernel
from aapi.simulation.random import draw, fill_normal

EVALUATE = MonteCarlo(horizon=9, ridge=0.8)
ALGORITHMS = {
    "aapi": aapi.AAPI(phase_length=60, eta=0.3, evaluate=EVALUATE),
    "span": aapi.AAPI(phase_length=60, eta=0.3, evaluate=EVALUATE, norm="span"),
    "sampled": aapi.AAPI(phase_length=60, eta=0.3, evaluate=EVALUATE, num_sampled=3),
    "politex": aapi.Politex(phase_length=60, eta=20.0, evaluate=MonteCarlo(9, centre=True), schedule="sqrt"),
    "ftrl": aapi.AdaptiveFTRL(phase_length=60, eta=0.3, evaluate=EVALUATE),
    "greedy": aapi.GreedyAPI(phase_length=60, evaluate=EVALUATE),
    "rlsvi": aapi.RLSVI(phase_length=60, horizon=4, ridge=0.5, memory=150),
}
FEATURES = {"fourier": Fourier(1), "tiles": Tiles(2, 2), "radial": Radial(7)}


def weights_of(result):
    policy = result.next_policy
    return policy.index, policy.constant, policy.differences


def fingerprint(result, runs=slice(None)):
    arrays = (result.rewards, result.cumulated, *weights_of(result))
    return hashlib.sha256(b"".join(np.ascontiguousarray(array[runs]).tobytes() for array in arrays)).hexdigest()


def reference(algorithm, problem, features, num_phases, seed):
    """Q̂ of every phase, replayed from the data by NumPy: regressions by solve, temperatures from all differences."""
    basis = features.basis(problem.low, problem.high)
    simulation = ContinuousSimulation(problem, basis, seed, range(1), np.array([10**9]))
    optimism = isinstance(algorithm.side_information, PreviousEstimate)
    past = []
    for phase in algorithm.phases(simulation, num_phases * algorithm.phase_length):
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
@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ("sampled", "rlsvi")])
def test_policy_iteration_on_weights(name, features):
    reference(ALGORITHMS[name], cartpole(), features, 8, seed=4)


@pytest.mark.parametrize("form", ["relative", "finite-horizon", "discounted"])
def test_rlsvi_draws_from_the_regressions_it_says(form):
    problem, variance, ridge = cartpole(), 0.3, 0.4
    algorithm = aapi.RLSVI(phase_length=80, horizon=3, form=form, ridge=ridge, noise_variance=variance, memory=120)
    basis = Fourier(1).basis(problem.low, problem.high)
    simulation = ContinuousSimulation(problem, basis, 2, range(1), np.array([10**9]))
    history = algorithm.start(simulation)
    algorithm.improve(simulation, history, simulation.rollout(history.policy, 80))
    data, stream = simulation.rollout(history.policy, 80), simulation.streams[0].copy()
    algorithm.improve(simulation, history, data)
    assert history.rewards.shape == (1, 120)  # the rest is forgotten
    psi, after, size = basis(history.observations[0]), basis(history.successors[0]), basis.num_features
    assert (after[-80:] == basis(np.concatenate([data.states[0, 1:], data.last_state]))).all()
    theta, noise = np.zeros((size, 2)), np.empty(2 * size)
    for _ in range(3):
        draws = []
        offset = (psi @ theta).max(axis=1).mean() if form == "relative" else 0.0
        discount = 2 / 3 if form == "discounted" else 1.0
        targets = history.rewards[0] + discount * ((after @ theta).max(axis=1) - offset)
        fill_normal(stream, noise)
        for action in range(2):
            of = history.actions[0] == action
            matrix = psi[of].T @ psi[of] / variance + ridge * np.eye(size)
            mean = np.linalg.solve(matrix, psi[of].T @ targets[of] / variance)
            rough = np.linalg.solve(np.linalg.cholesky(matrix).T, noise[action * size : (action + 1) * size])
            draws.append(mean + rough)
        theta = np.stack(draws, axis=1)
    assert history.q_hat[0] == pytest.approx(theta, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_threads_chunks_and_company_change_nothing(name):
    def run(num_runs=6, **how):
        return aapi.run(ALGORITHMS[name], cartpole(), 500, num_runs, 3, features=Fourier(1), **how)

    whole = run()
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 4, "threads": 2}):
        assert fingerprint(run(**how)) == fingerprint(whole), how
    assert fingerprint(run(1, first_run=4)) == fingerprint(whole, slice(4, 5))
    assert fingerprint(aapi.run(ALGORITHMS[name], cartpole(), 500, 6, 4, features=Fourier(1))) != fingerprint(whole)


def all_fingerprints():
    found = {}
    for name, algorithm in ALGORITHMS.items():
        for kind, features in FEATURES.items():
            found[f"{name} {kind}"] = fingerprint(aapi.run(algorithm, cartpole(), 250, 1, 1, features=features))
    return found


@pytest.mark.slow
def test_compiled_and_interpreted_give_the_same_bits():
    assert interpreted(__file__, "all_fingerprints") == all_fingerprints()


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


def test_memory_does_not_grow_with_the_number_of_phases():
    simulation = ContinuousSimulation(cartpole(), Fourier(1).basis((-1.0,) * 4, (1.0,) * 4), 0, range(1), np.array([1]))
    algorithm = aapi.AAPI(phase_length=20, evaluate=MonteCarlo(5), num_sampled=2)
    history = algorithm.start(simulation)
    sizes = []
    for _ in range(60):
        algorithm.improve(simulation, history, simulation.rollout(history.policy, 20))
        held = {name: value.size for name, value in vars(history).items() if isinstance(value, np.ndarray)}
        sizes.append((held, history.policy.differences.shape))
    assert history.phase == 60
    assert history.differences.shape[1] == 20
    assert sizes[30] == sizes[59]


def test_what_does_not_fit_is_refused():
    algorithm, problem = ALGORITHMS["aapi"], cartpole()
    for arguments, words in (
        ({"features": OneHot()}, "features for finite problems"),
        ({"record": True}, "record keeps tables"),
    ):
        with pytest.raises(InvalidInput, match=words):
            aapi.run(algorithm, problem, 100, **arguments)
    with pytest.raises(InvalidInput, match="features of vectors"):
        aapi.run(algorithm, aapi.environments.ergodic(4, 2), 100, features=Fourier(1))
    with pytest.raises(InvalidInput, match="needs a finite model"):
        aapi.run(aapi.AAPI(phase_length=10, evaluate=ExactQ()), problem, 100)
    strange = aapi.PolicyIteration(phase_length=50, evaluate=EVALUATE, learning_rate=Strange(), side_information=Zero())
    with pytest.raises(InvalidInput, match="1 temperatures"):
        aapi.run(strange, problem, 100, features=Fourier(1))


class Strange(Scheduled):
    def __call__(self, history):
        return np.array([-1.0])


def test_sampling_with_the_first_difference_kept_runs_on_weights():
    rate = SampledAdaptive(0.3, num_sampled=2, keep_first=True)
    algorithm = aapi.PolicyIteration(phase_length=60, evaluate=EVALUATE, learning_rate=rate)
    result = aapi.run(algorithm, cartpole(), 600, 2, features=Fourier(1))
    assert result.next_policy.differences.shape[2] == 4
