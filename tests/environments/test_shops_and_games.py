"""The problems that came into the zoo's reporting half later, against closed forms and plain recursions."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from aapi.environments import battery, key_maze, pig, polling, pricing, repair_shop, tree
from aapi.errors import InvalidInput
from aapi.mdp import policy_values, solve


def gain_of(mdp, policy):
    return policy_values(mdp, np.asarray(policy, dtype=np.int64)).gains[mdp.initial_state]


def test_a_queue_that_alone_is_served_is_birth_and_death():
    mdp = polling(6)
    where = np.asarray(mdp.coordinates)[:, 2]
    for served, arrivals, pays in ((0, 0.2, 2.0), (1, 0.1, 6.0)):
        weights = (arrivals / 0.45) ** np.arange(7)
        weights /= weights.sum()
        expected = pays * arrivals * (1.0 - weights[-1]) - 0.05 * (weights @ np.arange(7) + 6)
        assert gain_of(mdp, where != served) == pytest.approx(expected, rel=1e-12)


def test_always_going_pays_for_it_and_serves_nobody():
    mdp = polling(6)
    assert gain_of(mdp, np.ones(mdp.num_states)) == pytest.approx(-2.0 - 0.05 * 12, rel=1e-12)


def expected_sales(day, seats, days):
    """What the best prices earn from this day on: the recursion of Gallego and van Ryzin, without a model."""
    if day == days or seats == 0:
        return 0.0
    most = 12.0 if day >= 2 * days / 3 else 4.0
    sold, unsold = (expected_sales(day + 1, seats - less, days) for less in (1, 0))
    chances = {price: max(0.0, 1.0 - price / most) for price in (1, 2, 4, 8)}
    return max(chance * (price + sold) + (1.0 - chance) * unsold for price, chance in chances.items())


@pytest.mark.parametrize(("capacity", "days"), [(2, 12), (5, 10), (1, 4)])
def test_prices_of_a_sale(capacity, days):
    assert solve(pricing(capacity, days)).gain == pytest.approx(expected_sales(0, capacity, days) / days, rel=1e-12)


def test_one_price_sells_what_is_asked_for_while_there_are_seats():
    mdp = pricing(4, 9)  # price 2: half of the first six buy, and five in six of the last three
    asked = np.convolve(binom.pmf(range(7), 6, 1 / 2), binom.pmf(range(4), 3, 5 / 6))
    sold = asked @ np.minimum(np.arange(10), 4)
    assert gain_of(mdp, np.ones(mdp.num_states)) == pytest.approx(2 * sold / 9, rel=1e-12)


@pytest.mark.parametrize("size", [3, 5, 6])
def test_the_way_past_the_key(size):
    assert solve(key_maze(size, slip=0.0)).gain == pytest.approx(1 / (4 * size - 3), rel=1e-12)


def test_the_door_is_shut_to_who_has_no_key():
    mdp = key_maze(5, slip=0.0)
    number = {tuple(place): x for x, place in enumerate(np.asarray(mdp.coordinates).tolist())}
    rows = mdp.transitions.toarray().reshape(mdp.num_states, 4, mdp.num_states)
    right = mdp.action_names.index("right")
    down = mdp.action_names.index("down")
    assert rows[number[0, 1, 0], right, number[0, 1, 0]] == 1.0
    assert rows[number[0, 1, 1], right, number[0, 2, 1]] == 1.0
    assert rows[number[1, 1, 1], right, number[1, 1, 1]] == 1.0  # the wall
    assert rows[number[0, 2, 1], down, number[0, 2, 1]] == 1.0
    assert rows[number[3, 0, 0], down, number[4, 0, 1]] == 1.0
    assert (rows[number[4, 4, 1], :, number[0, 0, 0]] == 1.0).all()
    assert mdp.rewards.sum() == 4.0


def test_a_machine_that_comes_first_runs_as_if_it_were_alone():
    count = 4
    mdp = repair_shop(count)
    broken = np.asarray(mdp.coordinates)
    breaks = 0.4 / count
    for i in range(count):
        mended = 0.2 if i % 2 else 0.6
        alone = (i + 1) * mended / (breaks + mended)
        assert gain_of(mdp, np.full(mdp.num_states, i)) == pytest.approx(alone, rel=1e-12)
        # The next one is worked on while machine i runs: together they earn what the chain of the two does.
        j = (i + 2) % count
        chain = np.zeros((4, 4))  # 2 · (i broken) + (j broken); j is as fast to mend as i
        for first, second in itertools.product(range(2), repeat=2):
            x = 2 * first + second
            chain[x, 2 * (1 - first) + second] = mended if first else breaks
            chain[x, 2 * first + 1 - second] = breaks if not second else 0.0 if first else mended
            chain[x, x] = -chain[x].sum()
        equations = np.vstack([chain.T, np.ones(4)])
        weights = np.linalg.lstsq(equations, np.array([0.0, 0.0, 0.0, 0.0, 1.0]), rcond=None)[0]
        expected = (i + 1) * (weights[0] + weights[1]) + (j + 1) * (weights[0] + weights[2])
        assert gain_of(mdp, np.where(broken[:, i], i, j)) == pytest.approx(expected, rel=1e-9)


def points_a_step(sides, least):
    """Hold at `least` points or more: a turn's expected points over its expected steps, forward over the totals."""
    reached = np.zeros(least + sides)
    reached[0], steps = 1.0, 0.0
    for points in range(least):
        steps += reached[points]
        reached[points + 2 : points + sides + 1] += reached[points] / sides
    held = reached[least:]
    return held @ np.arange(least, least + sides) / (steps + held.sum())


@pytest.mark.parametrize("sides", [3, 6, 10])
def test_pig_is_held_from_some_number_of_points_on(sides):
    best = max(points_a_step(sides, least) for least in range(2, 5 * sides + 1))
    assert solve(pig(sides)).gain == pytest.approx(best, rel=1e-12)


def best_day(capacity):
    """All ways to spend a day and end it with the charge it began with."""
    prices, best = (2, 1, 1, 4, 3, 2, 6, 5), -math.inf
    for begin in range(capacity + 1):
        for day in itertools.product((-1, 0, 1), repeat=8):
            charges = list(itertools.accumulate(day, initial=begin))
            if charges[-1] == begin and min(charges) >= 0 and max(charges) <= capacity:
                paid = (-price if a > 0 else 0.9 * price * -a for price, a in zip(prices, day, strict=True))
                best = max(best, sum(paid))
    return best / 8


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_days_of_a_battery_while_power_is_never_scarce(capacity):
    gain = solve(battery(capacity, turns=0.0)).values.gains[0]
    assert gain == pytest.approx(best_day(capacity), rel=1e-12)


def test_power_that_is_bought_and_sold_blindly():
    mdp = battery(3)
    time = np.asarray(mdp.coordinates)[:, 0]
    policy = np.array([1, 2, 1, 0, 1, 2, 0, 1])[time]  # buy at 1 and 2, sell at 4 and 6; scarce half of the time
    assert gain_of(mdp, policy) == pytest.approx(1.5 * (0.9 * 10 - 3) / 8, rel=1e-12)


def test_the_best_leaf():
    mdp = tree(4, seed=3)
    leaves = range(15, 31)
    for leaf in leaves:
        policy = np.zeros(31, dtype=np.int64)
        steps = mdp.state_names[leaf]
        for place in range(4):
            policy[mdp.state_names.index(steps[:place] or "root")] = steps[place] == "R"
        assert gain_of(mdp, policy) == pytest.approx(mdp.rewards[leaf, 0] / 5, rel=1e-12)
    assert solve(mdp).gain == pytest.approx(mdp.rewards[15:].max() / 5, rel=1e-12)
    assert policy_values(mdp, np.full((31, 2), 0.5)).gain == pytest.approx(mdp.rewards[15:, 0].mean() / 5, rel=1e-12)
    assert (tree(4, seed=4).rewards != mdp.rewards).any()


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (polling, {"capacity": 0}, "capacity must be at least 1, not 0"),
        (pricing, {"capacity": 0}, "capacity must be at least 1, not 0"),
        (pricing, {"days": 2}, "days must be at least 3, not 2"),
        (key_maze, {"size": 2}, "size must be at least 3, not 2"),
        (key_maze, {"slip": 1.0}, "slip must be below 1, not 1.0"),
        (repair_shop, {"num_machines": 1}, "num_machines must be at least 2, not 1"),
        (battery, {"capacity": 0}, "capacity must be at least 1, not 0"),
        (battery, {"turns": 1.0}, "turns must be below 1, not 1.0"),
        (pig, {"sides": 2}, "sides must be at least 3, not 2"),
        (tree, {"depth": 0}, "depth must be at least 1, not 0"),
        (tree, {"seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_bad_sizes_are_named(make, arguments, message):
    with pytest.raises(InvalidInput) as error:
        make(**arguments)
    assert str(error.value) == message
