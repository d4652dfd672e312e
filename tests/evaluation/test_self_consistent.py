"""The self-consistent evaluator on all data, and its posterior-sampled form."""

from dataclasses import replace

import numpy as np
import pytest
from experience import Past, random_policies, uniform

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.evaluation import PosteriorSampled, SelfConsistent, exact_q_values, self_consistent
from aapi.memory import CountTransitions


def data_of(mdp, steps, runs=3, seed=2):
    """Of the uniform policy; and the counts of it."""
    simulation = simulator(mdp, None, seed)(range(runs))
    past = Past(simulation.space, runs, CountTransitions())
    past.roll(simulation, uniform(simulation), steps)
    return past, past.memory


def some_policy(mdp, runs=3, seed=0):
    return random_policies(seed, (runs, mdp.num_states, mdp.num_actions), sharpness=3)


def by_definition(counts, run, policy, prior, bonus):
    """The equations as the docstring states them, solved by NumPy for all pairs at once."""
    num_states, num_actions = policy.shape
    times = np.zeros((num_states * num_actions, num_states))
    size = counts.sizes[run]
    times[counts.pairs[run, :size], counts.successors[run, :size]] = counts.transition_counts[run, :size]
    n = counts.visits[run].ravel()
    seen = np.flatnonzero(counts.seen[run])
    pairs = (seen[:, None] * num_actions + np.arange(num_actions)).ravel()
    average = np.zeros((num_states, num_states * num_actions))
    for x in range(num_states):
        average[x, x * num_actions : (x + 1) * num_actions] = policy[x]
    size = len(pairs)
    matrix, rhs = np.zeros((size + 1, size + 1)), np.zeros(size + 1)
    scale = bonus * (counts.highest[run] - counts.lowest[run])
    for i, pair in enumerate(pairs):
        matrix[i, i] = 1.0
        matrix[i, :size] -= (times[pair] @ average)[pairs] / (n[pair] + prior)
        matrix[i, size] = 1.0
        mean = counts.total[run] / counts.steps
        rhs[i] = (counts.earned[run].ravel()[pair] + prior * mean) / (n[pair] + prior) + scale / (n[pair] + 1)
    matrix[size, :size] = (counts.visits[run].sum(axis=1) @ average)[pairs] / counts.steps
    solution = np.linalg.solve(matrix, rhs)
    q = np.zeros(num_states * num_actions)
    q[pairs] = solution[:size]
    return q.reshape(num_states, num_actions)


@pytest.mark.parametrize("mdp", [ergodic(6, 3), deep_sea(4), river_swim(6)], ids=["ergodic", "deep-sea", "river"])
@pytest.mark.parametrize(("prior", "bonus"), [(0.01, 0.0), (1.0, 0.5)])
def test_it_solves_its_equations(mdp, prior, bonus):
    past, counts = data_of(mdp, 400)
    policy = some_policy(mdp)
    found = past.q_hat(SelfConsistent(prior, bonus), policy)
    for run in range(3):
        expected = by_definition(counts, run, policy[run], prior, bonus)
        assert found[run] == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())
    assert (found[~counts.seen] == 0.0).all()


def test_sparse_and_dense_equations_agree(monkeypatch):
    mdp = deep_sea(8)
    past, _ = data_of(mdp, 3000)
    policy = some_policy(mdp)
    monkeypatch.setattr(self_consistent, "DENSE_STATES", 100)
    dense = past.q_hat(SelfConsistent(), policy)
    monkeypatch.setattr(self_consistent, "DENSE_STATES", 1)
    sparse = past.q_hat(SelfConsistent(), policy)
    assert sparse == pytest.approx(dense, abs=1e-8 * np.abs(dense).max())
    assert (sparse != dense).any()  # it was another way
    near = SelfConsistent()(policy, replace(past.seen, near=dense))
    assert near == pytest.approx(dense, abs=1e-8 * np.abs(dense).max())


@pytest.mark.parametrize("mdp", [river_swim(150), garnet(400, 3, 3), deep_sea(20)], ids=["chain", "garnet", "deep-sea"])
def test_large_tables_solve_their_equations(mdp):
    past, counts = data_of(mdp, 20_000)
    policy = some_policy(mdp)
    q_hat = past.q_hat(SelfConsistent(prior=0.01), policy)
    values, share = (policy * q_hat).sum(axis=2), counts.visits.sum(axis=2) / counts.steps
    assert (share * values).sum(axis=1) == pytest.approx(0.0, abs=1e-8)
    for run, size in enumerate(counts.sizes):
        sums = counts.earned[run].ravel() + 0.01 * counts.total[run] / counts.steps
        np.add.at(
            sums,
            counts.pairs[run, :size],
            counts.transition_counts[run, :size] * values[run, counts.successors[run, :size]],
        )
        rest = (sums / (counts.visits[run].ravel() + 0.01)).reshape(q_hat[run].shape) - q_hat[run]
        gain = rest[counts.seen[run]]  # of every pair the same
        assert np.ptp(gain) < 1e-8 * np.ptp(mdp.rewards)


@pytest.mark.parametrize("mdp", [ergodic(5, 2), garnet(12, 3, 4)], ids=["ergodic", "garnet"])
def test_off_policy_it_tends_to_the_exact_values(mdp):
    policy = some_policy(mdp)
    exact = exact_q_values(mdp, policy)[1]
    errors = []
    for steps in (1_000, 100_000):
        past, _ = data_of(mdp, steps)
        apart = past.q_hat(SelfConsistent(), policy) - exact
        errors.append(np.ptp(apart, axis=(1, 2)).mean() / np.ptp(exact))  # a constant apart: ρ is not μ_π
    assert errors[1] < 0.02
    assert errors[1] < errors[0] / 4


def test_a_model_that_is_known_exactly():
    mdp = deep_sea(3)  # transitions are certain, so that a visit of every pair is enough
    past, counts = data_of(mdp, 2000)
    assert (counts.visits.min(axis=(1, 2)) > 0).all()
    policy = some_policy(mdp)
    found = past.q_hat(SelfConsistent(prior=1e-9), policy)
    exact = exact_q_values(mdp, policy)[1]
    assert np.ptp(found - exact, axis=(1, 2)).max() < 1e-6 * np.ptp(exact)


def test_sampled_values_spread_around_the_average_and_less_with_more_data():
    mdp = ergodic(4, 2)
    policy = some_policy(mdp, runs=1)
    spread = []
    for steps in (200, 20_000):
        past, _ = data_of(mdp, steps, runs=1)
        draws = np.array([past.q_hat(PosteriorSampled(), policy)[0] for _ in range(300)])
        centre = past.q_hat(SelfConsistent(), policy)[0]
        assert np.abs(draws.mean(axis=0) - centre).max() < draws.std(axis=0).max()
        spread.append(draws.std(axis=0).mean())
    assert spread[1] < spread[0] / 4


def test_refused():
    for part in (SelfConsistent(prior=0.0), SelfConsistent(bonus=-1.0), PosteriorSampled(prior=float("nan"))):
        with pytest.raises(InvalidInput, match="must be a finite number"):
            aapi.AAPI(phase_length=10, evaluate=part).check()
