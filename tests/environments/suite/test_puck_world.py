import math

import gymnasium
import numpy as np
import pytest

from aapi.environments import puck_world
from aapi.environments.suite.puck_world import chase
from aapi.environments.suite.puck_world_env import PuckWorldEnv
from aapi.errors import InvalidInput

PUSHES = {0: (0.0, -0.1), 1: (-0.1, 0.0), 2: (0.0, 0.1), 3: (0.1, 0.0)}  # y points down


def test_it_moves_as_the_description_says():
    env = gymnasium.make("aapi/PuckWorld-v0").unwrapped
    seen, _ = env.reset(seed=3)
    assert (seen[2:4] == 0).all()
    place, speed, goal = list(seen[:2]), [0.0, 0.0], list(seen[4:])
    random, bounced, goals = np.random.default_rng(0), 0, [goal]
    for step in range(1, 3001):
        if step % 40 == 1:
            action = int(random.integers(4))
        seen, reward, *_ = env.step(action)
        for axis in (0, 1):
            for _ in range(4):
                speed[axis] += 0.05 * (PUSHES[action][axis] - 0.5 * speed[axis])
                place[axis] += 0.05 * speed[axis]
            if not 0.5 <= place[axis] <= 4.5:
                place[axis], speed[axis] = min(max(place[axis], 0.5), 4.5), -0.5 * speed[axis]
                bounced += 1
        if step % 300 == 0:
            goals.append(list(seen[4:]))
        assert seen == pytest.approx([*place, *speed, *goals[-1]], abs=1e-9)
        assert reward == pytest.approx(-math.dist(place, goals[-1]), abs=1e-9)
        assert env.observation_space.contains(seen)
    assert bounced > 20
    assert len({tuple(each) for each in goals}) == 11


def test_goals_and_starts_are_drawn_evenly():
    env = PuckWorldEnv()
    env.reset(seed=0)
    drawn = np.array([env.reset()[0][[0, 1, 4, 5]] for _ in range(2000)])
    assert drawn.min() >= 0
    assert drawn.max() < 5
    assert drawn.mean(axis=0) == pytest.approx(2.5, abs=5 * 5 / math.sqrt(12 * 2000))
    assert drawn.std(axis=0) == pytest.approx(5 / math.sqrt(12), rel=0.1)


def test_the_bound_is_the_mean_distance_to_where_the_puck_can_be():
    goals = np.random.default_rng(0).uniform(0, 5, size=(200_000, 2))
    away = np.hypot(*(goals - np.clip(goals, 0.5, 4.5)).T)
    assert puck_world().best_gain == pytest.approx(-away.mean(), abs=4 * away.std() / math.sqrt(len(away)))


def test_the_rule_gets_to_the_goal_and_stays_there():
    env = PuckWorldEnv()
    seen, _ = env.reset(seed=1)
    late = []
    for step in range(6000):
        seen, reward, *_ = env.step(chase(seen))
        if 250 < step % 300 < 299:  # the next goal is drawn in the 300th step
            nearest = np.clip(seen[4:], 0.5, 4.5)
            late.append(reward + math.dist(seen[4:], nearest))
    assert min(late) > -0.05  # how much further away than the nearest place it can be at


@pytest.mark.parametrize("changed", [{0: -0.1}, {2: 0.3}, {6: 300.0}, {6: 0.5}, {6: -1.0}, {4: math.nan}, {7: -1}])
def test_bad_states(changed):
    env = PuckWorldEnv()
    env.reset(seed=0)
    state = env.get_state()
    for place, number in changed.items():
        state[place] = number
    with pytest.raises(InvalidInput, match=r"state must be what get_state\(\) returned|lies outside"):
        env.set_state(state)
