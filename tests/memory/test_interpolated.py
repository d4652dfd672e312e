"""The model of observation vectors: what it recognises, and that it depends on the steps alone."""

import numpy as np
import pytest

from aapi.approximation import Interpolated
from aapi.errors import InvalidInput
from aapi.learners.state import stored
from aapi.memory import Interpolate
from aapi.memory.layout import Extent
from aapi.simulation import PhaseData


def phases(number, steps=40, dimension=2, seed=0):
    """A random walk, in phases."""
    random = np.random.default_rng(seed)
    walk = np.cumsum(random.normal(size=(number * steps + 1, dimension)), axis=0)
    for k in range(number):
        part = slice(k * steps, (k + 1) * steps)
        yield PhaseData(
            walk[None, part], random.integers(0, 3, size=(1, steps), dtype=np.int32), random.normal(size=(1, steps)),
            walk[None, (k + 1) * steps], np.zeros((1, 1)), np.array([steps]),
        )  # fmt: skip


def model(data, window=1000):
    memory = Interpolate(window).start(Interpolated(2, 3), 1)
    for phase in data:
        memory = memory.add(phase, None)
    return memory


def test_counts_add_up():
    memory = model(phases(5))
    counts, steps = memory.counts, memory.steps
    assert counts.visits.sum() == pytest.approx(200.0)
    assert counts.weights.sum() == pytest.approx(200.0)
    assert counts.earned.sum() == pytest.approx((steps.rewards - steps.rewards[0]).sum())
    assert (np.diff(counts.keys) > 0).all()


def test_what_was_stored_is_restored_to_the_bit():
    memory = model(phases(9), window=100)
    again = Interpolate(100).start(Interpolated(2, 3), 1).restored(stored(memory))
    for name in ("counts", "grid", "extent", "steps"):
        for mine, other in zip(getattr(memory, name), getattr(again, name), strict=True):
            assert np.array_equal(mine, other)


def test_memory_is_bounded_and_spread_over_all_that_was():
    data = list(phases(30))
    memory = model(data, window=200)
    assert 200 <= len(memory.steps.rewards) <= 300
    assert np.array_equal(memory.steps.rewards[-100:], np.concatenate([each.rewards[0] for each in data])[-100:])
    assert np.array_equal(memory.steps.rewards[0], data[0].rewards[0, 0])
    assert memory.extent.holds(np.concatenate([each.states[0] for each in data]))


@pytest.mark.parametrize(
    "change", [{"laid": np.asarray(10_000)}, {"steps_1": np.full(360, 7, np.int32)}, {"steps_0": np.zeros((3, 2))}]
)
def test_what_cannot_be_is_refused(change):
    arrays = stored(model(phases(9))) | change
    with pytest.raises(InvalidInput):
        Interpolate(1000).start(Interpolated(2, 3), 1).restored(arrays)


def test_one_run_at_a_time():
    with pytest.raises(InvalidInput, match="one run at a time"):
        Interpolate().start(Interpolated(2, 3), 2)


def test_whole_numbers_and_circles_are_recognised():
    angle, random = np.linspace(0.0, 6.0, 50), np.random.default_rng(0)
    seen = np.stack([np.arange(50) % 7, np.cos(angle), np.sin(angle), random.normal(size=50)], axis=1)
    extent = Extent.of(seen)
    assert extent.whole.tolist() == [True, False, False, False]
    assert extent.circle.tolist() == [False, True, False, False]
    assert extent.describe() == "1 whole number, 1 angle, 1 real number"
    assert extent.holds(seen)
    for other in ([0.5, 1.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [8.0, 1.0, 0.0, 0.0]):
        assert not extent.holds(np.array([other]))
