"""The compiled loop against the slow reference: data to the bit, policies, temperatures and Q̂ to rounding."""

import math

import numpy as np
import pytest
import reference

import aapi
from aapi.environments import access_control, deep_sea, ergodic
from aapi.evaluation import ExactQ, MonteCarlo
from aapi.features import Coordinates, FeatureMatrix, OneHot
from aapi.kernels.random import streams
from aapi.mdp import policy_values
from aapi.simulation import transition_tables

RUNS, SEED = 3, 5
RIDGE = 0.37  # no simple fraction: few ties that rounding would break


def one_hot(mdp):
    def phi(x, a):
        return np.eye(mdp.num_states * mdp.num_actions)[a * mdp.num_states + x]

    return phi, mdp.num_states * mdp.num_actions


def by_state(matrix, mdp):
    """ψ(x) in the block of action a."""

    def phi(x, a):
        return np.kron(np.eye(mdp.num_actions)[a], matrix[x])

    return phi, matrix.shape[1] * mdp.num_actions


def cells(mdp):
    size = math.isqrt(mdp.num_states)
    return np.array([np.concatenate([np.eye(size)[r], np.eye(size)[c]]) for r, c in np.ndindex(size, size)])


PSI = np.random.default_rng(1).normal(size=(6, 3)) * (np.random.default_rng(2).random((6, 3)) < 0.7)
PHI = np.random.default_rng(3).normal(size=(6, 3, 4))


def problems():
    ring = ergodic(6, 3)
    sea = deep_sea(4)
    yield "one-hot", ring, OneHot(), one_hot(ring), 60
    yield "coordinates", sea, Coordinates(), by_state(cells(sea), sea), 40
    yield "state-matrix", ring, FeatureMatrix(PSI), by_state(PSI, ring), 60
    yield "pair-matrix", ring, FeatureMatrix(PHI), (lambda x, a: PHI[x, a], 4), 60
    queue = access_control(1)
    yield "queue", queue, OneHot(), one_hot(queue), 80


def adaptive(eta):
    return lambda k, total, surprises, stream: [
        eta * math.sqrt(2 * sum(s[x] ** 2 for s in surprises)) for x in range(len(surprises[0]))
    ]


def sampled(eta, count, keep_first=False):
    def rate(k, total, surprises, stream):
        n, kept = min(k, count), int(keep_first)
        rest = range(kept, k) if n == k else [s + kept for s in stream.sample(k - kept, n - kept)]
        temperatures = []
        for x in range(len(surprises[0])):
            total = sum(surprises[s][x] ** 2 for s in rest) * ((k - kept) / (n - kept) if n > kept else 0)
            temperatures.append(eta * math.sqrt(2 * (total + (surprises[0][x] ** 2 if keep_first else 0))))
        return temperatures

    return rate


def constant(function):
    return lambda k, total, surprises, stream: [function(k, total)] * len(surprises[0])


def algorithms(actions):
    """name, the library's, the reference's (rate, side information, norm, decay)"""
    make = {"aapi": aapi.AAPI, "politex": aapi.Politex, "ftrl": aapi.AdaptiveFTRL, "greedy": aapi.GreedyAPI}
    horizon_tuned = constant(lambda k, total: 2.0 * math.sqrt(total / (8 * math.log(actions))))
    yield "aapi", make["aapi"], {"eta": 0.3}, (adaptive(0.3), "previous", "sup", 1.0)
    yield "aapi-span", make["aapi"], {"eta": 0.7, "norm": "span"}, (adaptive(0.7), "previous", "span", 1.0)
    yield "aapi-sampled", make["aapi"], {"eta": 0.3, "num_sampled": 4}, (sampled(0.3, 4), "previous", "sup", 1.0)
    yield "ftrl", make["ftrl"], {"eta": 0.5}, (adaptive(0.5), "zero", "sup", 1.0)
    yield "politex", make["politex"], {"eta": 2.0}, (constant(lambda k, total: 2.0), "zero", "sup", 1.0)
    yield "politex-sqrt", make["politex"], {"eta": 2.0, "schedule": "sqrt"}, (
        constant(lambda k, total: 2.0 * math.sqrt(k)), "zero", "sup", 1.0)  # fmt: skip
    yield "politex-horizon", make["politex"], {"eta": 2.0, "schedule": "horizon"}, (horizon_tuned, "zero", "sup", 1.0)
    yield "greedy", make["greedy"], {}, (constant(lambda k, total: 0.0), "zero", "sup", 0.0)


def taken(result, run, phases):
    """The policies after each of so many phases."""
    return [*result.record.policies[run, 1:phases], result.next_policy[run]]


def compare(result, run, phases, next_policy):
    record = result.record
    assert record.evaluated.tolist() == [True] * len(phases) + [False] * (len(result.phase_ends) - len(phases))
    assert record.policies.shape[1] == len(result.phase_ends)
    assert len(record.q_hats[run]) == len(phases)
    if record.predictions is not None:  # M_{k+1}: the last estimate, or nothing
        assert (record.predictions == record.q_hats).all() or not record.predictions.any()
    for k, (data, policy, q, *temperature) in enumerate(phases):
        assert record.policies[run, k] == pytest.approx(np.array(policy), abs=1e-9)
        assert record.q_hats[run, k] == pytest.approx(np.array(q), rel=1e-7, abs=1e-9)
        assert result.rewards[run, k] == pytest.approx(sum(r for _, _, r in data), abs=1e-9)
        if temperature:
            assert record.temperatures[run, k] == pytest.approx(np.array(temperature[0]), rel=1e-7, abs=1e-12)
    assert result.next_policy[run] == pytest.approx(np.array(next_policy), abs=1e-9)


@pytest.mark.parametrize("problem", list(problems()), ids=lambda p: p[0])
@pytest.mark.parametrize("name", [name for name, *_ in algorithms(2)])
@pytest.mark.parametrize("centre", [False, True])
def test_policy_iteration(problem, name, centre):
    _, mdp, features, (phi, _), length = problem
    make, arguments, (rate, side, kind, decay) = {n: rest for n, *rest in algorithms(mdp.num_actions)}[name]
    evaluate = MonteCarlo(horizon=7, centre=centre, ridge=RIDGE)
    result = aapi.run(
        make(phase_length=length, evaluate=evaluate, **arguments), mdp, 12 * length + 5, RUNS, SEED,
        features=features, record=True,
    )  # fmt: skip
    tables, states = transition_tables(mdp), streams(SEED, range(RUNS))
    for run in range(RUNS):
        world = reference.World(mdp, tables, states[run])
        phases, following = reference.policy_iteration(
            world,
            lambda policy, data: reference.monte_carlo(data, phi, mdp.rewards.shape, 7, centre, RIDGE),
            rate, side, length, 12 * length, taken(result, run, 12), kind, decay,
        )  # fmt: skip
        compare(result, run, phases, following)
        left_over = world.phase(following, 5)
        assert result.rewards[run, -1] == pytest.approx(sum(r for _, _, r in left_over), abs=1e-9)


def test_sampling_that_always_keeps_the_first_difference():
    mdp, length = ergodic(6, 3), 60
    algorithm = aapi.PolicyIteration(
        phase_length=length,
        evaluate=MonteCarlo(horizon=7),
        learning_rate=aapi.improvement.SampledAdaptive(0.3, num_sampled=4, keep_first=True),
    )
    result = aapi.run(algorithm, mdp, 12 * length, 1, SEED, record=True)
    world = reference.World(mdp, transition_tables(mdp), streams(SEED, [0])[0])
    phases, following = reference.policy_iteration(
        world,
        lambda policy, data: reference.monte_carlo(data, one_hot(mdp)[0], mdp.rewards.shape, 7, False, 1.0),
        sampled(0.3, 4, keep_first=True), "previous", length, 12 * length, taken(result, 0, 12),
    )  # fmt: skip
    compare(result, 0, phases, following)


def test_exact_evaluation():
    mdp = ergodic(6, 3)
    result = aapi.run(aapi.AAPI(phase_length=3, evaluate=ExactQ(), eta=0.5), mdp, 60, RUNS, SEED, record=True)
    tables, states = transition_tables(mdp), streams(SEED, range(RUNS))
    for run in range(RUNS):
        phases, following = reference.policy_iteration(
            reference.World(mdp, tables, states[run]),
            lambda policy, data: policy_values(mdp, np.array(policy)).q_values.tolist(),
            adaptive(0.5), "previous", 3, 60, taken(result, run, 20),
        )  # fmt: skip
        compare(result, run, phases, following)


@pytest.mark.parametrize("problem", list(problems()), ids=lambda p: p[0])
@pytest.mark.parametrize("form", ["relative", "finite-horizon", "discounted"])
def test_rlsvi(problem, form):
    _, mdp, features, (phi, num_features), length = problem
    algorithm = aapi.RLSVI(phase_length=length, horizon=5, form=form, ridge=0.4, noise_variance=0.3)
    result = aapi.run(algorithm, mdp, 8 * length, RUNS, SEED, features=features, record=True)
    tables, states = transition_tables(mdp), streams(SEED, range(RUNS))
    for run in range(RUNS):
        world = reference.World(mdp, tables, states[run])
        others = taken(result, run, 8)
        phases, following = reference.rlsvi(world, phi, num_features, length, 8 * length, 5, form, 0.4, 0.3, others)
        compare(result, run, phases, following)
