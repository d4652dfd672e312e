"""Sums over traces, against those that are added up step by step."""

import numpy as np
import pytest
from experience import rollout, transitions, uniform

from aapi.batch import simulator, space_of
from aapi.environments import cartpole, deep_sea, ergodic
from aapi.errors import InvalidInput, TooLarge
from aapi.features import Coordinates, OneHot
from aapi.learners.state import restored, stored
from aapi.memory import SumTraces

PROBLEMS = {"one-hot": (ergodic(4, 2), OneHot()), "coordinates": (deep_sea(3), Coordinates())}


def phi(name, mdp, x, a):
    size = 4 if name == "one-hot" else 3
    psi = np.eye(size)[x] if name == "one-hot" else np.concatenate([np.eye(size)[x // size], np.eye(size)[x % size]])
    return np.kron(np.eye(mdp.num_actions)[a], psi)


def collect(name, trace, phases):
    simulation = simulator(*PROBLEMS[name])(range(2))
    sums, steps = SumTraces(trace).start(simulation.space, 2), [[], []]
    for length in phases:
        data = rollout(simulation, uniform(simulation), length)
        sums = sums.add(data, None)
        for run in range(2):
            steps[run] += transitions(data, run)
    return simulation, sums, steps


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("trace", [0.0, 0.5, 0.9])
def test_sums(name, trace):
    mdp = PROBLEMS[name][0]
    simulation, sums, steps = collect(name, trace, (30, 1, 50))
    size = simulation.space.num_features
    for run in range(2):
        z, earned, totals = np.zeros((3, size))
        arrivals, products, visits = (
            np.zeros((mdp.num_states, size)),
            np.zeros((size, size)),
            np.zeros(mdp.rewards.shape),
        )
        for x, a, r, after in steps[run]:
            feature = phi(name, mdp, x, a)
            z = trace * z + feature
            earned, totals, arrivals[after] = earned + z * r, totals + z, arrivals[after] + z
            products += np.outer(feature, z)
            visits[x, a] += 1
        assert (sums.visits[run] == visits).all()
        assert sums.earned[run] == pytest.approx(earned, abs=1e-12)
        assert sums.arrivals[run] == pytest.approx(arrivals, abs=1e-12)
        if trace:
            assert sums.totals[run] == pytest.approx(totals)
            assert sums.trace[run] == pytest.approx(z)
            assert sums.products[run] == pytest.approx(products)
        else:
            assert sums.totals.size == sums.trace.size == sums.products.size == 0


@pytest.mark.parametrize("trace", [0.0, 0.7])
def test_no_bit_depends_on_where_phases_end(trace):
    _, cut, _ = collect("one-hot", trace, (10, 20, 1, 69))
    _, whole, _ = collect("one-hot", trace, (100,))
    for name, array in stored(cut).items():
        assert (array == stored(whole)[name]).all()


@pytest.mark.parametrize("trace", [0.0, 0.7])
def test_stored_and_restored(trace):
    simulation, sums, _ = collect("one-hot", trace, (40,))
    empty = SumTraces(trace).start(simulation.space, 2)
    other = restored(empty, {name: array.copy() for name, array in stored(sums).items()})
    data = rollout(simulation, uniform(simulation), 30)
    sums, other = (each.add(data, None) for each in (sums, other))
    assert stored(sums).keys() == {"visits", "earned", "totals", "trace", "arrivals", "products"}
    for name, array in stored(sums).items():
        assert (array == stored(other)[name]).all()
    with pytest.raises(InvalidInput, match=r"^earned must be float64 of shape"):
        restored(empty, stored(sums) | {"earned": np.zeros(3)})


def test_what_has_faded_is_nothing():
    """Denormal numbers would stay for ever, and take their time."""
    simulation = simulator(ergodic(4, 2))([0])
    always = np.zeros_like(uniform(simulation))
    always[:, :, 0] = 1.0
    sums = SumTraces(0.5).start(simulation.space, 1).add(rollout(simulation, uniform(simulation), 50), None)
    assert (sums.trace[0, 4:] > 0.0).all()
    sums = sums.add(rollout(simulation, always, 1200), None)
    assert (sums.trace[0, 4:] == 0.0).all()


def test_vectors_and_large_problems_are_refused():
    with pytest.raises(InvalidInput, match=r"reuse='window'.* countable states, and these are observation vectors$"):
        SumTraces().start(space_of(cartpole()), 1)
    with pytest.raises(TooLarge) as error:
        SumTraces().start(space_of(deep_sea(72), OneHot()), 1)
    assert str(error.value) == (
        "sums over all data, of 10368 features and 5184 states, would take 430 MB for each of 1 runs: "
        "take reuse='window'"
    )
    with pytest.raises(TooLarge, match="for each of 100 runs"):
        SumTraces().start(space_of(deep_sea(40), OneHot()), 100)
