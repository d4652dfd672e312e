import gymnasium
import pytest

from aapi.environments.suite.published import PUBLISHED_RUNS
from aapi.registration import ENVIRONMENTS


@pytest.mark.parametrize("published", PUBLISHED_RUNS, ids=lambda each: each.source)
def test_settings_fit_the_environment(published):
    assert published.environment in ENVIRONMENTS
    env = gymnasium.make(published.environment, **published.arguments)
    if published.layers:
        numbers = gymnasium.spaces.flatdim(env.observation_space)
        assert (published.layers[0], published.layers[-1]) == (numbers, env.action_space.n)
        assert published.batch <= published.buffer
    else:
        assert published.features
    assert all(0 <= discount <= 1 for discount in published.discounts)
    assert all(size > 0 for size in published.step_sizes)
