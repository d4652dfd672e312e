"""Counts of transitions, and the models made of them."""

import numpy as np
import pytest
from experience import rollout, uniform

from aapi.batch import simulator
from aapi.environments import cartpole, deep_sea, ergodic, garnet
from aapi.errors import InvalidInput
from aapi.kernels.random import streams
from aapi.memory import CountTransitions
from aapi.memory.counts import DEEPEST, no_counts
from aapi.memory.model import average_model, average_probabilities, draw_gamma, sampled_model
from aapi.simulation import PhaseData


def filled(mdp, lengths=(30, 200, 1, 77), runs=(0, 1, 2), seed=5):
    """Counts of some phases, and what happened in them."""
    simulation = simulator(mdp, None, seed)(runs)
    counts, phases = CountTransitions().start(simulation.space, len(runs)), []
    for steps in lengths:
        phases.append(rollout(simulation, uniform(simulation), steps))
        counts = counts.add(phases[-1], None)
    return counts, phases


@pytest.mark.parametrize("mdp", [ergodic(6, 3), deep_sea(4), garnet(40, 3, 9)], ids=["ergodic", "deep-sea", "garnet"])
def test_every_transition_is_counted(mdp):
    counts, phases = filled(mdp)
    for run in range(3):
        states = np.concatenate([*(data.states[run] for data in phases), phases[-1].last_state[run : run + 1]])
        actions = np.concatenate([data.actions[run] for data in phases])
        rewards = np.concatenate([data.rewards[run] for data in phases])
        table = np.zeros((mdp.num_states, mdp.num_actions, mdp.num_states))
        np.add.at(table, (states[:-1], actions, states[1:]), 1.0)
        found = np.zeros_like(table)
        size = counts.sizes[run]
        np.add.at(
            found.reshape(-1, mdp.num_states), (counts.pairs[run, :size], counts.successors[run, :size]),
            counts.transition_counts[run, :size],
        )  # fmt: skip
        assert (found == table).all()
        assert size == np.count_nonzero(table)
        assert (counts.visits[run] == table.sum(axis=2)).all()
        assert set(np.flatnonzero(counts.seen[run])) == set(states)
        assert (counts.lowest[run], counts.highest[run]) == (rewards.min(), rewards.max())
        assert counts.earned[run] == pytest.approx(table.sum(axis=2) * mdp.rewards)
        assert counts.total[run] == pytest.approx(rewards.sum())
        assert counts.attempts[run, 1:].sum() == np.minimum(table.sum(axis=2), DEEPEST - 1).sum()
    assert counts.steps == 308


def test_attempts_and_discoveries_by_hand():
    # 0 →(0) 0 → 0 → 1 →(1) 0 → 1: five steps, the last reward lower than all before.
    states, actions = np.array([[0, 0, 0, 1, 0]], dtype=np.int32), np.array([[0, 0, 0, 1, 0]], dtype=np.int32)
    rewards = np.array([[1.0, 1.0, 1.0, 2.0, 0.5]])
    counts = no_counts((1, 3, 2)).add(PhaseData(states, actions, rewards, np.array([1]), rewards, np.array([5])), None)
    assert counts.attempts[0, :6].tolist() == [0, 2, 1, 1, 1, 0]  # pair (0, 0) four times, (1, 1) once
    assert counts.discoveries[0, :6].tolist() == [0, 1, 0, 1, 1, 0]  # a reward of 2; state 1; a reward of 0.5
    assert counts.seen[0].tolist() == [True, True, False]
    assert counts.visits[0].tolist() == [[4, 0], [0, 1], [0, 0]]


def test_it_goes_on_where_it_was_stored():
    mdp = garnet(40, 3, 9)
    counts, phases = filled(mdp)
    half = no_counts((3, 40, 3))
    for data in phases[:2]:
        half = half.add(data, None)
    copy = no_counts((3, 40, 3)).restored({name: array.copy() for name, array in half.arrays().items()})
    for data in phases[2:]:
        copy = copy.add(data, None)
    found, whole = copy.arrays(), counts.arrays()
    assert found.keys() == whole.keys()
    assert all((found[name] == whole[name]).all() for name in whole)
    alone, _ = filled(mdp, runs=(1,))
    for name in ("visits", "transition_counts"):
        own = alone.arrays()[name][0]
        assert (own == whole[name][1][: len(own)]).all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pairs", lambda a: a + 1000, "pairs must lie in 0..119"),
        ("successors", lambda a: a - 5000, "successors must lie in 0..39"),
        ("sizes", lambda a: a - 10**9, "sizes cannot be"),
        ("visits", lambda a: a[:, :1], "visits must be float64 of shape"),
        ("current", lambda a: a + 1000, "current must lie in 0..39"),
        ("transition_counts", lambda a: a * np.nan, "transition_counts holds a value that is not a finite number"),
        *(
            (name, value, "the counts of transitions are not those of 308 steps")
            for name, value in {
                "seen": lambda a: a & False,  # whose rows have no place in the equations
                "visits": lambda a: a - 1e6,
                "transition_counts": lambda a: -a,  # no Gamma distribution has such a shape
                "successors": lambda a: 0 * a,
                "discoveries": lambda a: a + 1e300,
                "attempts": lambda a: a - 1e300,
                "lowest": lambda a: a + 1e9,
            }.items()
        ),
        ("steps", lambda a: a + 1, "not those of 309 steps"),
    ],
)
def test_altered_counts_are_refused(name, value, message):
    counts, _ = filled(garnet(40, 3, 9))
    arrays = {each: array.copy() for each, array in counts.arrays().items()}
    arrays[name] = value(arrays[name])
    with pytest.raises(InvalidInput, match=message):
        no_counts((3, 40, 3)).restored(arrays)


def test_a_phase_may_begin_anywhere():
    counts, _ = filled(ergodic(6, 3), lengths=(3,), runs=(0,))
    new = int(np.flatnonzero(~counts.seen[0])[0])
    data = [np.array([[new]], dtype=np.int32), np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1)), np.array([0])]
    assert not counts.seen[0, new]
    assert counts.add(PhaseData(*data, np.zeros((1, 1)), np.array([1])), None).seen[0, new]


def test_models_of_averages():
    counts, _ = filled(ergodic(6, 3), lengths=(500,))
    weights, rewards = average_model(counts, prior=2.0)
    sums = np.zeros((3, 18))
    for run in range(3):
        np.add.at(sums[run], counts.pairs[run], weights[run])
    n = counts.visits.reshape(3, 18)
    assert sums == pytest.approx(n / (n + 2.0))
    mean = (counts.total / 500)[:, None, None]
    assert rewards == pytest.approx((counts.earned + 2.0 * mean) / (counts.visits + 2.0))
    assert average_probabilities(counts)[0, 0] == counts.transition_counts[0, 0] / n[0, counts.pairs[0, 0]]


def test_models_drawn_at_random_are_dirichlet():
    counts, _ = filled(ergodic(4, 2), lengths=(60,), runs=(0,))
    stream, run, size = streams(1, [0]), np.array([0]), counts.sizes[0]
    draws = np.array([sampled_model(counts, 1.0, stream, run)[0][0, :size] for _ in range(4000)])
    total = counts.visits[0].ravel()[counts.pairs[0, : counts.sizes[0]]] + 1.0
    mean = counts.transition_counts[0, : counts.sizes[0]] / total
    assert draws.mean(axis=0) == pytest.approx(mean, abs=0.02)
    assert draws.var(axis=0) == pytest.approx(mean * (1 - mean) / (total + 1), abs=0.006)


@pytest.mark.parametrize("shape", [0.01, 0.5, 1.0, 3.0, 200.0])
def test_gamma(shape):
    stream, work = streams(3, [0])[0], np.empty(1)
    numbers = np.array([draw_gamma(stream, shape, work) for _ in range(20_000)])
    assert numbers.min() >= 0.0
    assert numbers.mean() == pytest.approx(shape, abs=5 * np.sqrt(shape / 20_000))
    assert numbers.var() == pytest.approx(shape, rel=0.6 if shape < 0.1 else 0.1)


def test_vectors_cannot_be_counted():
    line = "counts of transitions need countable states, and these are observation vectors"
    with pytest.raises(InvalidInput, match=line):
        CountTransitions().start(simulator(cartpole())([0]).space, 1)
