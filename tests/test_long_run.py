import runpy
from pathlib import Path

import numpy as np
import pytest

from aapi.errors import InvalidInput
from aapi.long_run import long_run

BENCHMARK = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "intervals.py"))


def noise(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def walk(memory, *shape):
    """Numbers that forget after so many steps, with mean 0 and variance 1."""
    decay, made = 1.0 - 1.0 / memory, noise(*shape) * np.sqrt(1.0 - (1.0 - 1.0 / memory) ** 2)
    for t in range(1, shape[-1]):
        made[..., t] += decay * made[..., t - 1]
    return made


def test_independent_rewards_have_the_interval_of_a_sample():
    rewards = 3.0 + noise(40_000)
    found = long_run(rewards)
    assert found.mean == rewards.mean()
    assert found.method == "256 batches"
    assert found.half_width == pytest.approx(1.97 / 200, rel=0.1)
    assert found.lower < 3.0 < found.upper
    assert found.half_width == pytest.approx(1.97 * found.standard_error, rel=0.01)
    assert str(found) == "3.002 ± 0.010"


def test_correlated_rewards_have_fewer_batches_and_a_wider_interval():
    found = long_run(walk(50, 40_000))
    assert int(found.method.split()[0]) < 256
    assert found.half_width == pytest.approx(1.97 * np.sqrt(99 / 40_000), rel=0.3)  # Σ of correlations: 2 · 50 − 1
    assert found.lower < 0.0 < found.upper


@pytest.mark.parametrize(
    ("rewards", "why"),
    [
        (walk(50, 1000), "the run is too short"),
        (np.arange(5000.0), "the run is too short"),
        (np.arange(5000) < 2500, "the run is too short"),
        (np.arange(5000) % 2500 == 0, "the run is too short"),  # twice is not often
        (noise(100), "the run is too short"),
        (np.ones(5000), "all rewards are the same"),
        ([0.5], "all rewards are the same"),
    ],
)
def test_what_says_too_little_has_no_interval(rewards, why):
    found = long_run(rewards)
    assert (found.half_width, found.lower, found.upper, found.method) == (None, None, None, why)
    assert str(found) == f"{found.mean:.5g} ({why})"


def test_runs_are_pooled():
    pooled, single = long_run(noise(10, 4000)), long_run(noise(1, 4000))
    assert pooled.half_width == pytest.approx(single.half_width / np.sqrt(10), rel=0.2)


def test_runs_that_went_different_ways_are_too_short():
    assert long_run(noise(8, 4000) + 10.0 * np.arange(8)[:, None]).half_width is None


def test_where_a_state_comes_back_cycles_are_independent():
    length = np.random.default_rng(1).integers(1, 200, size=2000)
    states = np.concatenate([np.arange(each) for each in length])
    rewards = (states > 50).astype(float)
    found, batches = long_run(rewards, states), long_run(rewards)
    assert found.method == "1999 cycles"
    assert found.half_width == pytest.approx(batches.half_width, rel=0.2)
    assert found.mean == batches.mean == rewards.mean()


def test_the_same_cycle_again_and_again_tells_nothing():
    around = np.arange(10_000) % 20
    found = long_run((around == 0).astype(float), around)
    assert found.method.endswith("batches")
    assert found.lower <= 0.05 <= found.upper


@pytest.mark.parametrize("rewards", [[], [1.0, np.nan], np.zeros((2, 2, 2))])
def test_bad_rewards_are_refused(rewards):
    with pytest.raises(InvalidInput, match="rewards must be finite numbers"):
        long_run(rewards)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "steps", "most_short"),
    [
        ("ergodic 10×2, at random", 2_000, 0.0),
        ("ring of 6, period 6", 2_000, 0.0),
        ("RiverSwim, optimal", 10_000, 0.0),
        ("two states, switching .01", 20_000, 0.3),
        ("two states, switching .001", 20_000, 1.0),
        ("M/M/1/20, load .5", 20_000, 0.1),
    ],
)
def test_intervals_hold_the_exact_gain_or_are_not_given(name, steps, most_short):
    for right, wrong in BENCHMARK["examine"](*BENCHMARK["chains"]()[name], steps, 300, 3):
        assert wrong <= 0.08  # 5 %, and 2.4 standard deviations of 300 repetitions
        assert 1.0 - right - wrong <= most_short + 1e-9
        assert right < 1.0


@pytest.mark.parametrize("power", [-300, 0, 500])
def test_the_scale_of_rewards_does_not_matter(power):
    rewards = np.random.default_rng(1).normal(size=5000)
    one, other = long_run(rewards), long_run(np.ldexp(rewards, power))
    assert other.half_width == np.ldexp(one.half_width, power)
    assert other.mean == np.ldexp(one.mean, power)


def test_rewards_that_repeat_are_said_to():
    assert long_run(np.arange(20_480) % 2).method == "all batches are the same: rewards are periodic"
