"""Regret and its parts: by hand, on every problem and algorithm, and for random models and policies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import models, policies

import aapi
from aapi import theory
from aapi.environments import access_control, cartpole, deep_sea, ergodic, garnet, river_swim
from aapi.errors import DoesNotExist, InvalidInput
from aapi.evaluation import ExactQ, MonteCarlo
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.theory.phases import Phases, without_rare
from aapi.theory.regret import decompose

MC = MonteCarlo(horizon=5)
ALGORITHMS = {
    "aapi": aapi.AAPI(phase_length=50, evaluate=MC),
    "aapi-sampled": aapi.AAPI(phase_length=50, evaluate=MC, num_sampled=3),
    "politex": aapi.Politex(phase_length=50, evaluate=MC),
    "ftrl": aapi.AdaptiveFTRL(phase_length=50, evaluate=MC),
    "greedy": aapi.GreedyAPI(phase_length=50, evaluate=MC),
    "exact": aapi.AAPI(phase_length=50, evaluate=ExactQ()),
    "rlsvi": aapi.RLSVI(phase_length=50, horizon=10),
    "uniform": aapi.learners.Uniform(phase_length=50),
}
PROBLEMS = {
    "ergodic": ergodic(6, 3), "garnet": garnet(8, 2, 3), "river-swim": river_swim(6), "access": access_control(3),
    "deep-sea": deep_sea(4),
}  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_parts_add_up(algorithm, problem):
    mdp = PROBLEMS[problem]
    result = aapi.run(ALGORITHMS[algorithm], mdp, 1030, 3, record=True)  # 30 steps are left over
    found = theory.analyse(result)
    parts = found.decomposition
    assert parts.regret.shape == (3, 21)
    assert parts.total("regret") == pytest.approx(result.regret[:, -1], rel=1e-10, abs=1e-8)
    assert parts.noise + parts.pseudo_regret == pytest.approx(parts.regret, rel=1e-8, abs=1e-8)
    whole = parts.estimation + parts.online_learning + parts.confinement + parts.unevaluated
    scale = np.abs([parts.estimation, parts.online_learning, parts.pseudo_regret]).max()
    assert np.abs(whole - parts.pseudo_regret).max() <= 1e-8 * scale
    assert parts.residual.max() <= 1e-8
    # Independently: the gain of each policy by another solver.
    for run, phase in ((0, 0), (2, 11), (1, 20)):
        values = policy_values(mdp, without_rare(result.record.policies[run, phase]))
        gain = values.gains[result.record.starts[run, phase]]
        length = 30 if phase == 20 else 50
        assert parts.pseudo_regret[run, phase] == pytest.approx(length * (found.against.gain - gain), abs=1e-9 * scale)
    assert (parts.unevaluated[:, : -1 if algorithm != "uniform" else 0] == 0).all()
    if algorithm == "exact":
        assert np.abs(parts.estimation).max() <= 1e-9 * max(scale, 1.0)
        assert found.errors.sup.max() <= 1e-9


def two_states():
    """Stay or go; staying in state 1 pays 1, everything else nothing."""
    stay, go = np.eye(2), np.eye(2)[::-1]
    return FiniteMDP(np.stack([stay, go], axis=1), [[0.0, 0.0], [1.0, 0.0]])


def test_by_hand():
    # π_* goes from 0 and stays in 1: λ_* = 1, μ_* = (0, 1). The uniform policy: λ = ¼, and its Bellman equations,
    # V(0) = −¼ + (V(0) + V(1))/2 and V(1) = ¼ + (V(0) + V(1))/2, give V = (−¼, ¼) and Q(1, ·) = (1, −½).
    mdp = two_states()
    against = theory.make_comparator(mdp)
    assert against.gain == pytest.approx(1.0)
    assert against.distribution == pytest.approx([0.0, 1.0])
    assert against.policy.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    uniform = np.full((1, 2, 2), 0.5)
    q = np.array([[[-0.5, 0.0], [1.0, -0.5]]])
    q_hat = np.array([[[9.0, 9.0], [3.0, 1.0]]])
    phases = Phases(
        lengths=np.array([10]), rewards=np.array([4.0]), policies=uniform, next_policy=uniform[0],
        gains=np.array([0.25]), weighted_gains=np.array([0.25]), unichain=np.array([True]),
        q_values=q, evaluated=np.array([True]), q_hats=q_hat, weights=np.ones(1),
        temperatures=None, surprises=None, predictions=None, reward_scale=1.0,
    )  # fmt: skip
    parts = decompose(phases, against)
    assert parts.regret == pytest.approx([6.0])  # 10 · 1 − 4
    assert parts.noise == pytest.approx([-1.5])  # 10 · ¼ − 4
    assert parts.pseudo_regret == pytest.approx([7.5])
    assert parts.online_learning == pytest.approx([10.0])  # 10 (3 − (3 + 1)/2)
    assert parts.estimation == pytest.approx([-2.5])  # 10 ((1 − 3) − ((1 − 3) + (−½ − 1))/2)
    result = aapi.run(aapi.learners.Uniform(phase_length=10), mdp, 10, record=True)
    assert theory.analyse(result).decomposition.total("pseudo_regret") == pytest.approx([7.5])
    broken = Phases(**{**vars(phases), "gains": np.array([0.3])})
    with pytest.raises(DoesNotExist, match="in phase 1 its parts add up only"):
        decompose(broken, against)


@given(st.data())
def test_any_policies_against_any_other(data):
    """The performance-difference lemma: whatever the model, the policies and the estimates, periodic and multichain."""
    mdp = data.draw(models())
    taken = np.array([data.draw(policies(mdp)) for _ in range(4)])
    against = theory.make_comparator(mdp, data.draw(policies(mdp)))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = [policy_values(mdp, policy) for policy in taken]
    scale = np.abs(mdp.rewards).max() or 1.0
    phases = Phases(
        lengths=np.array([1, 7, 7, 3]), rewards=scale * random.normal(size=4), policies=taken, next_policy=taken[0],
        gains=np.array([each.gains[-1] for each in values]),
        weighted_gains=np.array([each.gains @ against.distribution for each in values]), unichain=np.zeros(4, bool),
        q_values=np.array([each.q_values for each in values]), evaluated=np.array([True, False, True, True]),
        q_hats=scale * random.normal(size=(3, *mdp.rewards.shape)), weights=np.ones(3),
        temperatures=None, surprises=None, predictions=None,
        reward_scale=scale,
    )  # fmt: skip
    parts = decompose(phases, against)  # raises if they do not add up
    assert parts.residual <= 1e-8
    assert (parts.estimation[1], parts.online_learning[1]) == (0.0, 0.0)
    assert parts.unevaluated[1] == parts.pseudo_regret[1]


def test_against_a_policy_with_several_classes():
    """μ_* is where the comparator ends up from the initial state."""
    transitions = np.zeros((4, 1, 4))
    transitions[0, 0, 1:3] = 0.25, 0.75
    transitions[1, 0, 1] = transitions[2, 0, 3] = transitions[3, 0, 2] = 1.0
    mdp = FiniteMDP(transitions, [[0.0], [4.0], [1.0], [3.0]])
    against = theory.make_comparator(mdp)
    assert against.distribution == pytest.approx([0.0, 0.25, 0.375, 0.375])
    assert against.gain == pytest.approx(2.5)
    found = theory.analyse(aapi.run(aapi.AAPI(phase_length=50, evaluate=MC), mdp, 500, 2, record=True))
    assert found.multichain == 20
    # A run ends up in state 1, which pays 4, or in the circle, which pays 2; 2.5 on average.
    pseudo, confined = found.decomposition.pseudo_regret[:, 1:], found.decomposition.confinement[:, 1:]
    assert set(np.round(pseudo.ravel(), 9)) <= {50 * -1.5, 50 * 0.5}
    assert confined == pytest.approx(pseudo)
    assert np.isinf(found.noise.bound(0.05)).all()


def test_against_a_policy_of_the_users():
    mdp = ergodic(5, 2)
    result = aapi.run(ALGORITHMS["aapi"], mdp, 500, 2, record=True)
    against = np.zeros(5, dtype=int)
    parts = theory.analyse(result, against).decomposition
    expected = 500 * policy_values(mdp, against).gain - result.rewards.sum(axis=1)
    assert parts.total("regret") == pytest.approx(expected)
    better = theory.analyse(result).decomposition.total("regret") - parts.total("regret")
    assert better == pytest.approx(500 * (solve(mdp).values.gain - policy_values(mdp, against).gain))


def test_a_few_runs_at_a_time(monkeypatch):
    mdp = ergodic(5, 2)
    whole = theory.analyse(aapi.run(ALGORITHMS["aapi"], mdp, 1000, 5, record=True))
    monkeypatch.setattr("aapi.theory.analysis.RECORDED", 2 * 4 * 20 * 10)
    parts = theory.analysed_runs(ALGORITHMS["aapi"], mdp, 1000, 5)
    for name in theory.PARTS:
        assert (getattr(parts.decomposition, name) == getattr(whole.decomposition, name)).all()
    assert parts.num_runs == 5


def test_what_is_asked_for_in_vain():
    result = aapi.run(ALGORITHMS["aapi"], ergodic(5, 2), 500)
    with pytest.raises(InvalidInput, match="record=True"):
        theory.analyse(result)
    with pytest.raises(InvalidInput, match="no results"):
        theory.analyse([])
    slow = aapi.run(aapi.AAPI(phase_length=200, evaluate=MonteCarlo(horizon=20, ridge=1e3)), cartpole(), 400)
    with pytest.raises(InvalidInput, match="finite model"):
        theory.analyse(slow)
    short = theory.analyse(aapi.run(ALGORITHMS["aapi"], ergodic(5, 2), 20, 2, record=True))
    assert short.errors.sup.shape == (2, 0)
    assert short.refused["online_learning"].endswith("no phase was evaluated")
    assert short.decomposition.total("unevaluated") == pytest.approx(short.decomposition.total("pseudo_regret"))


def test_actions_that_are_next_to_never_taken_are_left_out():
    """Who goes once in 10³⁰⁰ steps, stays: then the gain depends on the state. Once in 10⁸ is something else."""
    mdp = two_states().scaled(1e20)
    result = aapi.run(aapi.learners.Uniform(phase_length=5), mdp, 15, record=True)
    result.record.policies[0, 1] = [[1.0, 1e-300], [1.0, 1e-300]]
    result.record.policies[0, 2] = [[1.0 - 1e-8, 1e-8], [1.0 - 1e-8, 1e-8]]
    found = theory.analyse(result)
    assert found.multichain == 1
    parts = found.decomposition
    stays = [5e20, 0.0][int(result.record.starts[0, 1])]  # staying pays nothing in state 0, and all in state 1
    assert parts.pseudo_regret[0] == pytest.approx([3.75e20, stays, 2.5e20], rel=1e-6)
    assert parts.residual.max() <= 1e-8


def test_policies_that_lead_no_further_are_stiff():
    """There Q is of the size 10⁸, and the identity tells the estimation; elsewhere it is checked."""
    mdp = two_states()
    result = aapi.run(aapi.AAPI(phase_length=5, evaluate=MonteCarlo(horizon=2)), mdp, 15, record=True)
    result.record.policies[0, 1] = [[1.0 - 1e-8, 1e-8], [1.0 - 1e-8, 1e-8]]
    parts = theory.analyse(result).decomposition
    assert parts.stiff.tolist() == [[False, True, False]]
    assert parts.estimation + parts.online_learning == pytest.approx(parts.pseudo_regret, rel=1e-9)


def test_constant_rewards():
    """Everything is 0, and rounding is not taken for a violated identity."""
    mdp = FiniteMDP(garnet(6, 2, 3).transitions, np.full((6, 2), 0.7))
    for algorithm in ("aapi", "exact", "rlsvi"):
        found = theory.analyse(aapi.run(ALGORITHMS[algorithm], mdp, 1000, 2, record=True))
        assert found.decomposition.total("regret") == pytest.approx(0.0, abs=1e-9)
        assert all(
            check.holds for check in theory.check_bounds(found, theory.constants(mdp)) if check.bound is not None
        )
