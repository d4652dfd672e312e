import itertools

import numpy as np
import pytest

from aapi.environments.queueing import CappedNetwork, Network, cap_cost, criss_cross_network, six_class_network
from aapi.environments.queueing.bounds import lower_is_proven, overflow_cost, station_order
from aapi.errors import DoesNotExist
from aapi.mdp import solve_events


def bounds(capped, accuracy=1e-7):
    solution = solve_events(capped.event_model(), accuracy)
    return solution, cap_cost(capped, solution.policy, solution.lower, solution.upper)


# Dai and Gluzman (2022), table 1, and as recomputed with blocking in place of losses.
@pytest.mark.parametrize(
    ("regime", "published"),
    [("IL", 0.67062), ("BL", 0.84321), ("IM", 2.08355), pytest.param("BM", 2.82883, marks=pytest.mark.slow)],
)
def test_published_optima_lie_between_the_bounds(regime, published):
    _, cost = bounds(criss_cross_network(regime))
    assert -cost.gain_upper <= published + 5e-6  # the number has five digits
    assert -cost.gain_lower >= published - 5e-6
    assert cost.gain_upper - cost.gain_lower < 1e-4
    assert cost.reason == ""


def test_bounds_close_in_as_caps_grow():
    found = [bounds(criss_cross_network("BM", cap))[1] for cap in (5, 8, 12, 15)]
    assert all(after.gain_upper < before.gain_upper for before, after in itertools.pairwise(found))
    assert all(after.gain_lower > before.gain_lower for before, after in itertools.pairwise(found))
    assert all(each.gain_lower < -2.828825 < each.gain_upper for each in found)


def one_queue(load, cap):
    network = Network(("a",), (load,), (((0, 1.0),),), (None,), (1.0,))
    return CappedNetwork(network, (cap,))


@pytest.mark.parametrize(("load", "cap"), [(0.5, 3), (0.5, 10), (0.8, 6), (0.8, 40)])
def test_of_one_queue_the_bounds_bracket_what_is_known(load, cap):
    capped = one_queue(load, cap)
    solution, cost = bounds(capped, 1e-10)
    exact = load / (1.0 - load)  # M/M/1
    assert -cost.gain_upper < exact < -cost.gain_lower
    # The overflow is the work-conserving rest of the queue: its mean is what the cap leaves out.
    left_out = exact + solution.gain
    assert left_out < overflow_cost(capped, solution.policy) < 1.05 * left_out + 2e-6


def test_two_queues_in_a_row():
    network = Network(("a", "b"), (0.6, 0.0), (((0, 1.0),), ((1, 0.9),)), (1, None), (1.0, 1.0))
    exact = 0.6 / 0.4 + 0.6 / 0.3  # Burke's theorem
    widths = []
    for cap in (10, 25, 50):
        _, cost = bounds(CappedNetwork(network, (cap, cap)))
        assert -cost.gain_upper < exact < -cost.gain_lower
        widths.append(cost.gain_upper - cost.gain_lower)
    assert widths[2] < 1e-3 < widths[0]


def test_time_at_the_cap_is_that_of_the_queue():
    _, cost = bounds(one_queue(0.5, 4))
    assert cost.at_cap == pytest.approx(0.5**4 / sum(0.5**n for n in range(5)), abs=3e-6)


def test_where_nothing_is_proven():
    six = six_class_network(6, cap=1)
    assert station_order(six.network) is None
    _, cost = bounds(six)
    assert cost.gain_lower is None
    assert cost.gain_upper is not None
    assert cost.reason == "jobs come back to stations where they were"
    with pytest.raises(DoesNotExist, match="no order of stations"):
        overflow_cost(six, np.zeros(six.num_states, dtype=int))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"costs": (1.0, 2.0)}, "class b costs more than class a before it"),
        ({"lost_costs": (1.0, 1.0)}, "lost jobs cost something"),
        ({"stations": (((0, 1.0), (1, 1.0)), ((1, 1.0),))}, "some class has several stations"),
    ],
)
def test_the_lower_bound_has_conditions(changes, reason):
    given = {
        "classes": ("a", "b"), "arrivals": (0.3, 0.0), "stations": (((0, 1.0),), ((1, 1.0),)), "routing": (1, None),
        "costs": (1.0, 1.0),
    }  # fmt: skip
    assert lower_is_proven(Network(**given)) == ""
    network = Network(**given | changes)
    assert lower_is_proven(network) == reason
    assert bounds(CappedNetwork(network, (4, 4)))[1].gain_upper is None


def test_no_time_left_for_overflow():
    network = Network(("a",), (1.5,), (((0, 1.0),),), (None,), (1.0,))
    _, cost = bounds(CappedNetwork(network, (5,)))
    assert cost.gain_lower is None
    assert cost.reason == "stations have no time left for jobs that find no room"
