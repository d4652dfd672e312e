import numpy as np
import pytest

from aapi.environments.queueing import Network, criss_cross_network, six_class_network
from aapi.errors import InvalidInput


def single(arrivals=0.5, rate=1.0, servers=1, **more):
    return Network(("a",), (arrivals,), (((0, rate),),) * servers, (None,), (1.0,), **more)


def test_criss_cross_as_data():
    network = criss_cross_network("BM").network
    assert network.num_actions == 2
    assert network.action_names == ["serve 1", "serve 3"]
    assert network.rate == pytest.approx(0.6 + 0.6 + 2.0 + 1.0)
    assert network.route(0) == (0, 1)
    assert network.flows.tolist() == [0.6, 0.6, 0.6]


# ρ₁ and ρ₂ as Dai and Gluzman (2022) print them; the larger is the load.
@pytest.mark.parametrize(
    ("regime", "load"), [("IL", 0.3), ("BL", 0.3), ("IM", 0.6), ("BM", 0.6), ("IH", 0.9), ("BH", 0.9)]
)
def test_the_load_is_that_of_the_busiest_station(regime, load):
    assert criss_cross_network(regime).network.load == pytest.approx(load)


def test_work_that_two_stations_can_do_is_shared_out():
    # The N-model of Harrison (1998): .3 of class 1 goes to server 2, where it takes twice as long, beside class 2.
    network = Network(("1", "2"), (1.3, 0.4), (((0, 1.0),), ((0, 0.5), (1, 1.0))), (None, None), (3.0, 1.0))
    assert network.load == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="arrivals must be served, and a station would have to work 1 of the time"):
        network.check_stable()


@pytest.mark.parametrize("classes", [6, 9, 12, 15, 18, 21])
def test_the_six_class_network_and_its_extensions(classes):
    network = six_class_network(classes).network
    stations = classes // 3
    assert network.num_classes == classes
    assert network.num_actions == 3**stations
    first = network.route(0)
    assert len(first) == 2 * stations
    assert first[stations - 1 : stations + 1] == (classes - 3, 1)  # from the last station back to the first
    assert network.route(2) == tuple(range(2, classes, 3))
    assert network.load == pytest.approx(9 / 140 * (8 + 2 + 4))  # station 1; the others, 6 + 7 + 1 of each, the same


def test_a_station_works_if_it_can():
    network = criss_cross_network().network
    jobs = np.array([[1, 0, 1], [0, 2, 3], [4, 0, 0], [0, 0, 0]])
    first, third = (network.served(jobs, action).tolist() for action in (0, 1))
    assert first == [[0, -1], [1, 0], [0, -1], [-1, -1]]
    assert third == [[1, -1], [1, 0], [0, -1], [-1, -1]]


def test_stations_do_not_serve_one_job_twice_unless_together():
    jobs = np.array([[0], [1], [2], [3]])
    assert (single(servers=3).served(jobs, 0) >= 0).sum(axis=1).tolist() == [0, 1, 2, 3]
    assert (single(servers=3, together=True).served(jobs, 0) >= 0).sum(axis=1).tolist() == [0, 3, 3, 3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrivals": (0.1,)}, "arrivals must have one entry for each of 2 classes, not 1"),
        ({"arrivals": (0.1, float("nan"))}, "arrivals must be a finite number"),
        ({"arrivals": (0.0, 0.0)}, "no job ever comes"),
        ({"stations": (((0, 1.0),),)}, "none serves 'b'"),
        ({"stations": (((0, 1.0), (1, 0.0)),)}, "rate must be a finite number larger than 0, not 0.0"),
        ({"stations": (((0, 1.0), (2, 1.0)),)}, r"stations must name classes in 0..1, not 2"),
        ({"stations": (((0, 1.0), (0, 2.0), (1, 1.0)),)}, "each listed once"),
        ({"routing": (1, 0)}, "routing must let jobs leave, and those of class 'a' never do"),
        ({"routing": (5, None)}, "routing must name classes"),
        ({"costs": (1.0, -1.0)}, "costs must be a finite number at least 0, not -1.0"),
    ],
)
def test_what_is_no_network(changes, message):
    good = {
        "classes": ("a", "b"), "arrivals": (0.1, 0.1), "stations": (((0, 1.0), (1, 1.0)),), "routing": (None, None),
        "costs": (1.0, 1.0),
    }  # fmt: skip
    Network(**good)
    with pytest.raises(InvalidInput, match=message):
        Network(**good | changes)


@pytest.mark.parametrize("classes", [3, 7, 5.5])
def test_no_six_class_network(classes):
    with pytest.raises(InvalidInput, match="classes must be"):
        six_class_network(classes)


def test_a_network_of_very_many_classes_is_refused_at_once():
    with pytest.raises(InvalidInput, match=r"at most 100000 actions, not about 10\^4771: take fewer stations"):
        six_class_network(30_000)
