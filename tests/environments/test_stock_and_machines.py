import itertools
import math

import numpy as np
import pytest

from aapi.environments import car_rental, inventory, maintenance
from aapi.environments.inventory import COST, FIXED, HOLDING, PRICE
from aapi.errors import InvalidInput
from aapi.mdp import policy_values, solve
from aapi.registry.rules import RULES, rules_of


def value_iteration(mdp, sweeps=4000):
    """The gain by plain relative value iteration on lazy dynamics: no code of the solver."""
    rows = mdp.transitions
    dense = (rows.toarray() if mdp.is_sparse else rows).reshape(mdp.num_states, mdp.num_actions, mdp.num_states)
    values = np.zeros(mdp.num_states)
    for _ in range(sweeps):
        better = (mdp.rewards + dense @ values).max(axis=1)
        change = better - values
        values = values + 0.9 * (change - change[0])
        if np.ptp(change) < 1e-10:
            break
    assert np.ptp(change) < 1e-9
    return change.mean()


@pytest.mark.parametrize(
    "mdp",
    [inventory(10, 5, 2.0), inventory(8, 4, 2.0, lead_time=1), maintenance(), car_rental(8, 2)],
    ids=["inventory", "late inventory", "maintenance", "car rental"],
)
def test_the_optimum_is_that_of_plain_value_iteration(mdp):
    assert solve(mdp).gain == pytest.approx(value_iteration(mdp), rel=1e-8)


@pytest.mark.parametrize(("name", "mdp"), [
    ("inventory", inventory()), ("inventory", inventory(8, 4, 2.0, lead_time=1)), ("maintenance", maintenance()),
    ("maintenance", maintenance(5, 2)), ("car-rental", car_rental(10, 3)),
])  # fmt: skip
def test_no_rule_earns_more_than_the_optimum(name, mdp):
    best, rules = solve(mdp), rules_of(name, mdp)
    assert rules
    for policy in rules.values():
        assert policy.shape == (mdp.num_states,)
        assert policy_values(mdp, policy).gains[mdp.initial_state] <= best.gains_upper.max()


def test_a_problem_without_rules_has_none():
    assert "ergodic" not in RULES
    assert rules_of("ergodic", maintenance()) == {}


def test_an_s_S_rule_is_optimal_where_orders_have_a_fixed_cost():  # noqa: N802 - the rule's name
    mdp = inventory(capacity=20, max_order=20, demand=4.0)  # no order is cut: Scarf's conditions
    rules = rules_of("inventory", mdp)
    (base, gain_of_base), (pair, gain_of_pair) = ((name, policy_values(mdp, rules[name]).gain) for name in rules)
    assert pair.startswith("(")
    assert base.startswith("base stock")
    assert gain_of_pair == pytest.approx(solve(mdp).gain, abs=1e-10)
    assert gain_of_base < gain_of_pair - 0.5


def test_base_stock_is_the_newsvendor_where_an_order_arrives_at_once_and_has_no_fixed_cost():
    demand, capacity = 4.0, 20
    mdp = inventory(capacity, capacity, demand)
    rewards = mdp.rewards + FIXED * (np.arange(mdp.num_actions) > 0)  # orders cost nothing but their pieces
    free = mdp.with_rewards(rewards)
    # Each day begins with S: a piece more is sold with P(D > S − 1), earning price − cost, or held for a night.
    chances = np.cumsum([math.exp(-demand) * demand**k / math.factorial(k) for k in range(capacity)])
    level = int(np.searchsorted(chances, (PRICE - COST) / (PRICE - COST + HOLDING)))
    policy = np.maximum(level - np.arange(capacity + 1), 0)
    best = solve(free)
    assert policy_values(free, policy).gain == pytest.approx(best.gain, abs=1e-10)
    assert best.policy[: level + 1].tolist() == policy[: level + 1].tolist()
    for other in (level - 1, level + 1):
        worse = policy_values(free, np.maximum(other - np.arange(capacity + 1), 0)).gain
        assert worse < best.gain - 1e-6


@pytest.mark.parametrize("levels", [4, 10, 15])
def test_one_machine_is_repaired_from_a_level_on(levels):
    mdp = maintenance(levels)
    policy = solve(mdp).policy
    assert (np.diff(policy) >= 0).all()
    ((name, rule),) = rules_of("maintenance", mdp).items()
    assert name == f"control limit {policy.argmax()}"
    assert policy_values(mdp, rule).gain == pytest.approx(solve(mdp).gain, abs=1e-12)


def test_car_rental_by_simulation():
    mdp, generator = car_rental(6, 2), np.random.default_rng(0)
    x, action = 3 * 7 + 1, 4  # (3, 1), two to the second: (1, 3) in the morning
    draws = 40_000
    requests = generator.poisson((3.0, 4.0), (draws, 2))
    returns = generator.poisson((3.0, 2.0), (draws, 2))
    rented = np.minimum(requests, (1, 3))
    evening = np.minimum(np.array((1, 3)) - rented + returns, 6)
    counts = np.bincount(evening @ [7, 1], minlength=49)
    expected = draws * mdp.transitions[x, action]
    seen = expected > 5
    pearson = ((counts - expected)[seen] ** 2 / expected[seen]).sum()
    assert pearson < seen.sum() + 4 * math.sqrt(2 * seen.sum())
    paid = 10 * rented.sum(axis=1) - 4
    assert mdp.rewards[x, action] == pytest.approx(paid.mean(), abs=4 * paid.std() / math.sqrt(draws))


def test_cars_that_are_not_there_do_not_move():
    mdp = car_rental(6, 2)
    for first, second in itertools.product(range(7), repeat=2):
        x = 7 * first + second
        if first == 0:
            assert (mdp.transitions[x, 4] == mdp.transitions[x, 2]).all()
            assert mdp.rewards[x, 4] == mdp.rewards[x, 2]
        if second == 1:
            assert (mdp.transitions[x, 0] == mdp.transitions[x, 1]).all()


@pytest.mark.parametrize(("arguments", "message"), [((0,), "max_cars must be"), ((5, -1), "max_moves must be")])
def test_bad_sizes(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        car_rental(*arguments)
