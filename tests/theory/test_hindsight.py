"""Regret against the best fixed policy in hindsight: by brute force, by its parts, and how it grows."""

import itertools

import numpy as np
import pytest

import aapi
from aapi import theory
from aapi.environments import ChangingRewards, against_the_leader, ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import ExactQ, MonteCarlo
from aapi.presets import problem_settings
from aapi.registry.algorithms import make_algorithm
from aapi.registry.problems import make_problem
from aapi.report.theory_figures import write_growth_figure

MDP = ergodic(3, 2)
TABLES = np.random.default_rng(2).uniform(size=(6, 3, 2))


def irregular(phase, time, space):
    return 20 + 7 * phase


def gain(policy, rewards):
    """λ_π(r) by the stationary distribution, for probabilities (states, actions)."""
    chain = np.einsum("xa,xay->xy", policy, MDP.transitions)
    mu = np.linalg.lstsq(np.vstack([chain.T - np.eye(3), np.ones(3)]), np.array([0.0, 0, 0, 1]), rcond=None)[0]
    return mu @ (policy * rewards).sum(axis=1)


def best_total(lengths, tables):
    """max_π Σ_k τ_k λ_π(r_k), over all deterministic policies, and the best one."""
    every = [np.eye(2)[list(actions)] for actions in itertools.product(range(2), repeat=3)]
    return max((sum(t * gain(p, r) for t, r in zip(lengths, tables, strict=True)), p.tolist()) for p in every)


@pytest.mark.parametrize("reacting", [False, True])
def test_regret_is_that_of_brute_force_over_all_policies(reacting):
    def react(phase, policies):
        return TABLES[(phase + int(10 * policies[-1][0, 0])) % 6]

    problem = ChangingRewards(MDP, react if reacting else TABLES)
    learner = aapi.Politex(phase_length=irregular, evaluate=MonteCarlo(horizon=4), eta=1.0)
    grid = [5, 27, 28, 100, 400]
    result = aapi.run(learner, problem, 400, 3, record=True, grid=grid)
    found, lengths = theory.hindsight(result), np.diff(result.phase_ends, prepend=0)
    for run in range(3):
        tables = result.record.reward_tables[run]
        for place, step in enumerate(grid):
            so_far = np.diff(np.minimum(result.phase_ends, step), prepend=0)
            expected = best_total(so_far, tables)[0] - result.cumulated[run, place]
            assert result.regret[run, place] == pytest.approx(expected, abs=1e-8)
        total, policy = best_total(lengths, tables)
        assert found.against[run].policy.tolist() == policy
        assert found.regret[run].sum() == pytest.approx(result.regret[run, -1])
        gains = [gain(p, r) for p, r in zip(result.record.policies[run], tables, strict=True)]
        assert found.gains[run] == pytest.approx(np.array(gains))
        assert found.gain_regret[run].sum() == pytest.approx(total - lengths @ gains)


@pytest.fixture(scope="module", params=["against-the-leader", "against-the-policy"])
def compared(request):
    """The three of `aapi theory`, with its settings: exact Q, phases of 100 steps."""
    problem = make_problem(request.param, {})
    learners = {
        name: make_algorithm(name, {}, problem_settings(request.param, problem, name))[0]
        for name in ("greedy", "aapi-paper", "politex")
    }
    return problem, learners, theory.hindsight_growth(learners, problem, 100 * 512, 20)


def test_greedy_policies_lose_to_rewards_that_turn_against_them_and_averages_do_not(compared):
    problem, learners, found = compared
    exponents = {name: growth.exponent for name, growth in found.growth.items()}
    assert 0.95 <= exponents["greedy"].lower <= exponents["greedy"].upper <= 1.05
    for name in ("aapi-paper", "politex"):
        assert 0.3 <= exponents[name].lower <= exponents[name].upper <= 0.6
    lost = theory.hindsight(aapi.run(learners["greedy"], problem, 10_000, record=True))
    assert lost.gains[0, 1:] == pytest.approx(0.1)  # the wrong state in every phase but the first, which is uniform
    assert lost.best_gains[0, 1:].mean() == pytest.approx(0.5, abs=0.01)


def test_growth_is_that_of_the_parts_by_themselves(compared):
    problem, learners, found = compared
    assert not found.refused
    steps = theory.doublings(100 * 512, 7)
    grown = theory.regret_growth(learners["politex"], problem, steps, num_runs=20, power=0.0)
    assert (grown.regrets == found.growth["politex"].regrets).all()
    exact = theory.hindsight(aapi.run(learners["politex"], problem, 100 * 512, 20, record=True)).gain_regret.sum(axis=1)
    assert found.gain_regret["politex"].mean == pytest.approx(exact.mean())


def test_an_algorithm_without_regret_is_refused_and_the_others_are_not():
    learners = {"uniform": aapi.learners.Uniform(), "greedy": aapi.GreedyAPI(phase_length=100, evaluate=ExactQ())}
    found = theory.hindsight_growth(learners, against_the_leader(), 6400, 1, seed=3)
    assert "greedy" in found.growth
    assert set(found.growth) | set(found.refused) == set(found.gain_regret) == {"uniform", "greedy"}
    assert all("not positive for all T" in why for why in found.refused.values())


def test_explorations_are_in_it():
    result = aapi.run(aapi.AAPI(), against_the_leader(), 3000, record=True)
    found = theory.hindsight(result)
    assert result.explored[0] > 0
    assert found.gain_regret.shape == (1, len(result.phase_ends))
    assert found.regret.sum() == pytest.approx(result.regret[0, -1])


def test_growth_is_drawn(tmp_path):
    learner = aapi.GreedyAPI(phase_length=20, evaluate=ExactQ())
    growth = theory.regret_growth(learner, against_the_leader(), [400, 800], num_runs=4, power=0.0)
    for panels in ({"in turn": {"greedy": growth}}, {"one": {"greedy": growth}, "two": {"greedy": growth}}):
        (path,) = write_growth_figure(panels, tmp_path / f"growth-{len(panels)}", formats=("svg",))
        assert ("greedy: T^1.0" in path.read_text()) == (len(panels) == 1)


def test_what_is_missing_is_said_in_one_line():
    learner = aapi.AAPI(phase_length=100, evaluate=ExactQ())
    with pytest.raises(InvalidInput, match=r"^the result has no record of its phases: use aapi.run\(…, record=True\)$"):
        theory.hindsight(aapi.run(learner, against_the_leader(), 1000))
    with pytest.raises(InvalidInput, match="hindsight is for problems whose rewards change"):
        theory.hindsight(aapi.run(learner, MDP, 1000, record=True))
    with pytest.raises(InvalidInput, match="rewards of this problem change from phase to phase"):
        theory.analyse(aapi.run(learner, against_the_leader(), 1000, record=True))
