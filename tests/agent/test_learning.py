"""The agent learns Gymnasium's own environments. Settings were chosen on seeds from 100 on; this is seed 1."""

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.environments import Continuing
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier
from aapi.mdp import FiniteMDP, policy_values, solve


def latest(name):
    """Taxi-v3 for older versions of Gymnasium, Taxi-v4 for newer ones."""
    return max(
        (known for known in gymnasium.registry if known.startswith(f"{name}-v")), key=lambda known: int(known[-1])
    )


def model_of(env, start):
    """A toy-text environment, whose episodes follow each other, as a finite model."""
    table = env.unwrapped.P
    states, actions = len(table), len(table[0])
    transitions, rewards = np.zeros((states, actions, states)), np.zeros((states, actions))
    for x, a in np.ndindex(states, actions):
        for probability, successor, reward, ended in table[x][a]:
            rewards[x, a] += probability * reward
            transitions[x, a] += probability * (start if ended else np.eye(states)[successor])
    return FiniteMDP(transitions, rewards)


def test_cartpole_v1_is_balanced_for_190_of_200_steps():
    algorithm = aapi.AAPI(phase_length=2000, eta=0.05, evaluate=MonteCarlo(horizon=100, ridge=30.0))
    env = Continuing(gymnasium.make("CartPole-v1"), ending="shortfall", limit=200)
    agent = aapi.Agent(algorithm, env, Fourier(4), seed=1).learn(60_000)
    score = agent.evaluate(4000)
    assert len(score.lengths) >= 20
    assert score.episode_length >= 190


@pytest.mark.slow
def test_acrobot_swings_up_much_faster_than_at_random():
    algorithm = aapi.AAPI(phase_length=2000, eta=0.1, evaluate=MonteCarlo(horizon=100, ridge=10.0))
    env = Continuing(gymnasium.make("Acrobot-v1"), ending=100.0)
    agent = aapi.Agent(algorithm, env, Fourier(1), seed=1).learn(60_000)
    score = agent.evaluate(4000)
    assert score.episode_return > -200  # at random −500: the time limit, nearly always


@pytest.mark.slow
def test_frozen_lake_earns_most_of_its_exact_optimum():
    algorithm = aapi.AAPI(phase_length=20_000, eta=0.3, evaluate=MonteCarlo(horizon=30, ridge=10.0))
    env = gymnasium.make("FrozenLake-v1")
    agent = aapi.Agent(algorithm, env, seed=1).learn(400_000)
    model = model_of(env, np.eye(16)[0])
    optimal, random = solve(model).gain, policy_values(model, np.full((16, 4), 0.25)).gain
    learnt = policy_values(model, agent.policy[0]).gain
    assert optimal == pytest.approx(0.0179739, abs=1e-6)
    assert random == pytest.approx(0.0018168, abs=1e-6)
    assert learnt > 0.6 * optimal  # a hundred runs on the model: 0.91 on average, the worst 0.67


@pytest.mark.slow
def test_taxi_learns_to_deliver():
    algorithm = aapi.Politex(phase_length=50_000, eta=10.0, evaluate=MonteCarlo(horizon=20, centre=True, ridge=0.1))
    env = gymnasium.make(latest("Taxi"))
    agent = aapi.Agent(algorithm, env, seed=1).learn(1_000_000)
    model = model_of(env, np.asarray(env.unwrapped.initial_state_distrib))
    learnt = policy_values(model, agent.policy[0]).gain
    assert policy_values(model, np.full((500, 6), 1 / 6)).gain < -3.5
    assert learnt > 0.0  # an optimal taxi earns 0.607
