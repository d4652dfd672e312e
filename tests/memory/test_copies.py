"""Runs that go round several copies of an environment: nothing is carried over from one copy to another."""

from dataclasses import replace

import numpy as np
import pytest

import aapi
from aapi.approximation import Linear, Tabular
from aapi.environments import ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import LSTD, ImportanceMonteCarlo, MonteCarlo, SelfConsistent
from aapi.evaluation.evaluation import estimate
from aapi.evaluation.monte_carlo import truncated_returns
from aapi.features import Fourier, OneHot
from aapi.features.active import per_action
from aapi.learners.rlsvi import KeepTransitions
from aapi.memory import CountTransitions, KeepSteps, SumTraces
from aapi.memory.randomised import Sweeps, _in_a_row
from aapi.simulation import PhaseData

COPIES, STEPS, STATES, ACTIONS = 3, 20, 4, 2


def table(copies):
    space = Tabular(per_action(np.eye(STATES), ACTIONS, one_hot=True), ACTIONS)
    space.copies = copies
    return space


def apart(seed=0, vectors=False):
    """The data of each copy, as if it were a run."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(COPIES):
        states = random.integers(STATES, size=STEPS + 1).astype(np.int32)
        path = random.random((STEPS + 1, 2)) if vectors else states
        actions = random.integers(ACTIONS, size=STEPS).astype(np.int32)
        found.append(PhaseData(path[None, :-1], actions[None], random.normal(size=(1, STEPS)), path[None, -1], 0, 0))
    return found


def together(parts):
    """The same as the data of one run that goes round the copies."""

    def in_turn(name):
        return np.stack([vars(part)[name][0] for part in parts], axis=1).reshape(1, COPIES * STEPS, *tail(name))

    def tail(name):
        return vars(parts[0])[name].shape[2:]

    last = np.stack([part.last_state[0] for part in parts])[None]
    return PhaseData(in_turn("states"), in_turn("actions"), in_turn("rewards"), last, 0, 0)


def test_successors_are_of_the_same_copy():
    parts = apart()
    data = together(parts)
    assert (data.copies, data.steps) == (COPIES, COPIES * STEPS)
    for copy, part in enumerate(parts):
        expected = np.append(part.states[0, 1:], part.last_state)
        assert (data.successors[0, copy::COPIES] == expected).all()
        assert (part.successors[0] == expected).all()


@pytest.mark.parametrize("centre", [False, True])
def test_returns_stay_in_their_copy(centre):
    data = together(apart())
    returns = truncated_returns(data.rewards, 4, centre, COPIES)[0]
    assert len(returns) == COPIES * (STEPS - 3)
    mean = data.rewards.mean() if centre else 0.0
    for t, found in enumerate(returns):
        assert found == pytest.approx(sum(data.rewards[0, t + i * COPIES] - mean for i in range(4)))


def test_counts_are_the_sums_of_those_of_the_copies():
    parts = apart()
    counts = CountTransitions().start(table(COPIES), 1)
    for seed in (0, 1):
        counts = counts.add(together(apart(seed)), None)
    alone = [CountTransitions().start(table(1), 1) for _ in range(COPIES)]
    for seed in (0, 1):
        alone = [one.add(part, None) for one, part in zip(alone, apart(seed), strict=True)]

    def transitions(one):
        size = one.sizes[0]
        pairs = zip(one.pairs[0, :size].tolist(), one.successors[0, :size].tolist(), strict=True)
        return dict(zip(pairs, one.transition_counts[0, :size].tolist(), strict=True))

    expected: dict[tuple[int, int], float] = {}
    for one in alone:
        for key, times in transitions(one).items():
            expected[key] = expected.get(key, 0.0) + times
    assert transitions(counts) == expected
    assert (counts.visits == sum(one.visits for one in alone)).all()
    assert counts.current.tolist() == [int(one.current[0]) for one in alone]
    assert counts.steps == 2 * COPIES * STEPS
    again = CountTransitions().start(table(COPIES), 1).restored(counts.arrays())
    assert again.current.tolist() == counts.current.tolist()
    with pytest.raises(InvalidInput, match="current"):
        CountTransitions().start(table(1), 1).restored(counts.arrays())
    assert parts[0].states.shape == (1, STEPS)


@pytest.mark.parametrize("trace", [0.0, 0.6])
def test_traces_are_of_one_copy_each(trace):
    policy = np.full((1, STATES, ACTIONS), 1.0 / ACTIONS)
    sums = SumTraces(trace).start(table(COPIES), 1)
    alone = [SumTraces(trace).start(table(1), 1) for _ in range(COPIES)]
    for seed in (0, 1):
        sums = sums.add(together(apart(seed)), policy)
        alone = [one.add(part, policy) for one, part in zip(alone, apart(seed), strict=True)]
    for name in ("visits", "earned", "totals", "arrivals", "products"):
        assert np.allclose(vars(sums)[name], sum(vars(one)[name] for one in alone))
    if trace:
        assert np.allclose(sums.trace, np.concatenate([one.trace for one in alone], axis=1))


@pytest.mark.parametrize("trace", [0.0, 0.6])
@pytest.mark.parametrize("vectors", [False, True])
def test_equations_of_a_window_are_sums_over_copies(trace, vectors):
    def space_of(copies):
        space = Linear(Fourier(order=1).basis((0.0, 0.0), (1.0, 1.0)).check(2), ACTIONS) if vectors else table(copies)
        space.copies = copies
        return space

    def equations(copies, data):
        space = space_of(copies)
        window = KeepSteps(None).start(space, 1).add(data, space.uniform(1))
        return next(iter(window.equations(space.uniform(1), trace)))

    parts = apart(vectors=vectors)
    whole, alone = equations(COPIES, together(parts)), [equations(1, part) for part in parts]
    for name in whole._fields:
        assert np.allclose(getattr(whole, name), sum(getattr(one, name) for one in alone)), name


def test_importance_weights_are_products_within_a_copy():
    policy = np.random.default_rng(3).dirichlet(np.ones(ACTIONS), size=(1, STATES))
    acting, data = np.full((1, STATES, ACTIONS), 1.0 / ACTIONS), together(apart())
    evaluate = ImportanceMonteCarlo(horizon=3, window=None, ridge=0.5, clip=100.0)
    space = table(COPIES)
    window = evaluate.memory.start(space, 1).add(data, acting)
    seen = aapi.memory.Experience(space, data, {evaluate.memory: window})
    found = evaluate(policy, seen)
    totals, sums = np.zeros((2, STATES, ACTIONS))
    for t in range(COPIES * (STEPS - 2)):
        later = [t + COPIES, t + 2 * COPIES]
        weight = np.prod([policy[0, data.states[0, i], data.actions[0, i]] * ACTIONS for i in later])
        x, a = data.states[0, t], data.actions[0, t]
        totals[x, a] += weight
        sums[x, a] += weight * data.rewards[0, [t, *later]].sum()
    assert np.allclose(found[0], sums / (totals + 0.5))
    with pytest.raises(InvalidInput, match="at most 3, not 4: of a window of 10 steps"):
        ImportanceMonteCarlo(horizon=4, window=10).for_space(space)


def test_rlsvi_reads_one_copy_after_the_other():
    parts = apart(vectors=True)
    space = Linear(Fourier(order=1).basis((0.0, 0.0), (1.0, 1.0)).check(2), ACTIONS)
    space.copies = COPIES
    window = KeepTransitions(10_000).start(space, 1).add(together(parts), None)
    states, actions, rewards = _in_a_row(window, 0)
    assert len(states) == COPIES * (STEPS + 1)
    assert (states == np.concatenate([np.concatenate([part.states[0], part.last_state]) for part in parts])).all()
    assert (actions == np.concatenate([np.append(part.actions[0], -1) for part in parts])).all()
    assert (rewards == np.concatenate([np.append(part.rewards[0], 0.0) for part in parts])).all()
    sweeps = Sweeps(3, 1.0, True, 1.0, 1.0)
    assert np.isfinite(window.draw_q(space, sweeps, aapi.kernels.random.streams(0, [0]))).all()


def test_evaluations_of_counts_do_not_depend_on_the_layout():
    data, policy = together(apart()), np.full((1, STATES, ACTIONS), 1.0 / ACTIONS)
    for evaluate in (SelfConsistent(), LSTD(trace=0.4), MonteCarlo(horizon=3)):
        found = estimate(evaluate, table(COPIES), policy, data).q_hat
        # The copies in another order are the same copies.
        order = np.arange(COPIES * STEPS).reshape(STEPS, COPIES)[:, ::-1].ravel()
        other = replace(
            data, states=data.states[:, order], actions=data.actions[:, order], rewards=data.rewards[:, order],
            last_state=data.last_state[:, ::-1],
        )  # fmt: skip
        assert np.allclose(found, estimate(evaluate, table(COPIES), policy, other).q_hat)


def test_phases_must_be_long_enough_for_each_copy():
    learner = aapi.AAPI(phase_length=60, evaluate=MonteCarlo(horizon=21))
    with pytest.raises(InvalidInput, match=r"the phase length, 20, not 21.*a phase of 60 steps goes round 3 copies"):
        learner.init(table(COPIES), 1)
    assert aapi.schedules.Growing()(1, 0, table(COPIES)) == 50 * COPIES
    assert aapi.batch.simulator(ergodic(4, 2), OneHot(), 0)(range(2)).space.copies == 1
