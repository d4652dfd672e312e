"""PSRL against a slow one in plain Python that is fed with the same random numbers; its draws against their laws."""

import hashlib
import math

import gymnasium
import numpy as np
import pytest
import reference
from support import interpreted

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, river_swim
from aapi.errors import InvalidInput
from aapi.features import OneHot
from aapi.kernels.random import streams
from aapi.memory import CountTransitions
from aapi.memory.posterior import REST, draw_beta_rewards, draw_normal_rewards, draw_transitions
from aapi.memory.reward_moments import TrackRewards
from aapi.simulation import PhaseData, transition_tables

SEED = 4


def gamma(stream, shape):
    """Marsaglia and Tsang's, with their boost for shapes below 1."""
    if shape < 1:
        u = 1 - stream.uniform()
        return u ** (1 / shape) * gamma(stream, shape + 1)
    d = shape - 1 / 3
    while True:
        (z,) = stream.normals(1)
        v = (1 + z / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(1 - stream.uniform()) < z * z / 2 + d - d * v + d * math.log(v):
            return d * v


def transitions(stream, log, seen, pair, prior, num_states, width):
    """P(·|pair) as a dictionary: Gamma variables of what was seen, and a stick that is broken for the rest."""
    counts = {}
    for (x, a, _), y in log:
        if (x, a) == pair:
            counts[y] = counts.get(y, 0) + 1
    alpha = prior / num_states / width**2
    shapes = {y: n / width**2 + alpha for y, n in counts.items()}
    if len(seen) < num_states and pair[0] != num_states:
        shapes[num_states] = (num_states - len(seen)) * alpha  # all states never seen, as one
    found = {y: gamma(stream, shape) for y, shape in shapes.items()}
    left = len(seen) - len(counts)
    rest = (gamma(stream, left * alpha) if left else 0.0) if shapes else 1.0
    total = rest + sum(found.values())
    found, rest = {y: g / total for y, g in found.items()}, rest / total
    while rest > 0 and left > 0:
        share = 1.0
        if rest > REST and left > 1:
            one, other = gamma(stream, 1 + alpha), gamma(stream, (left - 1) * alpha)
            share = one / (one + other)
        while (place := seen[int(stream.uniform() * len(seen))]) in found:
            pass
        found[place] = share * rest
        rest -= share * rest
        left -= 1
    return found


def reward(kind, stream, log, pair, mdp, width):
    own = [r for (x, a, r), _ in log if (x, a) == pair]
    low, high = mdp.rewards.min(), mdp.rewards.max()
    n = len(own)
    if kind == "known":
        return own[0] if own else high
    if kind == "beta":
        good = sum((r - low) / (high - low) for r in own)
        one, other = gamma(stream, (1 + good) / width**2), gamma(stream, (1 + n - good) / width**2)
        return low + (high - low) * one / (one + other)
    m, s2 = (low + high) / 2, ((high - low) / 2) ** 2
    mean = np.mean(own) if own else 0.0
    b = s2 + sum((r - mean) ** 2 for r in own) / 2 + n * (mean - m) ** 2 / (1 + n) / 2
    precision = gamma(stream, 1 + n / 2) / b
    (z,) = stream.normals(1)
    return (m + n * mean) / (1 + n) + width * z / math.sqrt(precision * (1 + n))


def solve(P, r):
    """Gain and Q, Q relative to the value of the first state, by value iteration."""
    v = np.zeros(len(r))
    for _ in range(10_000_000):
        q = r + P @ v
        change = 0.5 * (q.max(axis=1) - v)
        v = v + change
        if np.ptp(change) < 1e-14 * max(1.0, np.ptp(r)):
            break
    gain = 2 * change.mean()
    return gain, r - gain + P @ (v - v[0])


def tsde(mdp, steps, kind, prior, width):
    """Episode after episode: (data, gain, Q)."""
    world = reference.World(mdp, transition_tables(mdp), streams(SEED, [0])[0])
    S, A = mdp.num_states, mdp.num_actions
    policy, log, before, length = np.full((S, A), 1 / A), [], {}, 0
    while len(log) < steps:
        visits, episode = dict(before), []
        while len(episode) < length + 1 and len(log) < steps:
            step = world.step(policy[world.x])
            log.append((step, world.x))
            episode.append(step)
            pair = step[:2]
            visits[pair] = visits.get(pair, 0) + 1
            if visits[pair] > 2 * before.get(pair, 0):
                break
        else:
            if len(episode) < length + 1:
                break
        before, length = visits, len(episode)
        seen = sorted({x for (x, _, _), _ in log} | {world.x})
        every = seen + [S] * (len(seen) < S)
        P, r = np.zeros((len(every), A, len(every))), np.zeros((len(every), A))
        for i, x in enumerate(every):
            for a in range(A):
                for y, p in transitions(world.stream, log, seen, (x, a), prior, S, width).items():
                    P[i, a, every.index(y)] = p
        for i, x in enumerate(every):
            for a in range(A):
                r[i, a] = reward(kind, world.stream, log, (x, a), mdp, width)
        gain, q = solve(P, r)
        policy, table = np.full((S, A), 1 / A), np.zeros((S, A))
        best = q >= q.max(axis=1, keepdims=True) - 1e-9 * np.ptp(r)
        n = len(seen)
        policy[seen], table[seen] = (best / best.sum(axis=1, keepdims=True))[:n], q[:n]
        yield episode, gain, table


@pytest.mark.parametrize("rewards", ["known", "beta", "normal"])
@pytest.mark.parametrize(
    ("mdp", "steps", "prior", "width"), [(ergodic(4, 3), 150, 1.0, 1.0), (deep_sea(3), 120, 2.0, 0.7)]
)
def test_the_same_episodes_gains_and_q_as_the_reference(monkeypatch, mdp, steps, prior, width, rewards):
    monkeypatch.setattr("aapi.learners.psrl.ACCURACY", 1e-11)
    learner = aapi.PSRL(rewards=rewards, prior=prior, width=width)
    session = aapi.learners.Session(learner, simulator(mdp, OneHot(), SEED)([0]), steps)
    expected = tsde(mdp, steps, rewards, prior, width)
    for phase, (episode, gain, q) in zip(session.play(steps), expected, strict=False):
        assert list(zip(phase.data.states[0], phase.data.actions[0], phase.data.rewards[0], strict=True)) == episode
        assert session.state.gain[0] == pytest.approx(gain, rel=1e-6, abs=1e-7)
        assert session.state.q_hat[0] == pytest.approx(q, rel=1e-5, abs=1e-5 * np.ptp(q))
    assert session.simulation.time == steps
    assert session.state.k > 15


def counted(steps, num_states=6, num_actions=2):
    """The counts and moments of steps (x, a, r, y), which need not hang together."""
    space = simulator(ergodic(num_states, num_actions))([0]).space
    counts, moments = CountTransitions().start(space, 1), TrackRewards().start(space, 1)
    for x, a, r, y in steps:
        states, actions = np.array([[x]], dtype=np.int32), np.array([[a]], dtype=np.int32)
        data = PhaseData(states, actions, np.array([[r]]), np.array([y]), np.zeros((1, 1)), np.array([1]))
        counts, moments = counts.add(data, None), moments.add(data, None)
    return counts, moments


STEPS = [(0, 0, 0.5, 1), (1, 0, 0.2, 2), (2, 1, 0.9, 0), (0, 0, 0.6, 1), (0, 0, 0.1, 3), (3, 1, 0.3, 0)]


def rows(model, num_states, num_actions):
    """P, with the state that stands for those never seen."""
    table = np.zeros(((num_states + 1) * num_actions, num_states + 1))
    for pair in range(len(table)):
        for e in range(model.begins[pair], model.begins[pair + 1]):
            table[pair, model.after[e]] += model.chances[e]
    return table


@pytest.mark.parametrize(("prior", "width"), [(1.0, 1.0), (30.0, 1.0), (3.0, 0.5)])
def test_transitions_have_means_and_covariances_of_a_dirichlet_distribution(prior, width):
    counts, _ = counted(STEPS)
    stream = streams(1, [0])
    draws = np.array([rows(draw_transitions(counts, prior, width, stream), 6, 2) for _ in range(20_000)])
    seen, each = [0, 1, 2, 3, 6], prior / 6 * np.array([1, 1, 1, 1, 2])
    for pair, numbers in ((0, [0, 2, 0, 1, 0]), (1, [0, 0, 0, 0, 0]), (5, [1, 0, 0, 0, 0])):
        shapes = (np.array(numbers) + each) / width**2
        mean, total = shapes / shapes.sum(), shapes.sum()
        of_pair = draws[:, pair][:, seen]
        assert of_pair.sum(axis=1) == pytest.approx(1.0)
        assert of_pair.mean(axis=0) == pytest.approx(mean, abs=0.012)
        covariance = (np.diag(mean) - np.outer(mean, mean)) / (total + 1)
        assert np.cov(of_pair.T) == pytest.approx(covariance, abs=0.006)
    assert (draws[:, :, 4:6] == 0.0).all()  # never seen
    assert (draws[:, 8:12] == 0.0).all()
    assert draws[:, 12:].mean(axis=0)[:, :4] == pytest.approx(0.25, abs=0.012)
    assert (draws[:, 12:, 6] == 0.0).all()


def test_huge_widths_leave_probabilities():
    counts, _ = counted(STEPS)
    for width in (4.0, 20.0, 1e3):
        stream = streams(2, [0])
        draws = np.array([rows(draw_transitions(counts, 1.0, width, stream), 6, 2)[:8] for _ in range(3000)])
        assert draws.sum(axis=2) == pytest.approx(1.0)
        assert draws[:, 0].mean(axis=0)[:4] == pytest.approx((np.array([0, 2, 0, 1]) + 1 / 6) / 4, abs=0.03)


def test_beta_rewards_have_the_mean_and_variance_of_their_law():
    counts, _ = counted(STEPS)
    stream = streams(1, [0])
    for width in (1.0, 0.5):
        draws = np.array([draw_beta_rewards(counts, -1.0, 3.0, width, stream) for _ in range(20_000)])
        good = (1.2 + 3) / 4
        for (x, a), (one, other) in {(0, 0): (1 + good, 4 - good), (0, 1): (1, 1)}.items():
            total = (one + other) / width**2
            mean = one / (one + other)
            assert draws[:, x, a].mean() == pytest.approx(4 * mean - 1, abs=0.03)
            assert draws[:, x, a].var() == pytest.approx(16 * mean * (1 - mean) / (total + 1), rel=0.05)
    assert draws.shape[1:] == (7, 2)
    assert draws[:, 6].mean(axis=0) == pytest.approx([1.0, 1.0], abs=0.03)


def test_normal_rewards_have_the_mean_and_variance_of_their_law():
    rng = np.random.default_rng(3)
    steps = [(0, 0, r, 0) for r in rng.normal(2.0, 3.0, 40)] + [(0, 1, r, 0) for r in rng.normal(-1.0, 3.0, 5)]
    counts, moments = counted(steps)
    every = np.array([r for _, _, r, _ in steps])
    assert moments.overall() == pytest.approx((every.mean(), every.var()))
    stream = streams(1, [0])
    for width in (1.0, 2.0):
        draws = np.array(
            [draw_normal_rewards(moments, counts, moments.overall(), width, stream) for _ in range(40_000)]
        )
        for a in (0, 1):
            own = np.array([r for _, action, r, _ in steps if action == a])
            n = len(own)
            rate = every.var() + own.var() * n / 2 + n * (own.mean() - every.mean()) ** 2 / (1 + n) / 2
            shape = 1 + n / 2
            assert draws[:, 0, a].mean() == pytest.approx((every.mean() + own.sum()) / (1 + n), abs=0.05 * width)
            variance = width**2 * rate / (shape - 1) / (1 + n)  # of Student's distribution
            assert draws[:, 0, a].var() == pytest.approx(variance, rel=0.05)


def test_bits_do_not_depend_on_threads():
    one, two = (aapi.run(aapi.PSRL(), river_swim(6), 4000, 4, 2, threads=threads) for threads in (1, 2))
    assert (one.cumulated == two.cumulated).all()
    alone = aapi.run(aapi.PSRL(), river_swim(6), 4000, 1, 2, first_run=3)
    assert (alone.cumulated[0] == one.cumulated[3]).all()


def fingerprints():
    """Hashes of runs by all beliefs about rewards, and of R-MAX."""
    learners = [*(aapi.PSRL(rewards=kind) for kind in ("known", "beta", "normal")), aapi.RMAX(known_after=2)]
    found = []
    for learner in learners:
        result = aapi.run(learner, river_swim(4), 150, 1, 1)
        found.append(hashlib.sha256(result.next_policy.tobytes() + result.cumulated.tobytes()).hexdigest())
    return found


@pytest.mark.slow
def test_compiled_and_interpreted_give_the_same_bits():
    assert interpreted(__file__, "fingerprints") == fingerprints()


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (aapi.PSRL(prior=0.0), "prior must be a finite number larger than 0, not 0.0"),
        (aapi.PSRL(width=math.inf), "width must be a finite number larger than 0, not inf"),
        (aapi.PSRL(rewards="x"), "rewards must be known or beta or normal, not 'x'"),
        (aapi.PSRL(reward_high=0.1), "a reward of .* was seen, beyond reward_high, 0.1: give the range of all rewards"),
        (aapi.PSRL(reward_low=2.0, reward_high=1.0), "reward_low, 2, must not be larger than reward_high, 1"),
    ],
)
def test_wrong_arguments_are_named(learner, message):
    with pytest.raises(InvalidInput, match=message):
        aapi.run(learner, ergodic(4, 2), 100)


def test_an_agent_is_told_the_range_of_rewards():
    with pytest.raises(InvalidInput, match="the range of rewards is not known: give reward_low and reward_high"):
        aapi.Agent(aapi.PSRL(), gymnasium.make("FrozenLake-v1")).learn(10)


@pytest.mark.slow
@pytest.mark.parametrize(("mdp", "steps", "share"), [(ergodic(10, 2), 100_000, 0.99), (ergodic(20, 5), 200_000, 0.985)])
def test_it_earns_nearly_the_optimum(mdp, steps, share):
    result = aapi.run(aapi.PSRL(), mdp, steps, 4, threads=2)
    assert result.average_reward[:, -1].mean() >= share * result.optimal_gain
