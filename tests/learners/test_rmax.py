"""R-MAX against a slow one in plain NumPy."""

import numpy as np
import pytest
import reference

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, river_swim
from aapi.errors import InvalidInput
from aapi.features import OneHot
from aapi.kernels.random import streams
from aapi.simulation import transition_tables

SEED = 4


def solve(P, r):
    """Gain and Q of the optimal policy, by value iteration."""
    v = np.zeros(len(r))
    for _ in range(10_000_000):
        change = 0.5 * ((r + P @ v).max(axis=1) - v)
        v = v + change
        if np.ptp(change) < 1e-14 * np.ptp(r):
            break
    gain = 2 * change.mean()
    return gain, r - gain + P @ (v - v[0])


def rmax(mdp, steps, m):
    """Episode after episode: (data, gain, Q)."""
    world = reference.World(mdp, transition_tables(mdp), streams(SEED, [0])[0])
    S, A = mdp.num_states, mdp.num_actions
    policy, log, visits, episode = np.full((S, A), 1 / A), [], {}, []
    while len(log) < steps:
        x, a, r = world.step(policy[world.x])
        log.append((x, a, r, world.x))
        episode.append((x, a, r))
        visits[x, a] = visits.get((x, a), 0) + 1
        if visits[x, a] != m:
            continue
        seen = sorted({x for x, _, _, _ in log} | {world.x})
        paradise = len(seen)
        P, r = np.zeros((paradise + 1, A, paradise + 1)), np.full((paradise + 1, A), mdp.rewards.max())
        P[paradise, :, paradise] = 1
        for i, x in enumerate(seen):
            for a in range(A):
                if visits.get((x, a), 0) < m:
                    P[i, a, paradise] = 1
                    continue
                own = [(r, y) for s, b, r, y in log if (s, b) == (x, a)]
                r[i, a] = np.mean([r for r, _ in own])
                for _, y in own:
                    P[i, a, seen.index(y)] += 1 / len(own)
        if all(visits.get((x, a), 0) >= m for x in seen for a in range(A)):
            P, r = P[:-1, :, :-1], r[:-1]
        gain, q = solve(P, r)
        policy, table = np.full((S, A), 1 / A), np.zeros((S, A))
        best = q >= q.max(axis=1, keepdims=True) - 1e-9 * np.ptp(r)
        policy[seen], table[seen] = (best / best.sum(axis=1, keepdims=True))[: len(seen)], q[: len(seen)]
        yield episode, gain, table
        episode = []


@pytest.mark.parametrize(
    ("mdp", "steps", "m"), [(ergodic(4, 3), 400, 7), (deep_sea(4), 400, 2), (river_swim(4), 300, 4)]
)
def test_the_same_episodes_gains_and_q_as_the_reference(monkeypatch, mdp, steps, m):
    monkeypatch.setattr("aapi.learners.rmax.ACCURACY", 1e-12)
    session = aapi.learners.Session(aapi.RMAX(known_after=m), simulator(mdp, OneHot(), SEED)([0]), steps)
    expected = list(rmax(mdp, steps, m))
    for phase, (episode, gain, q) in zip(session.play(steps), expected, strict=False):
        assert list(zip(phase.data.states[0], phase.data.actions[0], phase.data.rewards[0], strict=True)) == episode
        assert session.state.gain[0] == pytest.approx(gain, rel=1e-6, abs=1e-7)
        assert session.state.q_hat[0] == pytest.approx(q, rel=1e-5, abs=1e-5 * np.ptp(q))
    assert session.state.k == len(expected) > 5


def test_what_is_known_is_followed_to_the_end():
    learner = aapi.RMAX(known_after=50)
    result = aapi.run(learner, ergodic(10, 2), 50_000, 4, threads=2)
    assert result.average_reward_since(0.9).mean() > 0.985 * result.optimal_gain
    alone = aapi.run(learner, ergodic(10, 2), 50_000, 1, first_run=2)
    assert (alone.cumulated[0] == result.cumulated[2]).all()


def test_wrong_arguments_are_named():
    with pytest.raises(InvalidInput, match="known_after must be at least 1, not 0"):
        aapi.run(aapi.RMAX(known_after=0), ergodic(4, 2), 100)
    with pytest.raises(InvalidInput, match=r"was seen, beyond reward_low, 0\.5: give the range of all rewards"):
        aapi.run(aapi.RMAX(known_after=1, reward_low=0.5), ergodic(4, 2), 100)
