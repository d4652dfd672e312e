import dataclasses

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import aapi
from aapi.environments import drawing
from aapi.environments.queueing import (
    CappedNetwork,
    Network,
    c_mu,
    criss_cross_network,
    longest_queue,
    n_model_network,
    six_class_network,
)
from aapi.environments.queueing.env import CrissCrossEnv, NetworkEnv, SixClassEnv
from aapi.environments.queueing.pictures import SHOWN, network_picture, network_text
from aapi.errors import InvalidInput
from aapi.mdp import policy_values


def play(env, rule, steps, seed):
    jobs, _ = env.reset(seed=seed)
    rewards = np.empty(steps)
    for t in range(steps):
        jobs, rewards[t], terminated, truncated, _ = env.step(int(rule(jobs)))
        assert not terminated
        assert not truncated
    return rewards


@pytest.mark.parametrize(
    "arguments",
    [("aapi/CrissCross-v0", {"regime": "BH"}), ("aapi/SixClass-v0", {"classes": 9}), ("aapi/NModel-v0", {})],
)
def test_ids_with_arguments(arguments):
    name, sizes = arguments
    env = gymnasium.make(name, **sizes)
    check_env(env.unwrapped, skip_render_check=True)
    first, again = (play(env, lambda jobs: jobs.sum() % env.action_space.n, 300, 5) for _ in range(2))
    assert (first == again).all()
    assert (play(env, lambda jobs: 0, 300, 6) != first).any()


# With one queue, and two stations in a row, averages are known: M/M/1 and Burke's theorem.
@pytest.mark.parametrize(
    ("network", "exact"),
    [
        (Network(("a",), (0.4,), (((0, 1.0),),), (None,), (1.0,)), 0.4 / 0.6),
        (Network(("a", "b"), (0.3, 0.0), (((0, 1.0),), ((1, 0.8),)), (1, None), (1.0, 2.0)), 0.3 / 0.7 + 2 * 0.3 / 0.5),
        (Network(("a", "b"), (0.2, 0.2), (((0, 1.0), (1, 0.5)),), (None, None), (1.0, 0.0)), 0.2 / 0.8),
        (Network(("a",), (0.8,), (((0, 1.0),),) * 2, (None,), (1.0,)), 0.8 / (1 - 0.16)),  # M/M/2
    ],
    ids=["one queue", "two in a row", "two rates, the first class first", "two servers"],
)
def test_the_mean_reward_is_minus_the_average_cost(network, exact):
    rewards = play(NetworkEnv(network), lambda jobs: 0, 100_000, 0)
    batches = rewards.reshape(50, -1).mean(axis=1)
    assert batches.mean() == pytest.approx(-exact, abs=3.0 * batches.std(ddof=1) / np.sqrt(50))
    assert batches.std() / np.sqrt(50) < 0.06 * exact


def test_with_caps_it_is_the_finite_model():
    network = dataclasses.replace(criss_cross_network("BH").network, lost_costs=(2.0, 3.0, 1.0))
    capped, rule = CappedNetwork(network, (3, 2, 4)), longest_queue(network)
    env = NetworkEnv(network, caps=(3, 2, 4))
    assert env.observation_space == gymnasium.spaces.Box(np.zeros(3, int), np.array([3, 2, 4]), dtype=np.int64)
    exact = policy_values(capped.model(), rule(capped.jobs())).gains[0]
    batches = play(env, rule, 100_000, 0).reshape(50, -1).mean(axis=1)
    assert batches.mean() == pytest.approx(exact, abs=3.0 * batches.std(ddof=1) / np.sqrt(50))
    assert batches.std() / np.sqrt(50) < 0.06 * -exact
    with pytest.raises(InvalidInput, match="caps must be one for each of 3 classes"):
        NetworkEnv(network, caps=(3, 2))


@pytest.mark.parametrize(
    "network",
    [criss_cross_network("BH").network, six_class_network(9).network, n_model_network().network,
     Network(("a", "b"), (0.1, 0.1), (((0, 1.0), (1, 2.0)),) * 3, (None, None), (1.0, 1.0))],
)  # fmt: skip
def test_stations_serve_as_in_the_models(network):
    env, generator = NetworkEnv(network), np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(200):
        jobs, action = generator.integers(0, 3, network.num_classes), int(generator.integers(network.num_actions))
        env.set_state(jobs.tolist())
        places = network.served(jobs[None, :], action)[0]
        expected = [None if p < 0 else station[p] for p, station in zip(places, network.stations, strict=True)]
        assert env._served(action) == expected


def test_it_goes_on_from_where_it_was():
    env, other = CrissCrossEnv("BM"), CrissCrossEnv("BM")
    play(env, longest_queue(env.network), 500, 3)
    other.reset()
    other.set_state(env.get_state())
    other.np_random = np.random.Generator(np.random.PCG64())
    other.np_random.bit_generator.state = env.np_random.bit_generator.state
    for t in range(300):
        (jobs, reward, *_), (jobs_there, reward_there, *_) = env.step(t % 2), other.step(t % 2)
        assert jobs.tolist() == jobs_there.tolist()
        assert reward == reward_there


@pytest.mark.parametrize(
    "state", [[1, 2], [1, 2, -1], [1, 2, 0.5], [1, 2, "x"], None, [1, 2, 2**31], [1, 2, float("nan")]]
)
def test_states_that_are_none(state):
    env = CrissCrossEnv()
    with pytest.raises(InvalidInput, match="state must be 3 whole numbers of jobs"):
        env.set_state(state)


def test_order_of_calls_and_bad_arguments():
    env = CrissCrossEnv()
    for call in (lambda: env.step(0), env.get_state):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
    with pytest.raises(InvalidInput, match=r"0\.\.1, not 2"):
        env.step(2)
    with pytest.raises(InvalidInput, match="regime must be one of"):
        CrissCrossEnv("XX")
    with pytest.raises(InvalidInput, match="multiple of 3"):
        SixClassEnv(7)
    with pytest.raises(InvalidInput, match="must be below 1"):
        NetworkEnv(Network(("a",), (1.0,), (((0, 1.0),),), (None,), (1.0,)))


def test_an_agent_learns_in_it_and_goes_on_exactly(tmp_path):
    agents = [aapi.Agent(aapi.AAPI(), gymnasium.make("aapi/CrissCross-v0", regime="IL")) for _ in range(2)]
    agents[0].learn(1200)
    agents[1].learn(500)
    agents[1].save(tmp_path / "agent.npz")
    loaded = aapi.load(tmp_path / "agent.npz", gymnasium.make("aapi/CrissCross-v0", regime="IL"))
    loaded.learn(700)
    assert loaded.total_reward == agents[0].total_reward
    for jobs in np.ndindex(3, 3, 3):
        assert (loaded.probabilities(np.array(jobs)) == agents[0].probabilities(np.array(jobs))).all()


def test_pictures():
    network = criss_cross_network().network
    assert network_text(network, [2, 40, 0]).splitlines() == [
        "station 1, class 1:   2 oo",
        "station 1, class 3:   0",
        "station 2, class 2:  40 " + "o" * SHOWN + "…",
    ]
    few, many, more = (network_picture(network, [n, 0, 0]) for n in (1, SHOWN, SHOWN + 1))
    blue = np.array(drawing.STEEL)
    count = [(picture == blue).all(axis=2).sum() for picture in (few, many, more)]
    assert count[0] < count[1] == count[2]
    assert (more == np.array(drawing.AGENT)).all(axis=2).any()
    assert not (many == np.array(drawing.AGENT)).all(axis=2).any()


def test_a_rule_is_a_plain_function_of_an_observation():
    env = CrissCrossEnv("BL")
    average = play(env, c_mu(env.network), 30_000, 1)
    batches = average.reshape(30, -1).mean(axis=1)
    assert batches.mean() == pytest.approx(-6 / 7, abs=3.0 * batches.std(ddof=1) / np.sqrt(30))  # product form
