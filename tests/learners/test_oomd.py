"""MDP-OOMD against Algorithms 2 to 4 of Wei et al. (2020) in plain Python; chunks and threads; agents; bad input."""

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.batch import simulator
from aapi.environments import cartpole, ergodic, river_swim
from aapi.errors import InvalidInput


def estimate_q(states, actions, rewards, policy, x, window):
    """Algorithm 3, line by line: a walk along the trajectory for one state."""
    found, count, tau = np.zeros(policy.shape[1]), 0, 0
    while tau <= len(rewards) - 1 - window:
        if states[tau] == x:
            count += 1
            found[actions[tau]] += sum(rewards[tau : tau + window + 1]) / policy[x, actions[tau]]
            tau += 2 * window
        else:
            tau += 1
    return found / count if count else found


def mirror_step(point, gains, eta):
    """argmax_π ⟨π, gains⟩ − D(π, point) by bisection on the multiplier of Σ π = 1, to the last bit."""
    low, high = max(eta * gains - 1.0 / point) + 1.0, max(eta * gains - 1.0 / point) + len(point)
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sum(1.0 / (1.0 / point - eta * gains + middle)) > 1.0 else (low, middle)
    return 1.0 / (1.0 / point - eta * gains + low)


@pytest.mark.parametrize(("length", "window", "eta"), [(30, 4, 0.02), (4, 2, 0.3), (60, 1, 0.05), (25, 24, 3.0)])
def test_every_phase_is_that_of_the_paper(length, window, eta):
    mdp, learner = ergodic(4, 3), aapi.OOMD(phase_length=length, window=window, eta=eta)
    anchors, policies = (np.full((3, 4, 3), 1 / 3) for _ in range(2))
    for phase in aapi.play(learner, simulator(mdp, seed=5)(range(3)), 40 * length):
        data = phase.data
        assert phase.policy == pytest.approx(policies, rel=1e-12, abs=1e-12)
        for run in range(3):
            steps = data.states[run].tolist(), data.actions[run].tolist(), data.rewards[run].tolist()
            for x in range(4):
                beta = estimate_q(*steps, policies[run], x, window)
                assert phase.q_hat[run, x] == pytest.approx(beta, rel=1e-12, abs=1e-12)
                anchors[run, x] = mirror_step(anchors[run, x], beta, eta)
                policies[run, x] = mirror_step(anchors[run, x], beta, eta)
    assert phase.number == 40
    assert policies.max() > 0.36  # it has learnt something


def test_the_step_is_exact_far_from_where_it_began():
    from aapi.learners.oomd import _step

    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e3, 1e9, 1e150):
        point, gains, out = rng.dirichlet(np.full(6, 0.3)), scale * rng.normal(size=6), np.empty(6)
        assert _step(point, gains, 1.0, np.empty(6), out)
        assert out.sum() == pytest.approx(1.0, abs=1e-14)
        multiplier = 1.0 / out - 1.0 / point + gains
        assert np.ptp(multiplier) <= 1e-12 * (np.abs(multiplier).max() + (1.0 / out).max())
    assert not _step(np.array([0.5, 0.5]), np.array([1e308, -1e308]), 10.0, np.empty(2), np.empty(2))


def test_one_action_and_one_state():
    lone = aapi.FiniteMDP(np.ones((1, 1, 1)), [[2.0]])
    assert aapi.run(aapi.OOMD(phase_length=5, window=2), lone, 100).next_policy.tolist() == [[[1.0]]]


def test_it_learns():
    mdp = river_swim(6)
    learnt, random = (
        aapi.run(learner, mdp, 50_000, 4, seed=2).average_reward_since(0.5).mean()
        for learner in (aapi.OOMD(eta=0.1), aapi.learners.Uniform())
    )
    assert learnt > 10 * random


def test_an_agent_is_saved_and_goes_on_to_the_same_bits(tmp_path):
    learner = aapi.OOMD(phase_length=50, window=6, eta=0.1)
    whole = aapi.Agent(learner, gymnasium.make("FrozenLake-v1"), seed=3)
    whole.learn(1000)
    parts = aapi.Agent(learner, gymnasium.make("FrozenLake-v1"), seed=3)
    for steps in (333, 17, 650):
        parts.learn(steps)
        parts.save(tmp_path / "agent")
        parts = aapi.load(tmp_path / "agent", env=gymnasium.make("FrozenLake-v1"))
    assert parts.algorithm == learner
    assert parts.total_reward == whole.total_reward
    assert (parts.session.state.policy == whole.session.state.policy).all()
    assert (parts.session.state.anchor == whole.session.state.anchor).all()


def test_copies_are_trajectories_of_their_own():
    from aapi.learners.oomd import _estimate

    rng, policy = np.random.default_rng(1), np.full((1, 3, 2), 0.5)
    states, actions, rewards = rng.integers(3, size=(1, 40)), rng.integers(2, size=(1, 40)), rng.normal(size=(1, 40))
    returns = np.zeros((1, 3, 2))
    _estimate(states, actions, rewards, policy, 3, 2, returns)
    for x in range(3):
        sums, counts = np.zeros(2), 0
        for copy in range(2):
            tau, mine = 0, [array[0, copy::2] for array in (states, actions, rewards)]
            while tau <= 16:
                if mine[0][tau] == x:
                    sums[mine[1][tau]] += 2.0 * mine[2][tau : tau + 4].sum()
                    counts, tau = counts + 1, tau + 6
                else:
                    tau += 1
        assert returns[0, x] == pytest.approx(sums / counts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "window must be at least 1, not 0"),
        ({"phase_length": 0}, "phase_length must be at least 1, not 0"),
        ({"window": 30}, "window must be less than the phase length, 30, not 30: no return would fit into a phase"),
        ({"eta": 0.0}, "eta must be "),
        ({"eta": np.nan}, "eta must be "),
        ({"eta": 1e308, "window": 29}, "eta must be smaller: 1e+308 times returns of phase 1 is not finite"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, message):
    mdp = aapi.FiniteMDP(np.full((2, 2, 2), 0.5), [[100.0, 0.0], [0.0, 100.0]])
    with pytest.raises(InvalidInput) as caught:
        aapi.run(aapi.OOMD(**settings), mdp, 100)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_vectors_are_refused():
    with pytest.raises(InvalidInput, match="OOMD needs countable states, and these are observation vectors"):
        aapi.run(aapi.OOMD(), cartpole(), 100)
