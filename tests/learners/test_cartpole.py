"""Continuing CartPole as in the paper. The settings were chosen on seeds 777 to 779, and are reported on seed 0."""

import pytest

import aapi
from aapi.environments import cartpole
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier

EVALUATE = MonteCarlo(horizon=100, centre=False, ridge=30.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm",
    [
        aapi.AAPI(phase_length=2000, eta=0.05, evaluate=EVALUATE),
        aapi.Politex(phase_length=2000, eta=30.0, evaluate=EVALUATE),
    ],
    ids=["aapi", "politex"],
)
def test_the_pole_is_balanced_in_the_last_tenth_of_100000_steps(algorithm):
    result = aapi.run(algorithm, cartpole(), 100_000, 10, seed=0, features=Fourier(4))
    assert result.average_reward[:, 0].mean() == pytest.approx(-6.16, abs=0.6)  # the first phase pushes at random
    assert result.average_reward_since(0.9).mean() >= 0.9
