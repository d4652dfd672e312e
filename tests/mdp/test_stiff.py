"""Rare transitions, large penalties, drifting queues: where floating point goes wrong first. Truth is by fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from support import linear_program_gains

from aapi.environments import river_swim
from aapi.errors import DoesNotExist
from aapi.mdp import Chain, FiniteMDP, mismatch, policy_values, solve

TINY = [1e-6, 1e-9, 1e-12, 1e-16, 1e-17, 1e-300]


def exact_gains(mdp):
    """max over deterministic policies of the gain, by rational arithmetic on the model as it is stored."""
    n = mdp.num_states
    rows = mdp.transitions.toarray() if mdp.is_sparse else mdp.transitions.reshape(-1, n)
    exact = [[Fraction(float(p)) for p in row] for row in rows]
    exact = [[p / sum(row) for p in row] for row in exact]
    best = [None] * n
    for policy in itertools.product(range(mdp.num_actions), repeat=n):
        matrix = [exact[x * mdp.num_actions + a] for x, a in enumerate(policy)]
        rewards = [Fraction(float(mdp.rewards[x, a])) for x, a in enumerate(policy)]
        for x, gain in enumerate(_chain_gains(matrix, rewards)):
            best[x] = gain if best[x] is None else max(best[x], gain)
    return best


def _chain_gains(p, r):
    n = len(p)
    chain = Chain(
        np.array([[float(q > 0) for q in row] for row in p]) / np.array([[sum(q > 0 for q in row)] for row in p])
    )
    gains = [None] * n
    for states in chain.recurrent_classes:
        # μ (I − P) = 0 with μ·1 = 1 on the class.
        k = len(states)
        a = [[(Fraction(int(i == j)) - p[x][y]) for i, x in enumerate(states)] for j, y in enumerate(states)]
        a[-1] = [Fraction(1)] * k
        mu = _solve(a, [Fraction(0)] * (k - 1) + [Fraction(1)])
        for x in states:
            gains[x] = sum(m * r[y] for m, y in zip(mu, states, strict=True))
    rest = [int(x) for x in chain.transient_states]
    if rest:
        a = [[Fraction(int(x == y)) - p[x][y] for y in rest] for x in rest]
        b = [sum(p[x][y] * gains[y] for y in range(n) if gains[y] is not None) for x in rest]
        for x, g in zip(rest, _solve(a, b), strict=True):
            gains[x] = g
    return gains


def _solve(a, b):
    n = len(b)
    rows = [[*row, value] for row, value in zip(a, b, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [v - rows[i][k] * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


@st.composite
def stiff_models(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states, actions = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    transitions = np.zeros((states, actions, states))
    for x, a in np.ndindex(states, actions):
        weights = 10.0 ** -random.choice([0, 0, 0, 3, 9, 12, 14], size=states) * (random.random(states) < 0.7)
        weights[random.integers(states)] += 1.0
        transitions[x, a] = weights / weights.sum()
    rewards = random.choice([0.0, 1.0, 0.5, 1 + 1e-9, -1.0, -1e6, 100.0], size=(states, actions))
    return FiniteMDP(transitions, rewards)


@given(stiff_models())
def test_the_certificate_holds_the_exact_gain(mdp):
    solution = solve(mdp)
    for low, exact, high in zip(solution.gains_lower, exact_gains(mdp), solution.gains_upper, strict=True):
        assert Fraction(float(low)) <= exact <= Fraction(float(high))
    # Where the bias is 10¹² times the rewards, the certificate is as wide as its rounding. Then the gain is that of the
    # policy or, where that could be far from the best, an error; never a guess.
    scale = max(1e-300, np.abs(mdp.rewards[np.arange(mdp.num_states), solution.policy]).max())
    if (solution.gains_upper - solution.gains_lower).max() <= 1e-6 * scale:
        assert solution.gains == pytest.approx(np.array([float(g) for g in exact_gains(mdp)]), abs=1e-11 * scale)
    else:
        with pytest.raises(DoesNotExist, match="could not be certified"):
            _ = solution.gains


@pytest.mark.parametrize("p", TINY)
@pytest.mark.parametrize("form", [np.asarray, lambda t: scipy.sparse.csr_array(np.reshape(t, (-1, 2)))])
def test_two_states_that_hardly_ever_swap(p, form):
    mdp = FiniteMDP(form([[[1 - p, p]], [[2 * p, 1 - 2 * p]]]), [[0.0], [3.0]])
    assert solve(mdp).gain == pytest.approx(1.0, abs=1e-14)
    chain = policy_values(mdp, [0, 0]).chain
    assert chain.stationary_distribution == pytest.approx([2 / 3, 1 / 3], rel=1e-14)
    assert chain.hitting_times(1)[0] == pytest.approx(1 / p, rel=1e-14)


@pytest.mark.parametrize("p", TINY)
def test_a_rare_chance_of_something_better_is_taken(p):
    mdp = FiniteMDP([[[1, 0], [1 - p, p]], [[1, 0], [0, 1]]], [[0.5, -1], [2, 2]])
    assert solve(mdp).gains == pytest.approx([2.0, 2.0], abs=1e-13)


def test_a_large_penalty_elsewhere_hides_no_difference():
    transitions = np.zeros((6, 2, 6))
    transitions[0, 0, 1] = transitions[0, 1, 2] = 1
    transitions[1, :, 1] = transitions[2, :, 2] = transitions[3, :, 0] = transitions[4, :, 5] = transitions[5, :, 4] = 1
    for penalty, better in ((-1e9, 0.5001), (-1e12, 1.0)):
        rewards = [[1000, 0], [0.5, 0.5], [better, better], [penalty, 0], [100, 100], [-100, -100]]
        gains = solve(FiniteMDP(transitions, rewards)).gains
        assert gains == pytest.approx([better, 0.5, better, better, 0, 0], abs=1e-11)


@pytest.mark.parametrize("n", [60, 100, 150])
def test_a_queue_that_drifts_either_way(n):
    transitions = np.zeros((n, 2, n))
    for i, (a, (up, down)) in itertools.product(range(n), enumerate(((0.05, 0.35), (0.35, 0.05)))):
        if i + 1 < n:
            transitions[i, a, i + 1] = up
        if i:
            transitions[i, a, i - 1] = down
        transitions[i, a, i] = 1 - transitions[i, a].sum()
    for seed in range(3):
        mdp = FiniteMDP(transitions, np.random.default_rng(seed).random((n, 2)))
        assert solve(mdp).gains == pytest.approx(linear_program_gains(mdp), abs=1e-8)


def test_hitting_times_of_any_size_are_right():
    n, up, down = 40, 0.05, 0.35
    transitions = np.diag(np.full(n - 1, up), 1) + np.diag(np.full(n - 1, down), -1)
    transitions += np.diag(1 - transitions.sum(axis=1))
    step = total = 1 / Fraction(up)
    for _ in range(n - 2):
        step = (1 + Fraction(down) * step) / Fraction(up)
        total += step
    assert Chain(transitions).hitting_times(n - 1)[0] == pytest.approx(float(total), rel=1e-12)


def test_one_policy_has_a_mismatch_however_large():
    swim_right = river_swim(30)
    mdp = FiniteMDP(scipy.sparse.csr_array(swim_right.transitions[1::2]), np.zeros((30, 1)))
    weights = policy_values(mdp, np.zeros(30, dtype=int)).stationary_distribution
    assert mismatch(mdp) == pytest.approx(1 / weights.min(), rel=1e-12)
    assert weights.min() < 1e-20


def test_a_gain_of_zero_in_two_classes_is_one_gain():
    random = np.random.default_rng(0)
    for _ in range(50):
        transitions = np.zeros((4, 1, 4))
        transitions[:2, 0, :2] = random.dirichlet([1, 1], size=2)
        transitions[2:, 0, 2:] = random.dirichlet([1, 1], size=2)
        v = random.random(4)
        mdp = FiniteMDP(transitions, (v - transitions[:, 0] @ v)[:, None])
        assert policy_values(mdp, np.zeros(4, dtype=int)).gain == pytest.approx(0, abs=1e-14)
        assert solve(mdp).gain == pytest.approx(0, abs=1e-14)


def test_a_wide_certificate_is_no_gain():
    from aapi.mdp import Solution

    mdp = FiniteMDP(np.ones((1, 1, 1)), [[1.0]])
    wide = Solution(mdp, np.array([0]), np.array([0.5]), np.array([1.5]))
    with pytest.raises(DoesNotExist, match=r"could not be certified: from state 0 it lies between 0.5 and 1.5"):
        _ = wide.gain


@pytest.mark.parametrize("n", [3, 5, 7, 9, 51, 450])
@pytest.mark.parametrize("gain", [1.0, 0.1, 1 / 3])
def test_a_fair_game_between_two_ends(n, gain):
    # Gambler's ruin: gains −g and g at the ends, and in the middle their mean, nought.
    transitions = np.zeros((n + 2, 1, n + 2))
    transitions[0, 0, 0] = transitions[-1, 0, -1] = 1.0
    for x in range(1, n + 1):
        transitions[x, 0, [x - 1, x + 1]] = 0.5
    rewards = np.zeros((n + 2, 1))
    rewards[[0, -1], 0] = -gain, gain
    solution = solve(FiniteMDP(transitions, rewards))
    exact = np.linspace(-gain, gain, n + 2)
    assert solution.gains == pytest.approx(exact, abs=1e-11)
    assert (solution.gains_lower <= exact + 1e-15).all()
    assert (solution.gains_upper >= exact - 1e-15).all()


@pytest.mark.parametrize("leak", [1e-10, 1e-12])
def test_many_states_that_are_hardly_ever_left(leak):
    n = 450  # more than are solved by state reduction
    transitions = np.zeros((n + 2, 1, n + 2))
    transitions[:n, 0, :n] = np.random.default_rng(0).random((n, n))
    transitions[:n, 0] /= transitions[:n, 0].sum(axis=1, keepdims=True)
    transitions[:n, 0, n], transitions[:n, 0, n + 1] = leak, 2 * leak
    transitions[:n, 0] /= transitions[:n, 0].sum(axis=1, keepdims=True)
    transitions[n, 0, n] = transitions[n + 1, 0, n + 1] = 1.0
    rewards = np.zeros((n + 2, 1))
    rewards[n] = 1.0
    solution = solve(FiniteMDP(transitions, rewards))
    assert (solution.gains_lower[:n] <= 1 / 3).all()
    assert (solution.gains_upper[:n] >= 1 / 3).all()
    assert solution.gains_upper[0] - solution.gains_lower[0] < 1e-3


def test_rows_that_are_off_by_a_little_more_than_rounding():
    random = np.random.default_rng(0)
    for _ in range(60):
        transitions = random.dirichlet([1.0, 1.0], size=(2, 2)) * (1 + random.uniform(-9e-15, 9e-15, size=(2, 2, 1)))
        mdp = FiniteMDP(transitions, random.uniform(50, 100, size=(2, 2)))
        solution = solve(mdp)
        for low, exact, high in zip(solution.gains_lower, exact_gains(mdp), solution.gains_upper, strict=True):
            assert Fraction(float(low)) <= exact <= Fraction(float(high))


def test_gains_that_differ_are_told_apart_whatever_else_was_possible():
    mdp = FiniteMDP([[[1, 0], [1, 0]], [[0, 1], [0, 1]]], [[0.5, -1e9], [0.505, 0.505]])
    assert solve(mdp).gains == pytest.approx([0.5, 0.505], abs=1e-12)
    with pytest.raises(DoesNotExist, match=r"0.5 on \{0\}, 0.505 on \{1\}"):
        _ = solve(mdp).gain


@pytest.mark.parametrize("step", [1e-4, 1e-7])
def test_a_huge_price_paid_once_hides_no_difference(step):
    mdp = FiniteMDP([[[0, 1]] * 3, [[0, 1], [0, 1], [1, 0]]], [[-1e12] * 3, [0.5, 0.5 + step, 0]])
    assert solve(mdp).gain == pytest.approx(0.5 + step, abs=1e-12)
    assert solve(mdp).policy[1] == 1


def test_the_bias_of_the_policy_is_optimal_in_transient_states_too():
    successors = [[3, 3, 2], [0, 2, 4], [4, 1, 4], [0, 0, 0], [4, 0, 3]]
    rewards = [[-2, -0.6, -1.9], [-0.2, 0.5, 0.7], [0.9, 1.3, -0.8], [-0.3, 0.6, 1.6], [-0.4, -0.1, -0.4]]
    models = [FiniteMDP(np.eye(5)[np.array(successors)], rewards)]
    for seed in range(30):
        random = np.random.default_rng(seed)
        models.append(FiniteMDP(np.eye(30)[random.integers(30, size=(30, 3))], random.normal(size=(30, 3))))
    for mdp in models:
        solution = solve(mdp)
        if np.ptp(solution.gains) == 0.0:
            best = mdp.backup(solution.bias).max(axis=1)
            assert best == pytest.approx(solution.gains + solution.bias, abs=1e-10)


def test_what_overflows_is_told():
    """States that are left once in 10³⁰⁰ steps, with rewards that are no longer finite when multiplied by that."""
    rare = 1e-300
    transitions = [[[1.0 - rare, rare], [0.0, 1.0]], [[1.0, 0.0], [rare, 1.0 - rare]]]
    policy = [[1.0, 0.0], [0.0, 1.0]]
    assert policy_values(FiniteMDP(transitions, [[1.0, 0.0], [0.0, 0.0]]), policy).gain == pytest.approx(0.5)
    with pytest.raises(DoesNotExist, match="too rarely for double precision"):
        policy_values(FiniteMDP(transitions, [[1e20, 0.0], [0.0, 0.0]]), policy)
