"""The last steps, on tables and on vectors."""

import numpy as np
import pytest
from experience import random_policies, rollout, shape_of

from aapi.approximation import LinearPolicy
from aapi.batch import simulator
from aapi.environments import cartpole, ergodic
from aapi.errors import InvalidInput
from aapi.features import Fourier
from aapi.kernels.linalg import aligned_zeros
from aapi.learners.state import restored, stored
from aapi.memory import KeepSteps

NAMES = ("states", "successors", "actions", "rewards", "probabilities")


def table(seed, simulation):
    return random_policies(seed, shape_of(simulation))


def linear(seed, simulation):
    runs, features, actions = shape_of(simulation)
    index = np.random.default_rng(seed).normal(size=(runs, actions, features))
    return LinearPolicy(index, np.ones(runs), aligned_zeros(runs, features, 0), False)


CASES = {
    "tables": (lambda: simulator(ergodic(4, 3))(range(2)), table),
    "vectors": (lambda: simulator(cartpole(), Fourier(1))(range(2)), linear),
}


def filled(case, count, phases=(7, 9, 5)):
    make, policy = CASES[case]
    simulation = make()
    window, everything = KeepSteps(count, probabilities=True).start(simulation.space, 2), []
    for k, steps in enumerate(phases):
        acting = policy(k, simulation)
        data = rollout(simulation, acting, steps)
        window = window.add(data, acting)
        everything.append((data, acting))
    return simulation, window, everything


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("count", "kept"), [(3, 3), (13, 13), (100, 21), (None, 5)])
def test_the_last_steps_are_kept(case, count, kept):
    simulation, window, everything = filled(case, count)
    for name in ("states", "actions", "rewards"):
        both = np.concatenate([getattr(data, name) for data, _ in everything], axis=1)
        assert (getattr(window, name) == both[:, -kept:]).all()
        assert getattr(window, name).dtype == both.dtype
    assert (window.successors[:, :-1] == window.states[:, 1:]).all()
    assert (window.successors[:, -1] == everything[-1][0].last_state).all()
    expected = []
    for data, acting in everything:
        for t in range(data.rewards.shape[1]):
            runs = range(2)
            if case == "tables":
                rows = [acting[run, data.states[run, t]] for run in runs]
            else:
                rows = acting.probabilities(simulation.space.basis, data.states[:, t : t + 1])[:, 0]
            expected.append([rows[run][data.actions[run, t]] for run in runs])
    assert window.probabilities == pytest.approx(np.array(expected).T[:, -kept:])


def test_probabilities_are_kept_only_if_asked_for():
    simulation = CASES["tables"][0]()
    window = KeepSteps(10).start(simulation.space, 2)
    window = window.add(rollout(simulation, table(0, simulation), 5), None)  # no policy is needed
    assert window.rewards.shape == (2, 5)
    assert window.probabilities.shape == (2, 0)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("count", [13, None])
def test_stored_and_restored(case, count):
    simulation, window, _ = filled(case, count)
    assert tuple(stored(window)) == NAMES
    empty = KeepSteps(count, probabilities=True).start(simulation.space, 2)
    other = restored(empty, {name: array.copy() for name, array in stored(window).items()})
    policy = CASES[case][1](5, simulation)
    data = rollout(simulation, policy, 4)
    window, other = (each.add(data, policy) for each in (window, other))
    for name in NAMES:
        assert (getattr(window, name) == getattr(other, name)).all()


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("actions", lambda a: a + 3, "actions must lie in 0..2"),
        ("states", lambda a: a - 9, "states must lie in 0..3"),
        ("successors", lambda a: a + 9, "successors must lie in 0..3"),
        ("rewards", lambda a: a * np.nan, "rewards holds a value that is not a finite number"),
        ("rewards", lambda a: a[0], "rewards must be float64 of shape"),
        ("probabilities", lambda a: 0 * a, "probabilities must be those of actions that were taken"),
        ("probabilities", lambda a: a[:, :2], "probabilities must be float64 of shape"),
        ("states", lambda a: a.astype(np.float64), "states must be int32 of shape"),
    ],
)
def test_what_does_not_fit_is_refused(name, change, line):
    simulation, window, _ = filled("tables", 13)
    arrays = stored(window)
    other = KeepSteps(13, probabilities=True).start(simulation.space, 2)
    with pytest.raises(InvalidInput, match="^" + line):
        restored(other, arrays | {name: change(arrays[name])})
    assert other.rewards.shape == (2, 0)


def test_too_many_steps_or_none_at_all_are_refused():
    simulation, window, _ = filled("tables", 13)
    with pytest.raises(InvalidInput, match="13 steps are more than the window of 12"):
        restored(KeepSteps(12, probabilities=True).start(simulation.space, 2), stored(window))
    with pytest.raises(InvalidInput, match=r"states must be int32 of shape .*, and nothing was stored"):
        restored(KeepSteps(12).start(simulation.space, 2), {})
    with pytest.raises(InvalidInput, match="window must be at least 1, not 0"):
        KeepSteps(0).start(simulation.space, 2)
