"""UCRL2, UCRL2B, KL-UCRL and SCAL, episode by episode, against a slow reference from the papers."""

import math
import re

import gymnasium
import numpy as np
import optimistic_reference as reference
import pytest
from scipy.optimize import linprog
from support import interpreted

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, river_swim
from aapi.errors import InvalidInput
from aapi.features import OneHot
from aapi.learners.confidence import Bernstein, EarlyBernstein
from aapi.learners.learner import Session
from aapi.learners.optimism import best_in_ball, best_in_box, best_in_divergence, sort_by_value
from aapi.learners.ucrl import evidence
from aapi.mdp import diameter
from aapi.memory import CountTransitions, TrackRewards
from aapi.simulation import PhaseData

GAP = 1e-9
T = 400
LEARNERS = {
    "ucrl2": (aapi.UCRL2, reference.hoeffding, {}),
    "ucrl2b": (aapi.UCRL2B, reference.bernstein, {}),
    "kl-ucrl": (aapi.KLUCRL, reference.kullback_leibler, {}),
    "scal": (aapi.SCAL, reference.early_bernstein, {"span": 2.5}),
}
PROBLEMS = {"ergodic": ergodic(4, 2), "river": river_swim(4), "sea": deep_sea(3)}


def played(learner, problem, num_steps, seed=7):
    """(state of the learner after it, phase) of every episode."""
    session = Session(learner, simulator(problem, OneHot(), seed)([0]), num_steps)
    for phase in session.play(num_steps):
        yield session.state, phase


def steps_of(data):
    return zip(data.states[0], data.actions[0], data.rewards[0], data.successors[0], strict=True)


@pytest.mark.parametrize("width", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("seen_only", [True, False])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_episodes_gains_and_policies_are_those_of_the_papers(name, problem, seen_only, width):
    make, bounds, more = LEARNERS[name]
    width = math.sqrt(width) if name == "kl-ucrl" else width  # its square multiplies a divergence
    model = PROBLEMS[problem]
    low, high = model.rewards.min(), model.rewards.max()
    learner = make(width=width, seen_only=seen_only, accuracy=GAP, **more)
    whole = [each for each in played(learner, model, T) if each[1].data.complete]

    def plan(seen):
        states = seen.states if seen_only else range(model.num_states)
        span = more["span"] / (high - low) if more else math.inf
        return reference.extended_values(seen, bounds, states, learner.delta, width, T, 1e-7, span)

    seen = reference.Seen(model.num_states, model.num_actions, low, high)
    expected = reference.replay(((phase.policy[0], steps_of(phase.data)) for _, phase in whole), seen, plan)
    assert len(whole) > 10
    for (state, _), (gain, q) in zip(whole, expected, strict=True):
        assert state.gap <= GAP * (high - low)
        assert (state.gain[0] - low) / (high - low) == pytest.approx(gain, abs=1e-6)
        for x, values in q.items():
            assert values[state.policy[0, x] > 0].min() >= values.max() - 1e-4


def random_set(generator, shape):
    """States with values, transitions of one pair with probabilities, and a radius or widths."""
    num_states = int(generator.integers(2, 9))
    values = generator.choice([generator.normal(size=num_states), generator.integers(0, 3, num_states).astype(float)])
    chances = generator.multinomial(int(generator.integers(1, 9)), np.full(num_states, 1 / num_states)).astype(float)
    chances /= chances.sum()
    radius = float(generator.choice([generator.random() * 2, generator.random() ** 4, 5.0, 1e-4]))
    widths = np.where(chances > 0, generator.random(num_states) * radius, radius)
    return values, chances, radius, widths


@pytest.mark.parametrize("seed", range(40))
def test_the_best_in_a_set_is_that_of_a_general_solver(seed):
    generator = np.random.default_rng(seed)
    values, chances, radius, widths = random_set(generator, seed)
    size, support = len(values), np.flatnonzero(chances)
    rest = np.zeros(size)
    lower, upper = np.maximum(chances - widths, 0.0), np.minimum(chances + widths, 1.0)
    box = linprog(-values, A_eq=np.ones((1, size)), b_eq=[1.0], bounds=list(zip(lower, upper, strict=True)))
    order = np.arange(size)
    sort_by_value(order, values, order.copy())
    assert (np.diff(values[order]) <= 0).all()
    room = np.full(size, -1)
    found = best_in_box(support, chances[support], widths[support], radius, values, order, room)
    assert found == pytest.approx(-box.fun, abs=1e-9)
    assert (room == -1).all()
    # p = p̂ + plus − minus with Σ (plus + minus) ≤ radius
    ball = linprog(
        np.concatenate([-values, rest, rest]),
        A_eq=np.block([[np.ones((1, size)), np.zeros((1, 2 * size))], [np.eye(size), -np.eye(size), np.eye(size)]]),
        b_eq=np.append(1.0, chances), A_ub=[np.concatenate([rest, rest + 1, rest + 1])], b_ub=[radius],
    )  # fmt: skip
    assert best_in_ball(support, chances[support], radius, values, values.max()) == pytest.approx(-ball.fun, abs=1e-9)
    # The dual of the maximisation over a Kullback-Leibler ball, on a fine grid.
    below = values.max() - values[support]
    grid = np.append(0.0, np.geomspace(1e-9, 1e6, 200_001))[:, None]
    with np.errstate(divide="ignore"):
        dual = grid[:, 0] - np.exp(-radius + np.log(grid + below) @ chances[support])
    found = best_in_divergence(support, chances[support], radius, values, values.max())
    assert found == pytest.approx(values.max() + dual.min(), abs=1e-6)


def test_states_are_sorted_however_they_were_before():
    generator = np.random.default_rng(1)
    for size in (1, 2, 7, 100):
        for values in (
            generator.normal(size=size),
            np.arange(float(size)),
            generator.integers(0, 4, size).astype(float),
        ):
            order = generator.permutation(size)
            expected = order[np.argsort(-values[order], kind="stable")]
            sort_by_value(order, values, order.copy())
            assert (order == expected).all() or (values[order] == values[expected]).all()


def test_bernstein_sets_know_the_variance_of_rewards():
    generator = np.random.default_rng(3)
    states, actions = generator.integers(0, 3, (2, 1, 400), dtype=np.int32)
    actions %= 2
    rewards = generator.normal(size=(1, 400))
    rewards[states + actions == 0] = 0.3
    data = PhaseData(states, actions, rewards, np.array([1]), np.zeros((1, 1)), np.array([400]))
    space = simulator(ergodic(3, 2))([0]).space
    low, high = rewards.min(), rewards.max()
    counts, moments = CountTransitions().start(space, 1).add(data, None), TrackRewards().start(space, 1).add(data, None)
    seen = reference.Seen(3, 2, low, high)
    for x, a, r, y in zip(states[0], actions[0], rewards[0], data.successors[0], strict=True):
        seen.add(x, a, r, y)
    assert moments.variances[0, 0, 0] == 0.0
    for make, bounds in ((Bernstein, reference.bernstein), (EarlyBernstein, reference.early_bernstein)):
        models = make(0.1, 0.004)(evidence(counts, moments, low, high - low, None))
        for x, a in np.ndindex(3, 2):
            margin, _ = bounds(seen, x, a, 0.1, 0.004, None)
            assert models.rewards[2 * x + a] == pytest.approx(min(1.0, np.mean(seen.rewards[x, a]) + margin))


def two_places(stay=0.9):
    """Pays in one of two states; an action changes the state for sure."""
    transitions = np.zeros((2, 2, 2))
    transitions[:, 0], transitions[:, 1] = [[stay, 1 - stay], [1 - stay, stay]], [[0, 1], [1, 0]]
    return aapi.FiniteMDP(transitions, np.array([[0.0, 0.0], [1.0, 1.0]]))


@pytest.mark.parametrize("name", ["ucrl2", "ucrl2b", "kl-ucrl"])
def test_regret_is_below_the_bound_where_that_says_anything(name):
    model, num_steps = two_places(), 4_000_000
    result = aapi.run(LEARNERS[name][0](), model, num_steps, 2, threads=2)
    bound = 34 * diameter(model) * 2 * math.sqrt(2 * num_steps * math.log(num_steps / 0.05))
    assert bound < 0.5 * num_steps * result.optimal_gain
    assert (num_steps * result.optimal_gain - result.cumulated[:, -1] < bound).all()


def test_what_cannot_be_reached_does_no_harm_unless_asked_for():
    ring, size, num_steps = ergodic(5, 2), 7, 20_000
    transitions, rewards = np.zeros((size, 2, size)), np.zeros((size, 2))
    transitions[:5, :, :5], transitions[5:, :, 0], rewards[:5] = ring.transitions, 1.0, ring.rewards
    model = aapi.FiniteMDP(transitions, rewards)  # nothing leads to the last two states
    uniform = aapi.run(aapi.learners.Uniform(), model, num_steps, 2).cumulated[:, -1].mean()
    for make in (aapi.UCRL2, aapi.UCRL2B, aapi.KLUCRL):
        seen, every = (
            aapi.run(make(width=0.1, seen_only=seen_only), model, num_steps, 2).cumulated[:, -1].mean()
            for seen_only in (True, False)
        )
        assert seen > 0.97 * 0.306735 * num_steps
        assert every < uniform + 0.5 * (seen - uniform)


def test_a_plan_that_cannot_close_its_gap_says_so_and_acts():
    transitions = np.zeros((3, 2, 3))
    transitions[0, :, 1], transitions[1, :, 1], transitions[2, :, 0] = 1.0, 1.0, 1.0
    transitions[1, 1] = [0.0, 0.0, 1.0]
    transitions[2] = [0.0, 0.0, 1.0]
    model = aapi.FiniteMDP(transitions, np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]))  # from 2 nothing leads back
    for make, _, more in LEARNERS.values():
        learner = make(width=0.0, accuracy=1e-3, **(more | ({"span": 1e9} if more else {})))
        (state, _) = list(played(learner, model, 100))[-1]
        assert state.policy.sum() == 3.0
        assert state.gap == pytest.approx(0.5, abs=0.01)  # states 1 and 2 earn 1 and ½ for ever, and none leads to 1


def test_a_span_caps_values():
    learner = aapi.SCAL(span=2.0, width=0.01)
    wide = aapi.SCAL(span=1e6, width=0.01)
    for state, _ in played(learner, river_swim(6), 3000):
        values = state.q_hat[0].max(axis=1)
    assert np.ptp(values) <= 2.0 + 1.0 + 1e-9  # a sweep further
    for free, _ in played(wide, river_swim(6), 3000):
        values = free.q_hat[0].max(axis=1)
    assert np.ptp(values) > 4.0
    assert state.gain[0] < 0.42 < free.gain[0]  # the cap is below the true span: it promises too little


def test_errors_say_what_to_give():
    space = simulator(ergodic(3, 2))([0]).space
    for learner, message in (
        (aapi.SCAL(), "span must be given"),
        (aapi.UCRL2(delta=1.0), "delta must lie strictly between 0 and 1, not 1.0"),
        (aapi.UCRL2B(width=-1.0), "width must be a finite number at least 0, not -1.0"),
        (aapi.UCRL2(accuracy=0.0), "accuracy must be a finite number larger than 0"),
        (aapi.KLUCRL(total_steps=0), "total_steps must be at least 1, not 0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            aapi.run(learner, ergodic(3, 2), 10)
    with pytest.raises(InvalidInput, match="total_steps must be given"):
        aapi.KLUCRL().init(space, 1)
    with pytest.raises(InvalidInput, match=r"a reward of 1.0 was seen, beyond reward_high, 0\.5"):
        aapi.run(aapi.UCRL2(reward_high=0.5), ergodic(3, 2), 100)
    assert aapi.KLUCRL(total_steps=50).init(space, 1).num_steps == 50


def test_rewards_that_are_all_the_same_are_no_trouble():
    model = aapi.FiniteMDP(ergodic(4, 2).transitions, np.full((4, 2), 3.0))
    result = aapi.run(aapi.UCRL2B(), model, 200)
    assert result.cumulated[0, -1] == 600.0


def fingerprints():
    """Every bit that matters of short runs."""
    found = {}
    for name, (make, _, more) in LEARNERS.items():
        for problem, model in PROBLEMS.items():
            result = aapi.run(make(width=0.1, **more), model, 300, 2, 1, features=OneHot())
            arrays = (result.cumulated, result.phase_ends, result.next_policy)
            found[f"{name} {problem}"] = [array.tobytes().hex() for array in arrays]
    return found


def test_compiled_and_interpreted_give_the_same_bits():
    assert interpreted(__file__, "fingerprints") == fingerprints()


@pytest.mark.parametrize("name", LEARNERS)
def test_threads_and_company_change_nothing(name):
    make, _, more = LEARNERS[name]
    whole = aapi.run(make(width=0.1, **more), ergodic(6, 3), 2000, 6, 3)
    for how in ({"threads": 2}, {"chunk": 4}):
        other = aapi.run(make(width=0.1, **more), ergodic(6, 3), 2000, 6, 3, **how)
        assert (other.cumulated == whole.cumulated).all()
        assert (other.next_policy == whole.next_policy).all()
    alone = aapi.run(make(width=0.1, **more), ergodic(6, 3), 2000, 1, 3, first_run=4)
    assert (alone.next_policy == whole.next_policy[4]).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_an_agent_goes_on_exactly(name, tmp_path):
    make, _, more = LEARNERS[name]
    more = more | ({"total_steps": 900} if name == "kl-ucrl" else {})
    learner = make(width=0.1, reward_low=0.0, reward_high=1.0, **more)
    whole = aapi.Agent(learner, gymnasium.make("FrozenLake-v1"), seed=4)
    whole.learn(900)
    agent = aapi.Agent(learner, gymnasium.make("FrozenLake-v1"), seed=4)
    for steps in (100, 1, 333, 466):
        agent.learn(steps)
        agent.save(tmp_path / "agent")
        agent = aapi.load(tmp_path / "agent", env=gymnasium.make("FrozenLake-v1"))
    assert agent.algorithm == learner
    assert (agent.total_reward, agent.num_phases) == (whole.total_reward, whole.num_phases)
    assert all((agent.probabilities(x) == whole.probabilities(x)).all() for x in range(16))
    copies = gymnasium.make_vec("FrozenLake-v1", 3, vectorization_mode="sync")
    aapi.Agent(learner, copies, seed=4).learn(600)


def test_an_agent_has_to_be_told_the_range_of_rewards():
    with pytest.raises(InvalidInput, match="give reward_low and reward_high"):
        aapi.Agent(aapi.UCRL2(), gymnasium.make("FrozenLake-v1")).learn(10)
    with pytest.raises(InvalidInput, match="countable states"):
        aapi.Agent(aapi.UCRL2(reward_low=0, reward_high=1), gymnasium.make("CartPole-v1")).learn(10)


@pytest.mark.parametrize("learner", [aapi.UCRL2B(), aapi.SCAL(span=1e-300), aapi.PSRL(rewards="normal")], ids=repr)
@pytest.mark.parametrize("scale", [1e155, 1e300, 1e-155, 1e-310])
def test_rewards_that_cannot_be_squared_are_named(learner, scale):
    rewards = scale * np.array([[0.0, 1.0], [0.5, 0.0]])
    model = aapi.FiniteMDP(np.full((2, 2, 2), 0.5), rewards)
    with pytest.raises(InvalidInput, match=rf"rewards from 0 to {re.escape(f'{scale:g}')} cannot be squared"):
        aapi.run(learner, model, 100)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_rewards_that_nobody_was_told_of_are_named_too(scale):
    env = gymnasium.wrappers.TransformReward(gymnasium.make("Blackjack-v1"), lambda reward: scale * reward)
    with pytest.raises(InvalidInput, match="cannot be squared, as PSRL with normal rewards does: scale them"):
        aapi.Agent(aapi.PSRL(rewards="normal"), env).learn(1000)


@pytest.mark.parametrize("scale", [1e139, 1e-139])
@pytest.mark.parametrize("make", [aapi.UCRL2B, lambda: aapi.PSRL(rewards="normal")])
def test_rewards_of_other_units_are_the_same_problem(make, scale):
    model = ergodic(4, 2)
    other = aapi.FiniteMDP(model.transitions, model.rewards * scale)
    assert (aapi.run(make(), other, 500).next_policy == aapi.run(make(), model, 500).next_policy).mean() > 0.9


def test_a_range_is_one_of_numbers_that_can_be_added():
    with pytest.raises(InvalidInput, match=r"reward_low must lie between -1e\+302 and 1e\+302, not -1e\+308"):
        aapi.run(aapi.UCRL2(reward_low=-1e308, reward_high=1e308), ergodic(3, 2), 100)
