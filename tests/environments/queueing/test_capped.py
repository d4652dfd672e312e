import itertools
import math

import numpy as np
import pytest
from support import dense_transitions

from aapi.environments import admission, criss_cross, n_model, six_class
from aapi.environments.queueing import CappedNetwork, Network, admission_rules, criss_cross_network, n_model_network
from aapi.environments.queueing.admission import ARRIVALS, PAYMENTS
from aapi.environments.queueing.criss_cross import REGIMES
from aapi.errors import InvalidInput, TooLarge
from aapi.mdp import CTMDP, policy_values, solve, solve_events
from aapi.registry.problems import CHOICES


def many_servers(arrivals, servers, room):
    return CappedNetwork(Network(("a",), (arrivals,), (((0, 1.0),),) * servers, (None,), (1.0,)), (room,))


def erlang(servers, load):
    """The share of customers that an M/M/c/c system loses, by its recursion."""
    blocked = 1.0
    for c in range(1, servers + 1):
        blocked = load * blocked / (c + load * blocked)
    return blocked


@pytest.mark.parametrize(("load", "room"), [(0.5, 7), (1.0, 4), (1.7, 9)])
def test_one_server_with_room_for_so_many(load, room):
    weights = load ** np.arange(room + 1)
    expected = weights @ np.arange(room + 1) / weights.sum()
    model = many_servers(load, 1, room).model()
    assert solve(model).gain == pytest.approx(-expected, rel=1e-12)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.8), (3, 2.0), (10, 9.0)])
def test_the_loss_formula_of_erlang(servers, load):
    model = many_servers(load, servers, servers).model()
    assert solve(model).gain == pytest.approx(-load * (1.0 - erlang(servers, load)), rel=1e-12)  # Little's law


def test_several_servers_and_a_queue():
    servers, load, room = 3, 2.0, 8
    weights = [load**n / (math.factorial(min(n, servers)) * servers ** max(n - servers, 0)) for n in range(room + 1)]
    expected = np.dot(weights, range(room + 1)) / sum(weights)
    assert solve(many_servers(load, servers, room).model()).gain == pytest.approx(-expected, rel=1e-12)


def by_hand(regime, cap):
    """Criss-cross in plain Python, from the rates, without uniformisation."""
    arrivals, second, _ = REGIMES[regime]
    states = list(itertools.product(range(cap + 1), repeat=3))
    number = {state: x for x, state in enumerate(states)}
    rates = np.zeros((len(states), 2, len(states)))
    for x, (one, two, three) in enumerate(states):
        for action in (0, 1):
            jumps = [(arrivals, (min(one + 1, cap), two, three)), (arrivals, (one, two, min(three + 1, cap)))]
            if two:
                jumps.append((second, (one, two - 1, three)))
            if one and (action == 0 or not three):
                jumps.append((2.0, (one - 1, min(two + 1, cap), three)))
            elif three:
                jumps.append((2.0, (one, two, three - 1)))
            for rate, after in jumps:
                rates[x, action, number[after]] += rate
    return CTMDP(rates, -np.repeat(np.sum(states, axis=1)[:, None], 2, axis=1).astype(float))


@pytest.mark.parametrize("regime", ["IM", "BH"])
def test_criss_cross_is_what_it_says(regime):
    process, model = by_hand(regime, 4), criss_cross(regime, 4)
    rate = criss_cross_network(regime).network.rate
    assert dense_transitions(model) == pytest.approx(dense_transitions(process.to_model(rate)), abs=1e-14)
    assert model.rewards == pytest.approx(process.reward_rates.reshape(-1, 2), abs=1e-13)
    assert solve(model).gain == pytest.approx(solve(process.to_model()).gain, abs=1e-11)
    assert model.coordinates[model.initial_state].tolist() == [0, 0, 0]


def test_matrices_and_functions_are_one_model():
    capped = CappedNetwork(criss_cross_network("BM").network, (5, 3, 4))
    model, found = capped.model(), solve_events(capped.event_model(), 1e-9)
    exact = solve(model)
    assert found.lower <= exact.gain + 1e-12
    assert found.upper >= exact.gain - 1e-12
    one = solve_events(capped.under(found.policy), 1e-9)
    assert one.gain == pytest.approx(float(policy_values(model, found.policy.astype(int)).gain), abs=2e-9)
    assert (capped.state(capped.jobs()) == np.arange(capped.num_states)).all()
    assert capped.jobs(capped.state([[9, 1, 9]])).tolist() == [[5, 1, 4]]  # as many as have room


def test_the_n_model_is_a_network():
    old, new = n_model(9), n_model_network(9).model()
    assert solve(new).gain == pytest.approx(solve(old).gain, rel=1e-12)
    for policy in (np.zeros(100, dtype=int), np.ones(100, dtype=int), np.arange(100) % 2):
        chosen_is_there = old.coordinates[np.arange(100), policy] > 0
        works = np.where(chosen_is_there, policy, 1 - policy)  # a server that has nothing to do helps the others
        assert policy_values(new, policy).gain == pytest.approx(policy_values(old, works).gain, rel=1e-12)


def test_rates_of_one_station_may_differ():
    # Two classes at one station, rates 1 and 3: with preemptive priority, class 1 is an M/M/1 queue of its own.
    network = Network(("slow", "fast"), (0.3, 0.9), (((0, 1.0), (1, 3.0)),), (None, None), (1.0, 0.0))
    capped = CappedNetwork(network, (60, 20))
    first = solve_events(capped.under(np.zeros(capped.num_states, dtype=int)), 1e-9)
    assert first.gain == pytest.approx(-0.3 / 0.7, abs=1e-8)


@pytest.mark.parametrize("regime", ["IL", "BL"])
def test_published_optima_by_matrices(regime):
    published = {"IL": 0.67062, "BL": 0.84321}[regime]
    assert solve(criss_cross(regime, 12)).gain == pytest.approx(-published, abs=1e-4)


@pytest.mark.parametrize("servers", [4, 10])
def test_admission_of_all_is_the_loss_system_and_reservation_is_optimal(servers):
    mdp = admission(servers)
    rules = admission_rules(mdp)
    gains = [float(policy_values(mdp, policy).gain) for policy in rules.values()]
    rates = ARRIVALS * servers
    assert gains[0] == pytest.approx((rates @ PAYMENTS) * (1.0 - erlang(servers, rates.sum())), rel=1e-12)
    assert gains[1] == pytest.approx(solve(mdp).gain, rel=1e-12)  # Miller (1969)
    assert gains[1] > 1.01 * gains[0]


def test_what_is_too_large_for_matrices():
    for make in (lambda: criss_cross("IH"), lambda: six_class(21), lambda: six_class(6, 12)):
        with pytest.raises(TooLarge, match="too many for matrices: choose a smaller cap"):
            make()


@pytest.mark.parametrize("arguments", [("BM", 0), ("BM", 2.5), ("bm", None), ("", None), (None, None)])
def test_bad_arguments(arguments):
    with pytest.raises(InvalidInput, match=r"cap must|regime must be one of IL, BL, IM, BM, IH, BH"):
        criss_cross(*arguments)
    with pytest.raises(InvalidInput, match="servers must"):
        admission(0)


def test_the_words_of_the_command_are_the_regimes():
    assert CHOICES["regime"] == tuple(REGIMES)
