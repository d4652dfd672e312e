import numpy as np
import pytest

from aapi.environments.queueing import (
    CappedNetwork,
    TableRule,
    best_threshold,
    c_mu,
    criss_cross_network,
    criss_cross_threshold,
    first_buffer,
    last_buffer,
    longest_queue,
    max_weight,
    six_class_network,
    standard_rules,
)
from aapi.environments.queueing.rules import index_rule
from aapi.mdp import solve_events

NETWORK = criss_cross_network("BM").network
SIX = six_class_network(6).network


def gain(capped, rule):
    return solve_events(capped.under(rule(capped.jobs())), 1e-6).gain


# Actions of criss-cross: 0 serves class 1 first, 1 class 3; jobs of classes 1, 2, 3.
@pytest.mark.parametrize(
    ("rule", "jobs", "action"),
    [
        (longest_queue(NETWORK), [3, 9, 2], 0), (longest_queue(NETWORK), [2, 9, 3], 1),
        (last_buffer(NETWORK), [5, 0, 1], 1), (first_buffer(NETWORK), [1, 0, 5], 0),
        (max_weight(NETWORK), [5, 3, 1], 0), (max_weight(NETWORK), [5, 4, 2], 1),  # x₁ − x₂ against x₃
        (criss_cross_threshold(NETWORK, 2), [1, 1, 1], 0), (criss_cross_threshold(NETWORK, 2), [1, 2, 1], 1),
        (criss_cross_threshold(NETWORK, 2), [1, 2, 0], 0), (criss_cross_threshold(NETWORK, 2), [0, 0, 1], 1),
        (max_weight(NETWORK), [1, 9, 0], 0),  # it works, though class 1 has an index below 0
    ],
)  # fmt: skip
def test_what_rules_serve(rule, jobs, action):
    assert rule(jobs) == action
    assert rule(np.array([jobs, jobs])).tolist() == [action, action]


def served_first(rule, jobs):
    """The classes that the two stations of the six-class network serve, from 1."""
    return (SIX.choices[rule(jobs)] + [1, 4]).tolist()


def test_rules_of_the_six_class_network():
    full = [1] * 6
    assert served_first(last_buffer(SIX), full) == [3, 6]
    assert served_first(first_buffer(SIX), full) == [1, 4]
    assert served_first(c_mu(SIX), full) == [2, 6]  # μ = 1/8, 1/2, 1/4; 1/6, 1/7, 1
    assert served_first(last_buffer(SIX), [1, 0, 0, 0, 1, 0]) == [1, 5]
    assert served_first(longest_queue(SIX), [1, 2, 3, 4, 5, 0]) == [3, 5]


def test_c_mu_is_optimal_for_one_station():
    from aapi.environments.queueing import Network

    network = Network(("a", "b", "c"), (0.2, 0.1, 0.2), (((0, 1.0), (1, 2.0), (2, 0.9)),), (None,) * 3, (1.0, 3.0, 1.5))
    capped = CappedNetwork(network, (12, 8, 12))
    best = solve_events(capped.event_model(), 1e-7)
    assert gain(capped, c_mu(network)) == pytest.approx(best.gain, abs=1e-4)  # but for what the caps do
    assert gain(capped, last_buffer(network)) < best.gain - 0.01


# Station 1 with class 1 always first is served like an M/M/1 queue, and hands on a Poisson stream: by Burke's theorem
# all classes have product form, and N₁ + N₃ is that of one queue with the load λ.
@pytest.mark.parametrize("regime", ["IL", "BL"])
def test_class_one_first_is_known_exactly(regime):
    capped = criss_cross_network(regime)
    second = 0.3 / {"IL": 1.5, "BL": 1.0}[regime]
    assert gain(capped, first_buffer(capped.network)) == pytest.approx(-0.3 / 0.7 - second / (1 - second), abs=1e-5)


# Dai and Gluzman (2022), table 1: the column of the threshold policy of Harrison and Wein.
@pytest.mark.parametrize(("regime", "published"), [("IL", 0.679), ("BL", 0.857), ("IM", 2.129), ("BM", 2.895)])
def test_thresholds(regime, published):
    capped = criss_cross_network(regime, 16)  # which leaves out less than one in a thousand
    gains = [gain(capped, criss_cross_threshold(capped.network, level)) for level in range(6)]
    best, earned = best_threshold(capped.network, lambda rule: gains[int(rule.name.split()[1])])
    assert earned == max(gains)
    assert best.name == f"threshold {int(np.argmax(gains))}"
    assert -earned <= 1.005 * published
    assert min(abs(-each / published - 1.0) for each in gains) < 0.005  # some level is the published one


def test_no_rule_is_better_than_the_optimum():
    capped = criss_cross_network("IL", 8)
    best = solve_events(capped.event_model(), 1e-7)
    for rule in standard_rules(capped.network):
        assert gain(capped, rule) < best.upper + 1e-6


def test_a_table_is_a_rule_of_what_is_observed():
    capped = criss_cross_network("BM", 3)
    policy = np.arange(capped.num_states) % 2
    rule = TableRule("odd", capped, policy)
    assert (rule(capped.jobs()) == policy).all()
    assert rule([7, 1, 9]) == policy[3 * 16 + 1 * 4 + 3]
    assert repr(rule) == "TableRule(odd)"
    assert repr(c_mu(NETWORK)) == "IndexRule(cμ)"


def test_ties_go_to_the_class_that_is_listed_first():
    rule = index_rule("none", NETWORK, np.zeros(3), np.zeros((3, 3)))
    assert rule([[1, 0, 1], [0, 0, 1]]).tolist() == [0, 1]
