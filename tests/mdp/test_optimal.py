import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from support import linear_program_gains, models

from aapi.environments import deep_sea, ergodic, garnet, river_swim
from aapi.errors import DoesNotExist
from aapi.mdp import FiniteMDP, policy_values, solve


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("states", "actions", "branching"), [(30, 3, 1), (30, 3, 2), (40, 2, 5), (12, 4, 12)])
def test_garnet_gains_agree_with_a_linear_program(states, actions, branching, seed):
    mdp = garnet(states, actions, branching, seed=seed)
    assert solve(mdp).gains == pytest.approx(linear_program_gains(mdp), abs=1e-9)


def blocks(*models):
    """Several models side by side, and a first state that leads to the first state of any of them."""
    sizes = [m.num_states for m in models]
    starts = 1 + np.cumsum([0, *sizes[:-1]])
    actions = max(len(models), *(m.num_actions for m in models))
    transitions = np.zeros((1 + sum(sizes), actions, 1 + sum(sizes)))
    rewards = np.zeros(transitions.shape[:2])
    for a in range(actions):
        transitions[0, a, starts[min(a, len(models) - 1)]] = 1.0
        for model, start in zip(models, starts, strict=True):
            own, part = min(a, model.num_actions - 1), slice(start, start + model.num_states)
            rows = model.transitions.toarray() if model.is_sparse else model.transitions
            transitions[part, a, part] = rows.reshape(model.num_states, model.num_actions, -1)[:, own]
            rewards[part, a] = model.rewards[:, own]
    return FiniteMDP(transitions, rewards)


def test_multichain_and_periodic_blocks_have_a_gain_per_state():
    parts = [deep_sea(3), ergodic(5, 2), deep_sea(4), river_swim(4)]
    mdp = blocks(*parts)
    solution = solve(mdp)
    expected = [1.5, *(gain for part in parts for gain in [solve(part).gain] * part.num_states)]
    assert solution.gains == pytest.approx(expected, abs=1e-12)
    assert solution.gains == pytest.approx(linear_program_gains(mdp), abs=1e-9)
    assert solution.policy[0] == 2
    with pytest.raises(DoesNotExist, match="the gain differs between states"):
        _ = solution.gain


@given(models())
def test_optimality_equations_and_certificate(mdp):
    solution = solve(mdp)
    gains, bias, policy = solution.values.gains, solution.bias, solution.policy
    scale = np.abs(mdp.rewards).max() + np.abs(bias).max() + 1e-300
    # λ = max_a P_a λ, and λ + V = max (r + P_a V) over the actions that attain it, by the policy.
    next_gains = mdp.expected(gains)
    assert next_gains.max(axis=1) == pytest.approx(gains, abs=1e-9 * scale)
    attained = next_gains >= gains[:, None] - 1e-9 * scale
    best = np.where(attained, mdp.backup(bias), -np.inf).max(axis=1)
    assert best == pytest.approx(gains + bias, abs=1e-9 * scale)
    states = np.arange(mdp.num_states)
    assert mdp.backup(bias)[states, policy] == pytest.approx(best, abs=1e-9 * scale)
    assert (solution.gains_lower <= gains + 1e-11 * scale).all()
    assert (solution.gains_upper >= gains - 1e-11 * scale).all()
    assert (solution.gains_upper - solution.gains_lower).max() <= 1e-9 * scale
    assert solution.bias_span == np.ptp(bias)


@pytest.mark.slow
@given(models(max_states=4))
def test_no_deterministic_policy_is_better(mdp):
    solution = solve(mdp)
    scale = np.abs(mdp.rewards).max() + 1e-300
    for policy in itertools.product(range(mdp.num_actions), repeat=mdp.num_states):
        assert (policy_values(mdp, np.array(policy)).gains <= solution.gains_upper + 1e-10 * scale).all()


@given(models(), st.sampled_from([-3.5, 0.0, 1e-3, 64.0]))
def test_adding_a_constant_reward_shifts_the_gain(mdp, shift):
    shift = shift * np.abs(mdp.rewards).max()
    moved = FiniteMDP(mdp.transitions, mdp.rewards + shift)
    scale = np.abs(mdp.rewards).max() + abs(shift) + 1e-300
    assert solve(moved).gains == pytest.approx(solve(mdp).gains + shift, abs=1e-9 * scale)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_rewards_of_any_size(scale):
    for mdp in (ergodic(10, 2), deep_sea(5), river_swim(6)):
        gain = solve(mdp).gain
        assert solve(FiniteMDP(mdp.transitions, mdp.rewards * scale)).gain == pytest.approx(gain * scale, rel=1e-10)


def test_zero_rewards_one_state_one_action():
    assert solve(FiniteMDP(np.ones((1, 1, 1)), [[3.0]])).gain == 3.0
    assert solve(FiniteMDP(np.ones((1, 3, 1)), [[3.0, 5.0, 4.0]])).policy.tolist() == [1]
    assert solve(FiniteMDP(scipy.sparse.csr_array(np.eye(3)), np.zeros((3, 1)))).gain == 0.0


def test_large_sparse_model_is_certified():
    solution = solve(garnet(20_000, 4, 5, seed=1))
    assert (solution.gains_upper - solution.gains_lower).max() < 1e-10
