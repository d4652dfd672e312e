"""Actions that a finite model forbids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aapi
from aapi.environments import garnet
from aapi.errors import InvalidInput
from aapi.learners import PSRL, UCRL2B, DifferentialQ, OptimisticQ
from aapi.mdp import FiniteMDP, policy_values, solve


def drawn(seed, states=4, actions=3):
    generator = np.random.default_rng(seed)
    allowed = generator.random((states, actions)) < 0.5
    allowed[np.arange(states), generator.integers(actions, size=states)] = True
    return garnet(states, actions, 2, seed=seed), allowed


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_the_optimum_is_that_of_the_allowed_actions(seed):
    model, allowed = drawn(seed)
    solution = solve(FiniteMDP(model.transitions, model.rewards, allowed=allowed))
    assert allowed[np.arange(4), solution.policy].all()
    choices = np.stack(np.meshgrid(*[np.flatnonzero(row) for row in allowed]), axis=-1).reshape(-1, 4)
    best = max(policy_values(model, policy).gains[0] for policy in choices)
    assert solution.gains[0] == pytest.approx(best)


def test_what_is_given_for_forbidden_actions_does_not_matter():
    model, allowed = drawn(7)
    rows, rewards = np.array(model.transitions), np.array(model.rewards)
    rows[~allowed], rewards[~allowed] = 0.0, 1e6
    restricted = FiniteMDP(rows, rewards, reward_spread=abs(rewards), allowed=allowed)
    assert solve(restricted).gain == solve(FiniteMDP(model.transitions, model.rewards, allowed=allowed)).gain
    assert restricted.reward_spread.max() < 10.0


def test_rewards_by_successor_and_files_keep_what_is_allowed(tmp_path):
    model, allowed = drawn(9)
    rewards = np.random.default_rng(0).random((4, 3, 4))
    restricted = FiniteMDP(model.transitions, rewards, allowed=allowed)
    restricted.save(tmp_path / "model.npz")
    read = FiniteMDP.load(tmp_path / "model.npz")
    assert (read.allowed == allowed).all()
    assert (read.scaled(2.0).allowed == allowed).all()
    assert solve(read).gain == solve(restricted).gain


@pytest.mark.parametrize("algorithm", [aapi.AAPI(), DifferentialQ(), UCRL2B(), PSRL(), OptimisticQ()], ids=repr)
def test_policies_learnt_have_nothing_forbidden(algorithm):
    model, allowed = drawn(11)
    restricted = FiniteMDP(model.transitions, model.rewards, allowed=allowed)
    result = aapi.run(algorithm, restricted, num_steps=3000, num_runs=2)
    for policies in (result.final_policy, result.next_policy):
        assert (policies[:, ~allowed] == 0.0).all()
        assert policies.sum(axis=2) == pytest.approx(1.0)


def test_wrong_shapes_are_said():
    model, _ = drawn(1)
    with pytest.raises(InvalidInput, match="allowed must be true or false for each of"):
        FiniteMDP(model.transitions, model.rewards, allowed=np.ones((4, 3)))
