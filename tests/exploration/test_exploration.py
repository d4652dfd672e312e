"""Exploration: when, where, and at what price."""

import numpy as np
import pytest
from support import dense_transitions

import aapi
from aapi.batch import simulator
from aapi.environments import access_control, deep_sea, ergodic, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo, SelfConsistent
from aapi.exploration import Discovery, FewestVisits, PosteriorSampling, UniformShare
from aapi.exploration.discovery import novelty
from aapi.exploration.planning import plan
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.memory import Counts, CountTransitions
from aapi.memory.model import average_probabilities

ALL = (Discovery(), FewestVisits(), PosteriorSampling(), UniformShare())


def explored(mdp, part, stretches, steps=50, runs=4, seed=1):
    """Counts after some stretches in which nothing is done but to explore, and the policies of the last."""
    simulation = simulator(mdp, None, seed)(range(runs))
    counts = CountTransitions().start(simulation)
    policies = np.full(simulation.shape, 1.0 / mdp.num_actions)
    free = np.ones(runs, dtype=bool)
    for _ in range(stretches):
        counts.add(simulation.rollout(policies, steps), policies)
        counts.explored += steps * ~free
        policies, free = np.full(simulation.shape, 1.0 / mdp.num_actions), np.ones(runs, dtype=bool)
        part(simulation, counts, free, policies)
    return counts, policies, free


def known_model(mdp):
    """Counts as if every transition had been seen as often as its probability says."""
    counts = Counts((1, mdp.num_states, mdp.num_actions))
    transitions = dense_transitions(mdp)
    pairs, successors = np.nonzero(transitions.reshape(-1, mdp.num_states))
    counts.pairs, counts.successors = (array[None].astype(np.int32) for array in (pairs, successors))
    counts.times = 1e6 * transitions.reshape(-1, mdp.num_states)[pairs, successors][None]
    counts.sizes[:] = len(pairs)
    counts.visits[:], counts.seen[:] = 1e6, True
    return counts


@pytest.mark.parametrize(
    "mdp", [ergodic(10, 2), deep_sea(6), river_swim(6), access_control(3), garnet(20, 3, 4)],
    ids=["ergodic", "deep-sea", "river", "queue", "garnet"],
)  # fmt: skip
def test_plans_are_optimal_in_a_model_that_is_known(mdp):
    counts, policies = known_model(mdp), np.empty((1, mdp.num_states, mdp.num_actions))
    gains = plan(counts, np.array([0]), average_probabilities(counts), mdp.rewards[None], None, policies)
    best = solve(mdp).gains[0]
    spread = np.ptp(mdp.rewards)
    assert gains[0] == pytest.approx(best, abs=2e-3 * spread)
    assert policy_values(mdp, policies[0]).gains[0] == pytest.approx(best, abs=2e-3 * spread)


def test_novelty_by_hand():
    counts = Counts((1, 2, 3))
    counts.visits[0] = [[0, 1, 2], [3, 4, 100]]
    counts.tries[0, 1:5], counts.finds[0, 1:5] = [5, 4, 1, 0], [5, 1, 0, 0]
    # For the fourth visit, of which nothing is known, 1/4 would be the guess; so it is for the fifth, 1/5.
    assert novelty(counts)[0].tolist() == [[1.0, (1 + 1) / (2 + 4), (1 + 0) / (3 + 1)], [1 / 4, 1 / 5, 0.0]]
    counts.tries[0, 2], counts.finds[0, 2] = 98, 0  # second visits hardly ever find anything: nor do later ones
    assert novelty(counts)[0].tolist() == [[1.0, 0.01, 0.01], [0.01, 0.01, 0.0]]


def test_what_cannot_be_reached_is_not_waited_for():
    # From the start, 0, both actions may lead to 1, which is left no more: action 1 in 0 may never be tried.
    transitions = np.zeros((2, 2, 2))
    transitions[:, :, 1] = 1.0
    counts, policies, free = explored(aapi.FiniteMDP(transitions, np.zeros((2, 2))), Discovery(), 20)
    assert (counts.visits[:, 0].sum(axis=1) == 1).all()
    assert free.all()
    assert (policies == 0.5).all()


def test_where_all_is_certain_every_pair_is_tried_and_that_is_that():
    counts, _, free = explored(deep_sea(8), Discovery(), 60)
    assert (counts.visits.min(axis=(1, 2)) >= 1).all()
    assert free.all()  # nothing more to be found
    spent = counts.explored
    assert (spent > 0).all()
    assert (spent < 60 * 50).all()


def test_the_far_end_of_a_river_is_found_by_discovery_and_not_at_random():
    reward = river_swim(12).rewards[-1, 1]
    found, _, _ = explored(river_swim(12), Discovery(), 40)
    assert (found.highest == reward).all()
    at_random, _, _ = explored(river_swim(12), UniformShare(share=1.0), 40)
    assert (at_random.highest < reward).all()


@pytest.mark.parametrize("part", [FewestVisits(budget=0.5), PosteriorSampling(budget=0.5)], ids=["fewest", "posterior"])
def test_budgets_are_kept(part):
    counts, _, _ = explored(ergodic(5, 2), part, 100)
    limit = 0.5 * np.sqrt(counts.steps * 10)
    assert (counts.explored < limit + 50).all()
    assert (counts.explored > limit - 50).all()


def test_the_least_visited_are_visited():
    counts, _, _ = explored(river_swim(6), FewestVisits(budget=100.0), 60)
    at_random, _, _ = explored(river_swim(6), UniformShare(share=1.0), 60)
    assert (counts.visits.min(axis=(1, 2)) > 5 * at_random.visits.min(axis=(1, 2))).all()


def test_what_little_is_left_possible_is_nearly_optimal():
    mdp = ergodic(6, 2)
    counts, _, _ = explored(mdp, UniformShare(share=1.0), 400)
    counts.explored[:] = 0
    simulation = simulator(mdp, None, 9)(range(4))
    policies, free = np.full(simulation.shape, 0.5), np.array([True, True, True, False])
    PosteriorSampling()(simulation, counts, free, policies)
    assert not free.any()
    for run in range(3):
        assert policy_values(mdp, policies[run]).gain > 0.98 * solve(mdp).gain
    assert (policies[3] == 0.5).all()  # it was not asked


@pytest.mark.parametrize("part", ALL, ids=lambda part: type(part).__name__)
def test_runs_do_not_notice_each_other(part):
    mdp = garnet(12, 3, 3)
    together, policies, _ = explored(mdp, part, 8)
    simulation = simulator(mdp, None, 1)([2])
    counts = CountTransitions().start(simulation)
    own, free = np.full(simulation.shape, 1.0 / 3.0), np.ones(1, dtype=bool)
    for _ in range(8):
        counts.add(simulation.rollout(own, 50), own)
        counts.explored += 50 * ~free
        own, free = np.full(simulation.shape, 1.0 / 3.0), np.ones(1, dtype=bool)
        part(simulation, counts, free, own)
    assert (counts.visits[0] == together.visits[2]).all()
    assert (own[0] == policies[2]).all()


def test_exploration_leaves_the_sums_of_algorithm_1_alone():
    """Its stretches are not evaluated, and the index is made of the evaluated phases alone."""
    algorithm = aapi.AAPI(phase_length=100, evaluate=SelfConsistent(), norm="span", exploration=ALL[:2])
    result = aapi.run(algorithm, river_swim(6), 2000, 3, record=True)
    record = result.record
    assert np.diff(result.phase_ends, prepend=0).tolist()[:5] == [100, 50, 100, 50, 100]
    assert record.evaluated.tolist()[:5] == [True, False, True, False, True]
    assert (record.weights == 1.0).all()
    assert (result.explored > 0).all()
    index = record.q_hats.sum(axis=1) + record.predictions[:, -1]
    scaled = index / record.temperatures[:, -1][..., None]
    expected = np.exp(scaled - scaled.max(axis=2, keepdims=True))
    assert result.next_policy == pytest.approx(expected / expected.sum(axis=2, keepdims=True))


@pytest.mark.parametrize("change", [lambda r: 2.0**12 * r, lambda r: r + 2.0**12], ids=["scaled", "shifted"])
@pytest.mark.parametrize("part", ALL, ids=lambda part: type(part).__name__)
def test_what_all_rewards_share_changes_nothing(part, change):
    states = np.arange(20)
    transitions = np.zeros((20, 2, 20))
    transitions[:, 0, 0] = transitions[states, 1, np.minimum(states + 1, 19)] = 1.0
    rewards = np.ones((20, 2))  # all the same, until the last state is found
    rewards[-1, 1] = 2.0
    one, other = (explored(FiniteMDP(transitions, each), part, 6) for each in (rewards, change(rewards)))
    assert (one[0].visits == other[0].visits).all()
    assert (one[1] == other[1]).all()


def test_wrong_arguments_are_one_line():
    for part, message in (
        (Discovery(threshold=0.0), "threshold must be a finite number larger than 0"),
        (FewestVisits(budget=-1.0), "budget must be a finite number at least 0"),
        (PosteriorSampling(prior=0.0), "prior must be a finite number larger than 0"),
        (UniformShare(share=float("inf")), "share must be a finite number at least 0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            aapi.AAPI(phase_length=50, evaluate=MonteCarlo(horizon=5), exploration=(part,)).check()
