import numpy as np
import pytest
from experience import rollout, shape_of, uniform
from hypothesis import given
from support import dense_transitions, models

from aapi.approximation.tabular import _cumulate
from aapi.batch import simulator
from aapi.environments import access_control, deep_sea
from aapi.features import Coordinates, OneHot
from aapi.mdp import FiniteMDP
from aapi.simulation import finite, transition_tables
from aapi.simulation.finite import _follow


@given(models())
def test_alias_tables_hold_the_probabilities(mdp):
    tables = transition_tables(mdp)
    probabilities = np.zeros((mdp.num_states * mdp.num_actions, mdp.num_states))
    for row in range(len(probabilities)):
        columns = range(tables.starts[row], tables.starts[row + 1])
        for column in columns:
            probabilities[row, tables.successors[column]] += tables.thresholds[column] / len(columns)
            probabilities[row, tables.alternatives[column]] += (1 - tables.thresholds[column]) / len(columns)
    assert probabilities.reshape(*mdp.rewards.shape, -1) == pytest.approx(dense_transitions(mdp), abs=1e-14)


def simulate(mdp, runs, seed=0, grid=()):
    return simulator(mdp, OneHot(), seed, np.array(grid, dtype=np.int64))(range(runs))


def test_transitions_and_actions_have_the_right_frequencies():
    mdp = access_control(2)
    policy = np.random.default_rng(0).dirichlet(np.ones(2), size=mdp.num_states)
    simulation = simulate(mdp, 4)
    data = rollout(simulation, np.broadcast_to(policy, shape_of(simulation)), 100_000)
    counts = np.zeros(mdp.transitions.shape)
    after = np.concatenate([data.states[:, 1:], data.last_state[:, None]], axis=1)
    np.add.at(counts, (data.states, data.actions, after), 1)
    visits = counts.sum(axis=(1, 2))
    pairs = counts.sum(axis=2)
    for expected, total, found in (
        (policy, visits[:, None], pairs),
        (mdp.transitions, pairs[:, :, None], counts),
    ):
        deviation = np.sqrt(total * expected * (1 - expected)) + 1e-9
        assert (abs(found - total * expected) / deviation).max() < 5
    assert (data.rewards == mdp.rewards[data.states, data.actions]).all()


def test_impossible_actions_and_successors_never_happen():
    mdp = deep_sea(5)
    simulation = simulate(mdp, 3)
    policy = np.zeros(shape_of(simulation))
    policy[:, :, 1] = 1.0
    data = rollout(simulation, policy, 1000)
    assert (data.actions == 1).all()
    assert (data.states[:, 1:] == mdp.transitions.indices.reshape(-1, 2)[data.states[:, :-1], 1]).all()


def test_rounding_at_the_top_end_falls_to_the_last_possible_action():
    policy = np.array([[[0.0, 0.3, 0.3, 0.0]]])  # what is missing to one stands for rounding, much enlarged
    cumulated = np.empty_like(policy)
    assert not _cumulate(policy, cumulated)
    actions = np.array([_follow(cumulated, None, None, (), None, 0, 0, u) for u in np.linspace(0.0, 1.0 - 1e-9, 1000)])
    assert set(actions.tolist()) == {1, 2}
    assert abs((actions == 1).mean() - 0.3) < 0.01


def test_the_state_carries_over_and_sums_are_cut_at_the_grid():
    mdp = FiniteMDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [10.0]], initial_state=1)
    simulation = simulate(mdp, 2, grid=[2, 5, 7])
    policy = uniform(simulation)
    first, second = rollout(simulation, policy, 3), rollout(simulation, policy, 4)
    assert first.states.tolist() == [[1, 0, 1]] * 2
    assert second.states.tolist() == [[0, 1, 0, 1]] * 2
    assert (first.part_ends.tolist(), second.part_ends.tolist()) == ([2, 3], [2, 4])
    assert first.reward_sums.tolist() == [[11, 10]] * 2
    assert second.reward_sums.tolist() == [[11, 11]] * 2
    assert (first.last_state.tolist(), second.last_state.tolist()) == ([0, 0], [0, 0])


def test_deep_sea_100_costs_no_dense_matrix():
    mdp = deep_sea(100)
    simulation = simulate(mdp, 2)
    tables = simulation.tables
    assert len(tables.successors) == 20_000
    assert Coordinates()(mdp).num_features == 400
    rollout(simulation, uniform(simulation), 100)


@pytest.mark.parametrize("lanes", [1, 4, 6, 13])
def test_runs_that_are_stepped_in_turn_do_not_know_of_each_other(lanes, monkeypatch):
    mdp = access_control(3)
    policy = np.random.default_rng(1).dirichlet(np.ones(2), size=(11, mdp.num_states))
    expected = [rollout(simulator(mdp, OneHot(), 5)([run]), policy[run : run + 1], 300) for run in range(11)]
    monkeypatch.setattr(finite, "LANES", lanes)
    found = rollout(simulate(mdp, 11, seed=5), policy, 300)
    for name in ("states", "actions", "rewards", "last_state", "reward_sums", "streams"):
        alone = np.concatenate([vars(data)[name] for data in expected])
        assert vars(found)[name].tobytes() == alone.tobytes(), name
