"""Exploration: when, where, and at what price."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from experience import assert_same, outcome, rollout, uniform
from support import dense_transitions

import aapi
from aapi.batch import simulator, space_of
from aapi.environments import access_control, cartpole, deep_sea, ergodic, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo, SelfConsistent
from aapi.exploration import (
    Discovery,
    Excursion,
    Exploration,
    FewestVisits,
    PosteriorSampling,
    Situation,
    UniformShare,
    as_exploration,
)
from aapi.exploration.discovery import novelty
from aapi.exploration.planning import plan
from aapi.exploration.survey import Outlook, Survey
from aapi.features import Fourier
from aapi.kernels.random import streams
from aapi.learners import Session
from aapi.learners.state import restored, stored
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.memory import Counts, CountTransitions
from aapi.memory.counts import no_counts
from aapi.memory.model import average_probabilities

ALL = (Discovery(), FewestVisits(), PosteriorSampling(), UniformShare())


@dataclass
class Explored:
    """counts: of all stretches. steps: spent on exploration. policies: of the next stretch; exploring: who explores."""

    counts: Counts
    steps: np.ndarray
    policies: np.ndarray
    exploring: np.ndarray


def explored(mdp, part, stretches, steps=50, runs=range(4), seed=1):
    """Some stretches in which nothing is done but to explore; runs that are not sent out act at random."""
    simulation = simulator(mdp, None, seed)(runs)
    counts, nobody = CountTransitions().start(simulation.space, len(runs)), np.zeros(len(runs), dtype=bool)
    found = Explored(counts, np.zeros(len(runs), dtype=np.int64), uniform(simulation), nobody)
    for _ in range(stretches):
        found.counts = found.counts.add(rollout(simulation, found.policies, steps), found.policies)
        found.steps = found.steps + steps * found.exploring
        survey = Survey(found.counts, Outlook.start(simulation.space, len(runs)))
        out = part(Situation(found.counts, found.steps, ~nobody, simulation.streams, {}, survey))
        found.policies, found.exploring = uniform(simulation), nobody
        if out is not None:
            found.policies[out.runs], found.exploring = out.policies[out.runs], out.runs
    return found


def known_model(mdp):
    """Counts as if every transition had been seen as often as its probability says."""
    transitions = dense_transitions(mdp)
    pairs, successors = np.nonzero(transitions.reshape(-1, mdp.num_states))
    empty = no_counts((1, mdp.num_states, mdp.num_actions))
    return replace(
        empty,
        pairs=pairs[None].astype(np.int32),
        successors=successors[None].astype(np.int32),
        transition_counts=1e6 * transitions.reshape(-1, mdp.num_states)[pairs, successors][None],
        sizes=np.array([len(pairs)]),
        visits=np.full_like(empty.visits, 1e6),
        seen=np.ones_like(empty.seen),
    )


@pytest.mark.parametrize(
    "mdp", [ergodic(10, 2), deep_sea(6), river_swim(6), access_control(3), garnet(20, 3, 4)],
    ids=["ergodic", "deep-sea", "river", "queue", "garnet"],
)  # fmt: skip
def test_plans_are_optimal_in_a_model_that_is_known(mdp):
    counts = known_model(mdp)
    policies, gains = plan(counts, np.array([0]), average_probabilities(counts), mdp.rewards[None])
    best = solve(mdp).gains[0]
    spread = np.ptp(mdp.rewards)
    assert gains[0] == pytest.approx(best, abs=2e-3 * spread)
    assert policy_values(mdp, policies[0]).gains[0] == pytest.approx(best, abs=2e-3 * spread)


def test_novelty_by_hand():
    counts = no_counts((1, 2, 3))
    counts.visits[0] = [[0, 1, 2], [3, 4, 100]]
    counts.attempts[0, 1:5], counts.discoveries[0, 1:5] = [5, 4, 1, 0], [5, 1, 0, 0]
    # For the fourth visit, of which nothing is known, 1/4 would be the guess; so it is for the fifth, 1/5.
    assert novelty(counts)[0].tolist() == [[1.0, (1 + 1) / (2 + 4), (1 + 0) / (3 + 1)], [1 / 4, 1 / 5, 0.0]]
    counts.attempts[0, 2], counts.discoveries[0, 2] = (
        98,
        0,
    )  # second visits hardly ever find anything: nor do later ones
    assert novelty(counts)[0].tolist() == [[1.0, 0.01, 0.01], [0.01, 0.01, 0.0]]


def test_what_cannot_be_reached_is_not_waited_for():
    # From the start, 0, both actions may lead to 1, which is left no more: action 1 in 0 may never be tried.
    transitions = np.zeros((2, 2, 2))
    transitions[:, :, 1] = 1.0
    found = explored(FiniteMDP(transitions, np.zeros((2, 2))), Discovery(), 20)
    assert (found.counts.visits[:, 0].sum(axis=1) == 1).all()
    assert not found.exploring.any()
    assert (found.policies == 0.5).all()


def test_where_all_is_certain_every_pair_is_tried_and_that_is_that():
    found = explored(deep_sea(8), Discovery(), 60)
    assert (found.counts.visits.min(axis=(1, 2)) >= 1).all()
    assert not found.exploring.any()  # nothing more to be found
    assert (found.steps > 0).all()
    assert (found.steps < 60 * 50).all()


def test_the_far_end_of_a_river_is_found_by_discovery_and_not_at_random():
    reward = river_swim(12).rewards[-1, 1]
    assert (explored(river_swim(12), Discovery(), 40).counts.highest == reward).all()
    assert (explored(river_swim(12), UniformShare(share=1.0), 40).counts.highest < reward).all()


@pytest.mark.parametrize("part", [FewestVisits(budget=0.5), PosteriorSampling(budget=0.5)], ids=["fewest", "posterior"])
def test_budgets_are_kept(part):
    found = explored(ergodic(5, 2), part, 100)
    limit = 0.5 * np.sqrt(found.counts.steps * 10)
    assert (found.steps < limit + 50).all()
    assert (found.steps > limit - 50).all()


def test_the_least_visited_are_visited():
    found = explored(river_swim(6), FewestVisits(budget=100.0), 60).counts
    at_random = explored(river_swim(6), UniformShare(share=1.0), 60).counts
    assert (found.visits.min(axis=(1, 2)) > 5 * at_random.visits.min(axis=(1, 2))).all()


def test_what_little_is_left_possible_is_nearly_optimal():
    mdp = ergodic(6, 2)
    counts = explored(mdp, UniformShare(share=1.0), 400).counts
    free, spent, stream = np.array([True, True, True, False]), np.zeros(4, dtype=np.int64), streams(9, range(4))
    before = stream.copy()
    survey = Survey(counts, Outlook.start(space_of(mdp), 4))
    out = PosteriorSampling()(Situation(counts, spent, free, stream, {}, survey))
    assert out.runs.tolist() == [True, True, True, False]
    for run in range(3):
        assert policy_values(mdp, out.policies[run]).gain > 0.98 * solve(mdp).gain
    assert (stream != before).any(axis=1).tolist() == [True, True, True, False]  # the last one was not asked


@pytest.mark.parametrize("part", ALL, ids=lambda part: type(part).__name__)
def test_runs_do_not_notice_each_other(part):
    mdp = garnet(12, 3, 3)
    together, alone = explored(mdp, part, 8), explored(mdp, part, 8, runs=[2])
    assert (alone.counts.visits[0] == together.counts.visits[2]).all()
    assert (alone.policies[0] == together.policies[2]).all()


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
    assert (one.counts.visits == other.counts.visits).all()
    assert (one.policies == other.policies).all()


def test_wrong_arguments_are_one_line():
    for part, message in (
        (Discovery(threshold=0.0), "threshold must be a finite number larger than 0"),
        (FewestVisits(budget=-1.0), "budget must be a finite number at least 0"),
        (PosteriorSampling(prior=0.0), "prior must be a finite number larger than 0"),
        (UniformShare(share=float("inf")), "share must be a finite number at least 0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            aapi.AAPI(phase_length=50, evaluate=MonteCarlo(horizon=5), exploration=(part,)).check()


def acts(situation, action, **how):
    """One action for ever, in all runs."""
    policies = np.zeros_like(situation.counts.visits)
    policies[:, :, action] = 1.0
    return Excursion(np.ones(len(policies), dtype=bool), policies, **how)


def learner(*parts):
    return aapi.AAPI(phase_length=60, evaluate=MonteCarlo(5), exploration=parts)


def at_random(situation):
    return UniformShare(share=1.0)(situation)


class AtRandom:
    """`__call__` alone, and nothing inherited."""

    def __call__(self, situation):
        return at_random(situation)


class AtRandomInStep(Exploration):
    """`__call__` alone, and the rest inherited."""

    def __call__(self, situation):
        return at_random(situation)


@pytest.mark.parametrize(
    "own", [at_random, lambda situation: at_random(situation), AtRandom(), AtRandomInStep()],
    ids=["function", "lambda", "class", "subclass"],
)  # fmt: skip
def test_a_function_or_any_callable_object_is_an_exploration(own):
    found, expected = (outcome(learner(part), river_swim(6)) for part in (own, UniformShare(share=1.0)))
    assert_same(found, expected)
    assert (found.explored == expected.explored).all()
    assert (found.explored > 0).all()


@pytest.mark.parametrize("part", [*ALL, at_random, AtRandom(), AtRandomInStep()], ids=lambda part: type(part).__name__)
def test_no_part_is_asked_where_states_cannot_be_counted(part):
    """Learning is that of the learner alone."""
    found, expected = (outcome(learner(*parts), cartpole(), Fourier(order=1)) for parts in ((part,), ()))
    assert_same(found, expected)
    assert (found.explored == 0).all()


def test_a_function_that_sends_nobody_out_changes_nothing():
    nobody = np.zeros(1, dtype=bool)
    for part in (lambda situation: None, lambda situation: replace(acts(situation, 1), runs=nobody)):
        found = outcome(learner(part), ergodic(5, 2))
        assert_same(found, outcome(learner(), ergodic(5, 2)))
        assert (found.explored == 0).all()


def test_a_part_is_told_what_happened():
    """Before each phase but the first; of all steps, those of explorations among them."""
    told = []

    def part(situation):
        told.append((situation.counts.steps, situation.explored.tolist(), situation.free.tolist()))
        return acts(situation, 1)

    result = outcome(learner(part), ergodic(5, 2), runs=1)
    assert result.phase_ends.tolist()[:4] == [60, 110, 170, 220]
    assert told == [(60 + 110 * k, [50 * k], [True]) for k in range(5)]
    assert result.explored.tolist() == [5 * 50]


def test_a_function_decides_how_long():
    """By a number of steps, or by visits of a pair: here two of the second action in some state."""
    simulation = simulator(ergodic(5, 2))([0])
    for phase in aapi.play(learner(lambda situation: acts(situation, 1, steps=7)), simulation, 300):
        assert phase.data.steps == (60 if phase.exploring is None else 7) or simulation.time == 300

    def until_twice(situation):
        return acts(situation, 1, limits=np.full(situation.counts.visits.shape, 2))

    ends = []
    for phase in aapi.play(learner(until_twice), simulator(ergodic(5, 2))([0]), 600):
        if phase.exploring is not None:
            assert (phase.data.actions == 1).all()
            visits = np.bincount(phase.data.states[0], minlength=5)
            assert np.flatnonzero(visits > 1).tolist() == [phase.data.states[0, -1]]
            assert visits.max() == 2
            ends.append(phase.data.steps)
    assert 2 <= min(ends) <= max(ends) <= 6


def test_whoever_was_sent_out_by_one_part_is_left_alone_by_the_next():
    class First(Exploration):
        def __call__(self, situation):
            assert situation.free.all()
            return replace(acts(situation, 0), runs=np.array([True, False, False]))

    class Second(Exploration):
        def __call__(self, situation):
            assert situation.free.tolist() == [False, True, True]
            return replace(acts(situation, 1), runs=np.array([True, True, False]))

    stretches = 0
    for phase in aapi.play(learner(First(), Second()), simulator(ergodic(5, 2))(range(3)), 660):
        if phase.exploring is not None:
            stretches += 1
            assert phase.exploring.tolist() == [True, True, False]
            assert (phase.data.actions[0] == 0).all()
            assert (phase.data.actions[1] == 1).all()
            assert set(phase.data.actions[2]) == {0, 1}
            assert (phase.policy[2] == phase.next_policy[2]).all()
    assert stretches == 6


@pytest.mark.parametrize("part", [AtRandom, Discovery, 5, "discovery", None])
def test_what_cannot_be_called_is_no_exploration(part):
    line = r"^exploration must be of parts such as Discovery\(\), or a function, not "
    with pytest.raises(InvalidInput, match=line):
        as_exploration(part)


LENGTHS = {
    "the usual length": lambda situation: acts(situation, 1),
    "its own length": lambda situation: acts(situation, 1, steps=7),
    "until something is tried": lambda situation: acts(
        situation, 1, steps=70, limits=np.full(situation.counts.visits.shape, 9)
    ),
    "the usual length, or until something is tried": lambda situation: acts(
        situation, 1, limits=np.full(situation.counts.visits.shape, 9)
    ),
}


def exploring_state(part):
    """A learner, its space, and its state as an exploration begins."""
    session = Session(learner(part), simulator(ergodic(5, 2))([0]))
    next(iter(session.play(1000)))
    assert session.state.excursion is not None
    return session.learner, session.simulation.space, session.state


@pytest.mark.parametrize("name", LENGTHS)
def test_an_exploration_goes_on_where_it_was_stored(name):
    exploring, space, state = exploring_state(LENGTHS[name])
    arrays = {each: array.copy() for each, array in stored(state).items()}
    again = restored(exploring.init(space, 1), arrays)
    assert stored(again).keys() == arrays.keys()
    assert all((array == arrays[each]).all() for each, array in stored(again).items())
    before, after = exploring.act(state), exploring.act(again)
    assert (after.number, after.start, after.steps) == (before.number, before.start, before.steps)
    assert (after.behaviour == before.behaviour).all()
    assert (after.limits is None) == (before.limits is None)


@pytest.mark.parametrize("change", [lambda a: a - 1, lambda a: a + 10**6], ids=["negative", "more than there were"])
def test_altered_steps_of_exploration_are_refused(change):
    exploring, space, state = exploring_state(at_random)
    arrays = stored(state)
    with pytest.raises(InvalidInput):
        restored(exploring.init(space, 1), arrays | {"explored": change(arrays["explored"])})
