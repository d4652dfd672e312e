"""Learners that learn at every step, against plain Python that is given the same steps."""

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.batch import simulator
from aapi.environments import cartpole, deep_sea, ergodic, river_swim
from aapi.errors import InvalidInput
from aapi.features import Fourier, OneHot, Tiles
from aapi.learners import RVIQ, CentredQ, DifferentialQ, DifferentialSarsa, OptimisticQ, RLearning, Session
from aapi.schedules import Decay

STEPS = 5000


def differential(q, gain, step, reward, discount=1.0):
    x, a, y, _ = step
    return reward - gain + discount * q[y].max() - q[x, a]


def learnt_differential(learner, steps, rewards, shape, discount=1.0):
    """Wan et al. 2021; Naik et al. 2024 with a discount."""
    q, gain, visits, size = np.zeros(shape), 0.0, np.zeros(shape), Decay.of(learner.step_size)
    for (x, a, y, b), reward in zip(steps, rewards, strict=True):
        visits[x, a] += 1
        after = q[y, b] if isinstance(learner, DifferentialSarsa) else discount * q[y].max()
        change = size.start / visits[x, a] ** size.power * (reward - gain + after - q[x, a])
        gain += learner.gain_rate * change
        q[x, a] += change
    return q, gain


def learnt_schwartz(learner, steps, rewards, shape):
    q, gain = np.zeros(shape), 0.0
    for (x, a, y, _), reward in zip(steps, rewards, strict=True):
        delta, was_best, better = reward - gain + q[y].max() - q[x, a], q[x, a] == q[x].max(), q[y].max() - q[x].max()
        if was_best:
            gain += learner.gain_rate * learner.step_size * (reward - gain + better)
        q[x, a] += learner.step_size * delta
    return q, gain


def learnt_relative(learner, steps, rewards, shape):
    q = np.zeros(shape)
    for (x, a, y, _), reward in zip(steps, rewards, strict=True):
        reference = q[0, 0] if learner.reference == "first" else q.mean()
        q[x, a] += learner.step_size * (reward - reference + q[y].max() - q[x, a])
    return q, None


def learnt_centred(learner, steps, rewards, shape):
    return learnt_differential(learner, steps, rewards, shape, learner.discount)


def learnt_optimistic(learner, steps, rewards, shape):
    """Wei et al. 2020, Algorithm 1, with H as in Theorem 2."""
    pairs = shape[0] * shape[1]
    third = (STEPS / (pairs * np.log(4 * STEPS / learner.delta))) ** (1 / 3)
    horizon = max(2.0, np.ceil(min(np.sqrt(STEPS / pairs), third)))
    q, bound, visits = np.full(shape, horizon), np.full(shape, horizon), np.zeros(shape)
    for (x, a, y, _), reward in zip(steps, rewards, strict=True):
        assert bound[x, a] == bound[x].max()  # it is greedy
        visits[x, a] += 1
        share = (horizon + 1) / (horizon + visits[x, a])
        bonus = 4 * learner.width * np.sqrt(horizon / visits[x, a] * np.log(2 * STEPS / learner.delta))
        q[x, a] = (1 - share) * q[x, a] + share * (reward + (1 - 1 / horizon) * bound[y].max() + bonus)
        bound[x, a] = min(bound[x, a], q[x, a])
    return bound, None


CASES = [
    (DifferentialQ(step_size=0.2, epsilon=0.3, gain_rate=0.5), learnt_differential),
    (DifferentialQ(step_size="0.5/n^0.7", epsilon="1/n^0.5"), learnt_differential),
    (DifferentialQ(step_size="1/n"), learnt_differential),
    (DifferentialSarsa(gain_rate=0.2), learnt_differential),
    (CentredQ(discount=0.9), learnt_centred),
    (RLearning(gain_rate=0.3), learnt_schwartz),
    (RVIQ(), learnt_relative),
    (RVIQ(reference="mean"), learnt_relative),
    (OptimisticQ(width=0.05), learnt_optimistic),
    (OptimisticQ(), learnt_optimistic),
]


def scaled(mdp):
    low, high = mdp.rewards.min(), mdp.rewards.max()
    return low, high - low


@pytest.mark.parametrize(("learner", "reference"), CASES, ids=[repr(learner) for learner, _ in CASES])
def test_every_step_is_learnt_from_as_in_the_paper(learner, reference):
    mdp, runs = ergodic(7, 3), 8
    simulation = simulator(mdp, OneHot())(range(runs))
    session = Session(learner, simulation, STEPS)
    phases = list(session.play(STEPS))
    assert sum(phase.data.steps for phase in phases) == STEPS
    parts = ("states", "actions", "rewards")
    states, actions, rewards = (
        np.concatenate([getattr(phase.data, part) for phase in phases], axis=1) for part in parts
    )
    if isinstance(learner, OptimisticQ):
        low, spread = scaled(mdp)
        rewards = (rewards - low) / spread
    for run in (0, runs - 1):
        after = np.append(states[run, 1:], simulation.state[run])
        chosen = np.append(actions[run, 1:], session.state.next_actions[run])
        steps = list(zip(states[run], actions[run], after, chosen, strict=True))
        q, gain = reference(learner, steps, rewards[run], mdp.rewards.shape)
        assert learner.q_of(session.state.q)[run] == pytest.approx(q, abs=1e-10)
        if gain is not None:
            assert session.state.numbers[run, 0] == pytest.approx(gain, abs=1e-10)


def test_epsilon_is_how_often_any_action_is_tried():
    mdp = ergodic(6, 4)
    simulation = simulator(mdp)(range(20))
    learner = DifferentialQ(step_size=0.0, epsilon=0.2)
    session = Session(learner, simulation, 4000)
    session.state.q[:, :, 2] = 1.0
    frequencies = np.mean(
        [np.bincount(p.data.actions.ravel(), minlength=4) / p.data.actions.size for p in session.play(4000)], 0
    )
    assert frequencies == pytest.approx([0.05, 0.05, 0.85, 0.05], abs=0.01)


def test_ties_share():
    data = next(
        Session(DifferentialQ(step_size=0.0, epsilon=0.0), simulator(ergodic(6, 4))(range(20)), 2000).play(2000)
    ).data
    assert np.bincount(data.actions.ravel()) / data.actions.size == pytest.approx([0.25] * 4, abs=0.02)


@pytest.mark.parametrize("learner", [DifferentialQ(), DifferentialSarsa(), OptimisticQ(width=0.1)], ids=repr)
def test_bits_do_not_depend_on_chunks_threads_or_stretches(learner, monkeypatch):
    mdp = river_swim(6)
    whole = aapi.run(learner, mdp, 7001, 7)
    for split in ({"chunk": 1}, {"chunk": 3, "threads": 2}):
        other = aapi.run(learner, mdp, 7001, 7, **split)
        assert np.array_equal(whole.cumulated, other.cumulated)
        assert np.array_equal(whole.next_policy, other.next_policy)
    monkeypatch.setattr("aapi.learners.online.STEPS", 313)
    assert aapi.run(learner, mdp, 7001, 7).cumulated == pytest.approx(whole.cumulated, abs=1e-9)


@pytest.mark.parametrize("learner", [DifferentialQ(gain_rate=0.1), DifferentialSarsa(gain_rate=0.1)], ids=repr)
@pytest.mark.parametrize("features", [Fourier(order=2), Tiles(tiles=3)], ids=repr)
def test_weights_move_so_that_the_value_does(learner, features):
    """w_a += α δ ψ/‖ψ‖², from values of before the step."""
    simulation = simulator(cartpole(), features)([0])
    session = Session(learner, simulation, 300)
    phases = list(session.play(300))
    data, basis = phases[0].data, simulation.space.basis
    psi, psi_after = basis(data.states)[0], basis(data.successors)[0]
    weights, gain = np.zeros(session.state.q.shape[1:]), 0.0
    chosen = np.append(data.actions[0, 1:], session.state.next_actions)
    for t, (a, reward) in enumerate(zip(data.actions[0], data.rewards[0], strict=True)):
        after = psi_after[t] @ weights
        value = after[chosen[t]] if learner.on_policy else after.max()
        change = learner.step_size * (reward - gain + value - psi[t] @ weights[:, a])
        gain += learner.gain_rate * change
        weights[:, a] += change * psi[t] / (psi[t] @ psi[t])
    assert session.state.q[0] == pytest.approx(weights, abs=1e-9)
    assert session.state.numbers[0, 0] == pytest.approx(gain, abs=1e-10)


def test_an_agent_that_was_saved_goes_on_with_the_same_bits(tmp_path):
    env = gymnasium.make("aapi/RiverSwim-v0", num_states=5)
    for learner in (DifferentialQ(epsilon=0.5), DifferentialSarsa(epsilon=0.5)):
        agent = aapi.Agent(learner, env, seed=3).learn(1500)
        agent.save(tmp_path / "half.aapi")
        resumed = aapi.load(tmp_path / "half.aapi", env=env).learn(2500)
        whole = aapi.Agent(learner, env, seed=3).learn(4000)
        assert np.array_equal(resumed.session.state.q, whole.session.state.q)
        assert whole.session.state.numbers[0, 1] == 4000


def test_copies_of_an_environment_are_learnt_from_in_turn():
    envs = gymnasium.make_vec("FrozenLake-v1", 3, vectorization_mode="sync", is_slippery=False)
    for learner in (DifferentialQ(epsilon=0.3), DifferentialSarsa(epsilon=0.3)):
        agent = aapi.Agent(learner, envs).learn(900)
        assert agent.session.state.numbers[0, 1] == 900
        assert agent.session.state.visits.sum() == 900


def test_learning_by_steps_solves_what_needs_no_exploration():
    shares = [
        float((result.cumulated[:, -1] / result.num_steps).mean() / result.optimal_gain)
        for learner in (DifferentialQ(step_size="0.5/n^0.7", epsilon="1/n^0.5"), OptimisticQ(width=0.01))
        for result in [aapi.run(learner, ergodic(10, 2), 100_000, 5)]
    ]
    assert min(shares) > 0.97
    balanced = aapi.run(DifferentialSarsa(gain_rate=0.1), cartpole(), 50_000, 3, features=Fourier(order=3))
    assert balanced.average_reward_since(0.9).mean() > 0.9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DifferentialQ(step_size=-0.1), "step_size must be a finite number at least 0, not -0.1"),
        (lambda: DifferentialQ(step_size="fast"), "step_size must be a number, or one such as 0.5/n"),
        (lambda: DifferentialQ(epsilon=1.5), "epsilon must be at most 1, not 1.5"),
        (lambda: DifferentialQ(epsilon="0.5/m"), "epsilon must be a number, or one such as 0.5/n"),
        (lambda: DifferentialQ(gain_rate=np.nan), "gain_rate must be a finite number"),
        (lambda: CentredQ(discount=1.0), "discount must be below 1, not 1.0: with 1 it is differential-q"),
        (lambda: RVIQ(reference="last"), "reference must be first or mean, not 'last'"),
        (lambda: OptimisticQ(span=0.0), "span must be a finite number larger than 0"),
        (lambda: OptimisticQ(delta=2.0), "delta must lie strictly between 0 and 1"),
        (lambda: OptimisticQ(reward_high=0.5), "a reward of 1.0 was seen, beyond reward_high, 0.5: give the range of"),
        (lambda: OptimisticQ(reward_low=2.0, reward_high=1.0), "reward_low, 2, must not be larger than reward_high, 1"),
    ],
)
def test_bad_settings_are_refused_in_one_line(make, message):
    with pytest.raises(InvalidInput, match=r"^[^\n]*$") as error:
        aapi.run(make(), ergodic(3, 2), 100)
    assert message in str(error.value)


def test_what_a_method_needs_to_know_is_said():
    with pytest.raises(InvalidInput, match="total_steps must be given: optimistic Q-learning needs T"):
        aapi.Agent(OptimisticQ(), gymnasium.make("FrozenLake-v1"))
    told = OptimisticQ(total_steps=1000, reward_low=0.0, reward_high=1.0)
    assert aapi.Agent(told, gymnasium.make("FrozenLake-v1")).learn(300).num_steps == 300
    for learner in (RVIQ(), OptimisticQ()):
        with pytest.raises(InvalidInput, match="countable states"):
            aapi.run(learner, cartpole(), 100)
    assert aapi.run(DifferentialQ(), deep_sea(3), 50, 2).next_policy.shape == (2, 9, 2)


def always_the_second(situation):
    policies = np.zeros(situation.counts.visits.shape)
    policies[:, :, 1] = 1.0
    return aapi.exploration.Excursion(situation.free, policies, steps=50)


@pytest.mark.parametrize("learner", [DifferentialQ(epsilon=0.0), DifferentialSarsa(epsilon=0.0)], ids=repr)
def test_exploration_around_a_rule_explores_and_is_not_learnt_from(learner):
    session = Session(aapi.Exploring(learner, (always_the_second,)), simulator(ergodic(5, 2))([0]))
    session.state.inner.q[:, :, 0] = 100.0
    learnt = 0
    for phase in session.play(5000):
        exploring = phase.exploring is not None and phase.exploring.any()
        assert (phase.data.actions == 1).all() == exploring
        learnt += 0 if exploring else phase.data.steps
        if exploring:
            assert (session.state.inner.next_actions == -1).all()
    assert session.state.inner.numbers[0, 1] == learnt < 5000


def test_an_agent_acts_by_what_it_has_learnt_up_to_the_last_step():
    agent = aapi.Agent(DifferentialQ(epsilon=0.5), gymnasium.make("FrozenLake-v1", is_slippery=False)).learn(1500)
    values = agent.session.state.q[0, 0]
    assert agent.probabilities(0)[values.argmax()] == pytest.approx(1.0 / (values == values.max()).sum())


class Broken(gymnasium.Env):
    """Pays NaN at its tenth step."""

    observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        return int(action), np.nan if self.steps == 10 else 1.0, False, False, {}


@pytest.mark.parametrize("learner", [DifferentialQ(), DifferentialSarsa()], ids=repr)
def test_nothing_is_learnt_from_a_reward_that_is_no_number_on(learner):
    agent = aapi.Agent(learner, Broken())
    with pytest.raises(InvalidInput, match="step 10: the reward is nan"):
        agent.learn(2000)
    assert agent.num_steps == agent.session.state.numbers[0, 1] == agent.session.state.visits.sum() == 9


@pytest.mark.parametrize(
    ("learner", "name", "place", "message"),
    [
        (DifferentialSarsa(), "next_actions", 0, "next_actions must lie in -1..3"),
        (DifferentialQ(), "visits", (0, 3, 1), "visits must not be negative"),
        (aapi.IMEDRL(reward_low=0.0, reward_high=1.0), "visits", (0, 0, 0, 3), "successors that were stored"),
    ],
    ids=repr,
)
def test_files_with_indices_that_kernels_could_not_bear_are_refused(learner, name, place, message, tmp_path):
    env = gymnasium.make("FrozenLake-v1")
    agent = aapi.Agent(learner, env).learn(100)
    vars(agent.session.state)[name][place] = -5 if name == "visits" and len(place) == 3 else 10**9
    agent.save(tmp_path / "bad.aapi")
    with pytest.raises(InvalidInput, match=message):
        aapi.load(tmp_path / "bad.aapi", env=env)


def test_stretches_without_end_take_room_for_what_was_seen_and_are_stored_with_any_number_of_copies(tmp_path):
    learner = aapi.UCRL2(reward_low=0.0, reward_high=1.0)
    envs = gymnasium.make_vec("FrozenLake-v1", 3, vectorization_mode="sync")
    agent = aapi.Agent(learner, envs).learn(3000)
    assert agent.simulation.rewards.nbytes < 1 << 20
    agent.save(tmp_path / "three.aapi")
    assert aapi.load(tmp_path / "three.aapi", env=envs).learn(300).num_steps == 3300


def test_rewards_at_the_end_of_a_range_that_is_rounded_are_within_it():
    transitions = np.zeros((2, 2, 2))
    transitions[:, 0, 0] = transitions[:, 1, 1] = 1.0
    model = aapi.FiniteMDP(transitions, np.array([[-0.46, 0.27], [0.27, -0.46]]))
    assert aapi.run(OptimisticQ(), model, 3000).num_steps == 3000
