import numpy as np
import pytest
from logged import columns, uniform_logs

from aapi.environments import ergodic, river_swim
from aapi.mdp import estimate_model, policy_values, solve


def counted(log, num_states, num_actions):
    """Tries, shares and mean rewards by a plain loop."""
    tries = np.zeros((num_states, num_actions))
    shares, paid = np.zeros((num_states, num_actions, num_states)), np.zeros((num_states, num_actions))
    for x, a, r, y in zip(*log.values(), strict=True):
        tries[x, a] += 1
        shares[x, a, y] += 1
        paid[x, a] += r
    safe = np.maximum(tries, 1)
    return tries, shares / safe[:, :, None], paid / safe


def test_the_model_is_that_of_averages():
    mdp = ergodic(6, 3).with_noise(1.0)
    log = columns(uniform_logs(mdp, 400, 1, 3), 0)
    model = estimate_model(log)
    tries, shares, paid = counted(log, 6, 3)
    assert (model.tries == tries).all()
    known = tries > 0
    transitions = model.model.transitions.toarray().reshape(6, 3, 6)
    assert transitions[known] == pytest.approx(shares[known], abs=1e-15)
    assert model.model.rewards[known] == pytest.approx(paid[known], abs=1e-12)
    policy = np.where(tries > 0, tries, 0.0) / tries.sum(axis=1, keepdims=True)
    assert model.gain_interval(policy).gain == pytest.approx(policy_values(model.model, policy).gain, abs=1e-12)
    assert repr(model) == f"EstimatedModel(400 transitions, 6 states, 3 actions, {known.sum()} of 18 pairs tried)"


def test_pairs_never_tried_are_never_chosen_and_stay_where_they_are():
    log = {"state": [0, 1, 0, 1], "action": [0, 0, 0, 2], "reward": [-5.0, 1, -5, 1], "next_state": [1, 0, 1, 0]}
    model = estimate_model(log, num_actions=3)
    assert model.model.transitions.toarray().reshape(2, 3, 2)[0].tolist() == [[0, 1], [1, 0], [1, 0]]
    assert model.model.rewards[0].tolist() == [-5, -11, -11]
    assert solve(model.model).policy[0] == 0
    assert solve(model.model).gain == pytest.approx(-2.0, abs=1e-12)


def test_the_optimum_is_found_and_its_gain_is_not_flattered():
    """Over logs, the gain in the model is too high, and that on other data is not."""
    mdp = ergodic(5, 3).with_noise(1.0)
    best, logs = solve(mdp).gain, uniform_logs(mdp, 500, 60, 7)
    flattered, elsewhere, earned, holds = [], [], [], []
    for number in range(60):
        optimum = estimate_model(columns(logs, number), num_states=5, num_actions=3).optimum()
        earned.append(policy_values(mdp, optimum.policy).gain)
        flattered.append(optimum.gain_in_model)
        elsewhere.append(optimum.elsewhere.gain)
        holds.append(optimum.interval.lower <= best <= optimum.interval.upper)
    error = 3.0 * np.std(np.subtract(flattered, earned)) / np.sqrt(60)
    assert np.mean(flattered) > np.mean(earned) + error
    assert np.mean(elsewhere) < best + 3.0 * np.std(elsewhere) / np.sqrt(60)
    assert np.mean(holds) >= 0.92


def test_halves_share_no_row_of_pairs_that_are_chosen_among():
    from aapi.mdp.estimated import _halves

    model = estimate_model(columns(uniform_logs(river_swim(6), 3000, 1, 5), 0), num_states=6, num_actions=2)
    first, second = _halves(model.log, model.tries)
    often = model.tries[model.log.states, model.log.actions] >= 10
    assert (first | second).all()
    assert not (first & second & often).any()
    for x, a in zip(*np.nonzero(model.tries >= 10), strict=True):
        here = (model.log.states == x) & (model.log.actions == a)
        assert abs(int((first & here).sum()) - int((second & here).sum())) <= 1


def test_a_log_that_says_little_is_not_an_optimum():
    log = {"state": [0, 1, 0], "action": [0, 0, 1], "reward": [1.0, 0.0, 3.0], "next_state": [1, 0, 0]}
    optimum = estimate_model(log).optimum()
    assert optimum.allowed.sum() == 2  # no pair was tried ten times: the action tried most, of those that led away
    assert optimum.policy.tolist() == [0, 0]
    assert set(optimum.interval.rare) == {(0, 0), (1, 0)}
    assert optimum.interval.upper - optimum.interval.lower > 1.0


def test_names_reach_the_model():
    log = {"state": ["b", "a"], "action": ["go", "go"], "reward": [1, 0], "next_state": ["a", "b"]}
    model = estimate_model(log).model
    assert (model.state_names, model.action_names, model.initial_state) == (("a", "b"), ("go",), 1)
