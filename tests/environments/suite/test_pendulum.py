import math

import gymnasium
import numpy as np
import pytest

from aapi.environments import pendulum
from aapi.environments.suite.pendulum import MAX_SPEED, balance
from aapi.environments.suite.pendulum_env import PendulumEnv
from aapi.errors import InvalidInput


@pytest.mark.parametrize(("dense", "torque", "friction"), [(0, 1.0, 0.1), (1, 2.0, 0.3)])
def test_it_moves_as_the_equation_says(dense, torque, friction):
    env = gymnasium.make("aapi/Pendulum-v0", dense=dense).unwrapped
    observation, _ = env.reset(seed=0)
    assert observation.tolist() == [1.0, 0.0, 0.0]
    angle = speed = 0.0
    random, near = np.random.default_rng(0), 0
    for step in range(2000):
        action = (2 if speed >= 0 else 0) if step % 400 < 200 else int(random.integers(3))  # swing up, or at random
        observation, reward, *_ = env.step(action)
        for _ in range(4):
            speed += 0.05 * (torque * (action - 1) - friction * speed - 9.81 * math.sin(angle))
            angle += 0.05 * speed
        angle %= 2 * math.pi
        assert observation == pytest.approx([math.cos(angle), math.sin(angle), speed], abs=1e-9)
        near += abs(angle - math.pi) < math.pi / 6
        expected = -((math.pi - angle) ** 2) - 0.1 * speed**2 if dense else float(abs(angle - math.pi) < math.pi / 6)
        assert reward == pytest.approx(expected, abs=1e-8)
        angle, speed = env.get_state()[3], observation[2]  # what rounds differently must not grow
    assert near > 50


def test_the_rule_swings_it_up_and_balances_it_for_ever():
    env = PendulumEnv()
    observation, _ = env.reset(seed=0)
    rewards = np.zeros(20_000)
    for step in range(len(rewards)):
        observation, rewards[step], *_ = env.step(balance(observation))
    assert rewards[0] == 0
    assert rewards[2000:].all()  # so λ_* = 1, the bound
    assert pendulum().best_gain == 1.0


def test_no_torques_lead_to_the_speed_at_which_it_is_cut():
    for dense, most in ((0, 10.98), (1, 8.1)):
        env = PendulumEnv(dense)
        observation, _ = env.reset(seed=0)
        speeds = []
        for _ in range(4000):
            observation, *_ = env.step(2 if observation[2] >= 0 else 0)
            speeds.append(abs(observation[2]))
        assert max(speeds) == pytest.approx(most, abs=0.015)
        assert max(speeds) < MAX_SPEED


@pytest.mark.parametrize("dense", [2, -1, 0.5, "yes"])
def test_bad_arguments(dense):
    with pytest.raises(InvalidInput) as error:
        pendulum(dense)
    assert str(error.value) == f"dense must be 0 or 1, not {dense!r}"


@pytest.mark.parametrize("changed", [{0: 0.5}, {3: -0.1}, {2: 13.0}, {4: 2.0}, {6: 1.0}, {2: math.nan}])
def test_bad_states(changed):
    env = PendulumEnv()
    env.reset(seed=0)
    state = env.get_state()
    for place, number in changed.items():
        state[place] = number
    with pytest.raises(InvalidInput, match=r"state must be what get_state\(\) returned|lies outside"):
        env.set_state(state)
