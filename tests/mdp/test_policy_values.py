import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from support import dense_transitions, models, policies

from aapi.environments import deep_sea, garnet
from aapi.errors import DoesNotExist
from aapi.mdp import Chain, FiniteMDP, linear_systems, policy_values, solve


def test_two_states_by_hand():
    # From 0 to 1 and back for sure: a cycle with rewards 1 and 0.
    mdp = FiniteMDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [0.0]])
    values = policy_values(mdp, [0, 0])
    assert values.gain == 0.5
    assert values.bias.tolist() == [0.25, -0.25]
    assert values.q_values.tolist() == [[0.25], [-0.25]]
    assert values.stationary_distribution.tolist() == [0.5, 0.5]


def test_gains_of_several_classes():
    mdp = FiniteMDP([[[1.0, 0, 0]], [[0, 1.0, 0]], [[0.25, 0.75, 0]]], [[4.0], [8.0], [100.0]])
    values = policy_values(mdp, [0, 0, 0])
    assert values.gains.tolist() == [4.0, 8.0, 7.0]
    assert values.bias.tolist() == [0.0, 0.0, 93.0]
    with pytest.raises(DoesNotExist, match=r"4 on \{0\}, 8 on \{1\}"):
        _ = values.gain


@given(st.data())
def test_poisson_equation_and_definition_of_q(data):
    mdp = data.draw(models())
    policy = data.draw(policies(mdp))
    values = policy_values(mdp, policy)
    p = dense_transitions(mdp)
    p_pi = np.einsum("xa,xay->xy", policy, p)
    r_pi = (policy * mdp.rewards).sum(axis=1)
    scale = np.abs(mdp.rewards).max() + np.abs(values.bias).max() + 1e-300
    assert p_pi @ values.gains == pytest.approx(values.gains, abs=1e-10 * scale)
    assert values.gains + values.bias == pytest.approx(r_pi + p_pi @ values.bias, abs=1e-10 * scale)
    for mu in values.chain.stationary_distributions:
        assert mu @ values.bias == pytest.approx(0, abs=1e-10 * scale)
    q = mdp.rewards - values.gains[:, None] + np.einsum("xay,y->xa", p, values.bias)
    assert values.q_values == pytest.approx(q, abs=1e-10 * scale)
    assert (policy * values.q_values).sum(axis=1) == pytest.approx(values.bias, abs=1e-10 * scale)


@given(st.data())
def test_performance_difference_lemma(data):
    mdp = data.draw(models())
    pi, hat = data.draw(policies(mdp)), data.draw(policies(mdp))
    values, values_hat = policy_values(mdp, pi), policy_values(mdp, hat)
    if len(values.chain.recurrent_classes) > 1 or len(values_hat.chain.recurrent_classes) > 1:
        return
    difference = values.stationary_distribution @ ((pi - hat) * values_hat.q_values).sum(axis=1)
    scale = np.abs(mdp.rewards).max() + np.abs(values_hat.q_values).max() + 1e-300
    assert values.gain - values_hat.gain == pytest.approx(difference, abs=1e-10 * scale)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_solvers_agree(monkeypatch, sparse):
    mdp = garnet(300, 2, 4 if sparse else 200, seed=3)
    assert mdp.is_sparse == sparse
    policy = np.full((300, 2), 0.5)
    reduced = policy_values(mdp, policy)
    monkeypatch.setattr(linear_systems, "REDUCTION_SIZE", 10)
    factorised = policy_values(mdp, policy)
    monkeypatch.setattr(linear_systems, "ITERATIVE_SIZE", 10)
    if sparse:
        monkeypatch.setattr(
            linear_systems.scipy.sparse.linalg, "splu", lambda matrix: pytest.fail("was to be iterated")
        )
    iterated = policy_values(mdp, policy)
    for other in (factorised, iterated):
        assert other.gain == pytest.approx(reduced.gain, abs=1e-12)
        assert other.bias == pytest.approx(reduced.bias, abs=1e-10)


def test_where_iteration_fails_the_factors_take_over(monkeypatch):
    monkeypatch.setattr(linear_systems, "REDUCTION_SIZE", 10)
    monkeypatch.setattr(linear_systems, "ITERATIVE_SIZE", 10)
    assert policy_values(deep_sea(20), np.ones(400, dtype=int)).gain == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("size", [0, 400])
def test_what_double_precision_cannot_solve_is_refused(monkeypatch, form, size):
    # State 3 is reached from 0 by way of 1 and 2, each with probability 1e-300 and else back to 0: 1e-900 is zero.
    transitions = np.zeros((4, 4))
    for x in range(3):
        transitions[x, [0, x + 1]] = 1.0, 1e-300
    transitions[3, 0] = 1.0
    monkeypatch.setattr(linear_systems, "REDUCTION_SIZE", size)
    with pytest.raises(DoesNotExist, match="too rarely for double precision"):
        Chain(form(transitions)).hitting_times(3)
    rewards = [[0.0], [0.0], [0.0], [1.0]]
    mdp = FiniteMDP(transitions[:, None, :] if form is np.asarray else form(transitions), rewards)
    solution = solve(mdp)
    assert (solution.gains_lower <= 0).all()
    assert (solution.gains_upper >= 0).all()
