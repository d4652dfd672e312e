"""Agents that learn from several copies of an environment at once."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import aapi
from aapi.environments import Continuing
from aapi.environments.copies import LocalCopies
from aapi.errors import InvalidInput
from aapi.evaluation import LSTD, ImportanceMonteCarlo, MonteCarlo
from aapi.exploration import Discovery
from aapi.features import Fourier

COPIES = 3


def lakes(kind=SyncVectorEnv, copies=COPIES, wrap=lambda env: env, **arguments):
    return kind([lambda: wrap(gymnasium.make("FrozenLake-v1"))] * copies, **arguments)


def carts(kind=SyncVectorEnv, copies=COPIES, wrap=lambda env: env, **arguments):
    return kind([lambda: wrap(gymnasium.make("CartPole-v1"))] * copies, **arguments)


def paper_cart(env):
    return Continuing(env, ending="shortfall", limit=200)


def everything(agent, steps):
    """The data of all stretches, the policy, and the episodes."""
    found, episodes = [], []

    def watch(progress):
        data = progress.details.data
        found.extend(array.copy() for array in (data.states, data.actions, data.rewards, data.last_state))
        episodes.extend(progress.episodes)

    agent.learn(steps, callback=watch)
    stored = aapi.learners.state.stored(agent.session.state)
    return [*found, *(stored[name] for name in sorted(stored))], episodes


def same(first, second):
    assert len(first) == len(second) > 4
    for one, other in zip(first, second, strict=True):
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


class Whole(SyncVectorEnv):
    """A vector environment that is not taken apart."""


VECTORS = {
    "next step": {"kind": Whole},
    "same step": {"kind": Whole, "autoreset_mode": AutoresetMode.SAME_STEP},
    "disabled": {"kind": Whole, "autoreset_mode": AutoresetMode.DISABLED},
    "processes": {"kind": AsyncVectorEnv},
    "processes, same step": {"kind": AsyncVectorEnv, "autoreset_mode": AutoresetMode.SAME_STEP},
}


@pytest.mark.parametrize("how", VECTORS)
@pytest.mark.parametrize("make", [lakes, carts])
def test_all_vector_environments_are_the_same(how, make):
    """A vector environment of its own at every step, of whatever mode, is the same as copies stepped in turn."""
    learner = aapi.AAPI(phase_length=90, evaluate=MonteCarlo(horizon=10, ridge=1.0))
    features = None if make is lakes else Fourier(order=1)
    expected, episodes = everything(aapi.Agent(learner, make(), features, seed=5), 540)
    env = make(**VECTORS[how])
    agent = aapi.Agent(learner, env, features, seed=5)
    assert not isinstance(agent.copies, LocalCopies)
    found, ended = everything(agent, 540)
    env.close()
    same(found, expected)
    assert ended == episodes
    assert len(episodes) > 10
    assert agent.copies.rule == aapi.Agent(learner, make(), features).copies.rule


def test_each_copy_is_the_environment_of_its_seed():
    agent = aapi.Agent(aapi.learners.Uniform(phase_length=120), carts(), Fourier(order=1), seed=7)
    (states, actions, rewards, last, *_), _ = everything(agent, 120)
    for copy in range(COPIES):
        env = paper_cart(gymnasium.make("CartPole-v1"))
        observation, _ = env.reset(seed=7 + copy)
        for t in range(copy, 120, COPIES):
            assert (states[0, t] == observation).all()
            observation, reward, *_ = env.step(actions[0, t])
            assert rewards[0, t] == reward
        assert (last[0, copy] == observation).all()


def test_a_vector_of_one_copy_is_the_environment():
    learner = aapi.AAPI()
    vector = aapi.Agent(learner, lakes(copies=1), seed=3)
    single = aapi.Agent(learner, gymnasium.make("FrozenLake-v1"), seed=3)
    same(everything(vector, 2000)[0], everything(single, 2000)[0])


LEARNERS = {
    "untuned": aapi.AAPI(),
    "patient": aapi.AAPI(exploration=(Discovery(patience=40),)),
    "returns": aapi.AAPI(phase_length=100, evaluate=MonteCarlo(horizon=20, ridge=1.0)),
    "importance": aapi.Politex(phase_length=100, evaluate=ImportanceMonteCarlo(horizon=3, window=250)),
    "traces": aapi.AAPI(phase_length=100, evaluate=LSTD(trace=0.5)),
    "window": aapi.AAPI(phase_length=100, evaluate=LSTD(trace=0.5, reuse="window", window=250)),
    "rlsvi": aapi.RLSVI(phase_length=100, horizon=5, memory=250),
    "psrl": aapi.PSRL(reward_low=0.0, reward_high=1.0),
    "psrl-beta": aapi.PSRL(rewards="beta", reward_low=0.0, reward_high=1.0),
    "psrl-normal": aapi.PSRL(rewards="normal"),
    "rmax": aapi.RMAX(known_after=3, reward_low=0.0, reward_high=1.0),
    "imed-rl": aapi.IMEDRL(reward_low=0.0, reward_high=1.0),
}
ON_TABLES = ("traces", "patient", "psrl", "psrl-beta", "psrl-normal", "rmax", "imed-rl")


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("make", [lakes, carts])
def test_in_pieces_and_from_files(tmp_path, name, make):
    """Learning in pieces, saved and loaded between them, is learning in one go."""
    if make is carts and name in ON_TABLES:
        pytest.skip("needs countable states")
    features = None if make is lakes else Fourier(order=1)
    whole = aapi.Agent(LEARNERS[name], make(), features, seed=1).learn(1401)
    agent = aapi.Agent(LEARNERS[name], make(), features, seed=1)
    assert agent.learn(1).num_steps == COPIES
    for steps in (99, 333, 1, 700, 260):
        agent.learn(steps)
        agent.save(tmp_path / "agent")
        agent = aapi.load(tmp_path / "agent", make())
        assert agent.num_steps % COPIES == 0
    assert agent.num_steps == whole.num_steps == 1401
    assert agent.steps_left == whole.steps_left
    whole.save(tmp_path / "whole")
    agent.save(tmp_path / "agent")
    first, second = (np.load(tmp_path / name) for name in ("agent", "whole"))
    assert sorted(first) == sorted(second)
    for key in second:
        assert first[key].tobytes() == second[key].tobytes(), key


def test_copies_in_processes_come_back(tmp_path):
    """Copies that are wrapped in Continuing tell where they are, wherever they are."""
    learner = aapi.AAPI(phase_length=90, evaluate=MonteCarlo(horizon=10, ridge=1.0))
    expected = aapi.Agent(learner, carts(wrap=paper_cart), Fourier(order=1)).learn(600)
    env = carts(AsyncVectorEnv, wrap=paper_cart)
    agent = aapi.Agent(learner, env, Fourier(order=1)).learn(301)
    agent.save(tmp_path / "agent")
    env.close()
    env = carts(AsyncVectorEnv, wrap=paper_cart)
    agent = aapi.load(tmp_path / "agent", env).learn(297)
    env.close()
    assert agent.simulation.streams.tobytes() == expected.simulation.streams.tobytes()
    assert agent.total_reward == expected.total_reward
    assert agent.evaluate(50).average_reward == expected.evaluate(50).average_reward


def test_copies_that_cannot_tell_where_they_are(tmp_path):
    """What was learnt is saved; to go on, they would have to be wrapped in Continuing."""
    env = lakes(AsyncVectorEnv)
    aapi.Agent(aapi.AAPI(), env).learn(300).save(tmp_path / "agent")
    agent = aapi.load(tmp_path / "agent", env)
    assert agent.predict(0) in range(4)
    with pytest.raises(InvalidInput, match="where the environment is now is not known"):
        agent.learn(300)
    env.close()


def test_what_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"begins an episode in the step after the last one.*vectorization_mode"):
        aapi.Agent(aapi.AAPI(), gymnasium.make_vec("CartPole-v1", 2))  # a class of its own
    rules = iter((0.0, 1.0))
    with pytest.raises(InvalidInput, match="the same ending rule"):
        aapi.Agent(aapi.AAPI(), lakes(copies=2, wrap=lambda env: Continuing(env, next(rules))))
    with pytest.raises(InvalidInput, match="the phase length, 34, not 50"):
        aapi.Agent(aapi.AAPI(phase_length=100, evaluate=MonteCarlo(horizon=50)), lakes())
    aapi.Agent(aapi.AAPI(), lakes()).learn(300).save(tmp_path / "agent")
    for other in (lakes(copies=2), gymnasium.make("FrozenLake-v1")):
        with pytest.raises(InvalidInput, match="it learnt in 3 copies of its environment, and there are"):
            aapi.load(tmp_path / "agent", other)
    agent = aapi.load(tmp_path / "agent")
    assert "3 copies" in repr(agent)
    with pytest.raises(InvalidInput, match="no environment to act in"):
        agent.learn(10)
    learning = aapi.Agent(aapi.AAPI(), lakes())
    with pytest.raises(InvalidInput, match="another environment"):
        learning.evaluate(10, learning.copies.envs[1])


class Failing(gymnasium.Wrapper):
    """Raises an error, or a Ctrl-C, in a step."""

    def __init__(self, env, at, error):
        super().__init__(env)
        self.left, self.error = at, error

    def step(self, action):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.env.step(action)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("broken")])
def test_a_failure_in_the_middle_of_a_round(error, tmp_path):
    """What was seen before is kept, the turn is that of the copy that failed, and files go on from there."""
    made = iter((10**9, 70, 10**9))
    env = lakes(wrap=lambda env: Failing(env, next(made), error))
    agent = aapi.Agent(aapi.AAPI(), env, seed=2)
    with pytest.raises((KeyboardInterrupt, InvalidInput)):
        agent.learn(600)
    assert agent.num_steps == 69 * COPIES + 1
    agent.save(tmp_path / "agent")
    again = aapi.load(tmp_path / "agent", lakes())
    for other in (agent, again):
        other.learn(600 - other.num_steps)
        assert other.num_steps == 600
    assert again.total_reward == agent.total_reward


@pytest.mark.parametrize("copies", [2, 5])
def test_an_agent_that_explores_learns_in_copies(copies):
    found = [aapi.Agent(aapi.AAPI(), lakes(copies=copies), seed=2).learn(4000) for _ in range(2)]
    assert found[0].num_steps == 4000
    assert found[0].session.state.explored[0] > 0
    assert found[0].session.state.outlook.lost[0] >= 0.0
    assert (found[0].policy == found[1].policy).all()
    assert found[0].total_reward == found[1].total_reward > 0.0


def test_limits_are_met_at_the_end_of_a_round():
    simulation = aapi.Agent(aapi.AAPI(), lakes(), seed=4).simulation
    simulation.reset(4)
    limits = np.full((1, 16, 4), 1 << 40)
    limits[0, 0, 2] = 5
    data = simulation.rollout(aapi.simulation.Stretch(1, 0, 3000, simulation.space.uniform(1), limits=limits), 3000)
    visits = np.flatnonzero((data.states[0] == 0) & (data.actions[0] == 2))
    assert data.complete
    assert data.steps == COPIES * (visits[4] // COPIES + 1) < 3000


def test_partial_environments_can_be_made_by_gymnasium():
    env = gymnasium.make_vec("FrozenLake-v1", 4, vectorization_mode="sync", wrappers=[partial(Continuing, ending=-0.1)])
    agent = aapi.Agent(aapi.AAPI(), env).learn(400)
    assert agent.env.rule["ending"] == -0.1
    assert (agent.num_steps, agent.copies.number) == (400, 4)
