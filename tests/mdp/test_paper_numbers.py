"""The recomputed facts about the paper's problems, to the digits they are published with."""

import numpy as np
import pytest

from aapi.environments import access_control, deep_sea, ergodic, river_swim
from aapi.mdp import induced_chain, mismatch, optimal_mismatch, policy_values, solve

# (n, A), λ_*, action 0 iff paper-state ≤, always 0, uniform, never, t_mix uniform/optimal/always, ρ, 1/min μ_*
ERGODIC = [
    (5, 2, 0.306735, 3, 0.265806, 0.196280, 1 / 6, (3, 4, 6), 12.33, 7.07),
    (10, 2, 0.210478, 4, 0.143922, 0.099062, 1 / 11, (3, 5, 10), 40.73, 14.71),
    (20, 5, 0.140885, 6, 0.069252, 0.048149, 1 / 21, (2, 7, 19), 120.50, 31.60),
    (50, 10, 0.079256, 9, 0.023764, 0.019647, 1 / 51, (1, 10, 20), 410.26, 75.75),
]


@pytest.mark.parametrize("row", ERGODIC, ids=lambda row: f"{row[0]}x{row[1]}")
def test_ergodic(row):
    n, actions, gain, threshold, always, uniform, never, mixing, rho, rho_optimal = row
    mdp = ergodic(n, actions)
    solution = solve(mdp)
    assert round(solution.gain, 6) == gain
    # The paper's state is ours plus one; in its state 1 all actions are alike.
    assert ((solution.policy == 0)[1:] == (np.arange(2, n + 1) <= threshold)).all()
    evenly = np.full((n, actions), 1 / actions)
    zeros, ones = np.zeros(n, dtype=int), np.ones(n, dtype=int)
    assert round(policy_values(mdp, zeros).gain, 6) == always
    assert round(policy_values(mdp, evenly).gain, 6) == uniform
    assert policy_values(mdp, ones).gain == pytest.approx(never, rel=1e-12)
    assert tuple(induced_chain(mdp, p).mixing_time for p in (evenly, solution.policy, zeros)) == mixing
    assert round(mismatch(mdp), 2) == rho
    assert round(optimal_mismatch(solution), 2) == rho_optimal


@pytest.mark.parametrize("size", [2, 3, 4, 5, 10, 11, 20, 21, 30])
def test_deep_sea(size):
    mdp = deep_sea(size)
    assert solve(mdp).gain == pytest.approx(1.5 - (size % 2) / (2 * size), abs=1e-12)
    assert policy_values(mdp, np.ones(size**2, dtype=int)).gain == pytest.approx(1.0, abs=1e-12)
    left = policy_values(mdp, np.zeros(size**2, dtype=int))
    assert left.gain == pytest.approx(0.0, abs=1e-12)
    assert left.chain.period == size
    uniform = policy_values(mdp, np.full((size**2, 2), 0.5))
    assert uniform.gain == pytest.approx(2 / size - 0.5, abs=1e-12)


def test_river_swim_and_access_control():
    assert round(solve(river_swim(6)).gain, 6) == 0.428622
    assert round(solve(river_swim(12)).gain, 6) == 0.428571
    assert round(solve(access_control()).gain, 6) == 2.747642
