import itertools
import math
from fractions import Fraction

import gymnasium
import numpy as np
import pytest
import scipy.sparse

from aapi.environments import catch, catch_bounds, catch_ceiling, catch_rules, windy_catch
from aapi.environments.suite.catch import most_seen
from aapi.errors import InvalidInput, TooLarge
from aapi.mdp import policy_values, solve


def plain_step(paddle, balls, action, new, columns):
    """A step in plain Python. balls: a set of (row, column), with the paddle below row 0; new: a column or None."""
    paddle = sorted((0, paddle + (action - 1), columns - 1))[1]
    fallen = {(row - 1, column) for row, column in balls}
    reward = 0
    for row, column in fallen:
        if row < 0:
            reward += 1 if column == paddle else -1
    return reward, paddle, {(row, column) for row, column in fallen if row >= 0}, new


def plain_states(rows, columns):
    for paddle in range(columns):
        for places in itertools.product([None, *range(columns)], repeat=rows - 1):
            yield paddle, {(row, column) for row, column in enumerate(places) if column is not None}


def described(mdp, state):
    """The paddle and the balls of a state, from its name."""
    paddle, balls = mdp.state_names[state].removeprefix("paddle ").split(", balls ")
    return int(paddle), {(row, int(mark)) for row, mark in enumerate(balls.split()) if mark != "-"}


@pytest.mark.parametrize(("rows", "columns", "chance"), [(2, 3, 0.5), (4, 3, 0.2), (3, 5, 0.1)])
def test_the_model_is_what_the_description_says(rows, columns, chance):
    mdp = catch(rows, columns, chance)
    number = {(p, frozenset(b)): x for x in range(mdp.num_states) for p, b in [described(mdp, x)]}
    assert len(number) == mdp.num_states == len(list(plain_states(rows, columns)))
    for paddle, balls in plain_states(rows, columns):
        x = number[paddle, frozenset(balls)]
        for action in range(3):
            row = mdp.transitions[[3 * x + action]].toarray()[0]
            expected = np.zeros(mdp.num_states)
            for new in (None, *range(columns)):
                reward, after, left, _ = plain_step(paddle, balls, action, new, columns)
                there = left if new is None else left | {(rows - 2, new)}
                expected[number[after, frozenset(there)]] += 1 - chance if new is None else chance / columns
            assert abs(row - expected).max() < 1e-15
            assert mdp.rewards[x, action] == reward


def value_iteration(mdp):
    """Bounds on λ_* from plain relative value iteration, no code of the solver; the board is aperiodic."""
    rows = scipy.sparse.csr_array(mdp.transitions.reshape(-1, mdp.num_states))
    values = np.zeros(mdp.num_states)
    for _ in range(300):
        change = (mdp.rewards + (rows @ values).reshape(mdp.rewards.shape)).max(axis=1) - values
        values += change - change[0]
    return change.min(), change.max()


@pytest.mark.parametrize(("rows", "columns", "chance"), [(2, 5, 0.1), (3, 5, 0.1), (4, 4, 0.3), (5, 5, 0.1)])
def test_the_optimum_is_that_of_plain_value_iteration(rows, columns, chance):
    low, high = value_iteration(catch(rows, columns, chance))
    assert high - low < 1e-9
    assert low - 1e-9 <= solve(catch(rows, columns, chance)).gain <= high + 1e-9


def test_with_two_columns_and_three_rows_nothing_is_ever_missed():
    assert solve(catch(3, 2, 0.4)).gain == pytest.approx(0.4, abs=1e-12)  # a column can be reached in one step
    assert catch_ceiling(2, 0.4) == pytest.approx(0.4, abs=1e-12)


def test_with_two_rows_the_optimum_is_by_hand():
    # A ball is seen one step before it lands. From the middle of three columns all are caught; after one at a side,
    # the paddle returns if no ball is seen, and the ball at the other side is lost.
    p, side = Fraction(1, 2), Fraction(1, 3)
    # Of the paddle: middle or side. At a side: a ball there or in the middle can be caught, one beyond is missed, from
    # the middle. In the middle: a ball at a side takes it there.
    to_side, stays = p * 2 * side, p * side
    share = to_side / (1 - stays + to_side)  # of the time at a side, the stationary distribution
    gain = (1 - share) * p + share * (p * 2 * side - p * side)
    assert solve(catch(2, 3, 0.5)).gain == pytest.approx(float(gain), abs=1e-12)


def test_more_rows_earn_more_and_no_more_than_a_paddle_that_knows_all():
    ceiling = catch_ceiling()
    gains = [solve(catch(rows)).gain for rows in (2, 3, 4, 5)]
    assert gains == sorted(gains)
    assert gains[-1] < ceiling < gains[-1] + 3e-5
    lower, upper = catch_bounds()  # of the board of C-suite, with 50 million states
    assert gains[-1] < lower < upper == ceiling < lower + 4e-7
    lower, upper = catch_bounds(4)
    assert lower <= solve(catch(4)).gain <= upper < lower + 1e-7


def test_the_ceiling_is_earned_by_who_knows_all_balls():
    # All landing columns beforehand, and the best way by dynamic programming: an average over repetitions.
    generator, steps, repetitions, columns, chance = np.random.default_rng(0), 400, 400, 5, 0.1
    balls = np.where(
        generator.random((steps, repetitions)) < chance, generator.integers(columns, size=(steps, repetitions)), -1
    )
    best = np.zeros((columns, repetitions))
    for ball in balls:
        padded = np.vstack([best[:1], best, best[-1:]])
        best = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
        best += np.where(ball < 0, 0, np.where(ball == np.arange(columns)[:, None], 1, -1))
    average = best.max(axis=0) / steps
    error = average.std() / math.sqrt(repetitions)
    start = 4.0 / steps  # the paddle may begin anywhere: at most two balls more
    assert -4 * error < average.mean() - catch_ceiling() < 4 * error + start
    assert error < 0.001


def test_the_rules_are_good_and_no_better_than_the_optimum():
    for rows in (2, 3, 4, 5):
        mdp = catch(rows)
        best, rules = solve(mdp), catch_rules(mdp)
        for policy in rules.values():
            gain = policy_values(mdp, policy).gains[mdp.initial_state]
            assert 0.99 * best.gain < gain <= best.gain + 1e-12
    assert policy_values(catch(2), catch_rules(catch(2))["most of what is seen"]).gain == pytest.approx(
        solve(catch(2)).gain, abs=1e-12
    )


def test_on_the_whole_board_a_rule_earns_nearly_the_bound():
    generator, lanes, steps, warm_up = np.random.default_rng(0), 1000, 250, 50
    paddle, balls = np.full(lanes, 2), np.full((9, lanes), -1)
    earned = np.zeros(lanes)
    for step in range(warm_up + steps):
        paddle = np.clip(paddle + most_seen(paddle, balls, 5) - 1, 0, 4)
        lands = balls[0]
        new = np.where(generator.random(lanes) < 0.1, generator.integers(5, size=lanes), -1)
        balls = np.vstack([balls[1:], new])
        earned += (step >= warm_up) * np.where(lands < 0, 0, np.where(lands == paddle, 1, -1))
    average, error = earned.mean() / steps, earned.std() / math.sqrt(lanes) / steps
    lower, upper = catch_bounds()
    assert 0.99 * lower - 4 * error < average < upper + 4 * error
    assert error < 0.0008


def test_what_the_environment_shows_is_the_board():
    env = gymnasium.make("aapi/Catch-v0", rows=5, columns=4, spawn_probability=0.5).unwrapped
    board, _ = env.reset(seed=1)
    assert board.shape == (5, 4)
    assert board[-1].tolist() == [0, 0, 1, 0]
    assert (board[0].sum(), board.sum()) == (1, 2)
    random = np.random.default_rng(0)
    paddle, balls = 2, {(3 - row, column) for row, column in np.argwhere(board[:-1]).tolist()}
    spawned = np.zeros(4)
    for _ in range(4000):
        action = int(random.integers(3))
        board, reward, *_ = env.step(action)
        found = np.flatnonzero(board[0]).tolist()
        expected, paddle, balls, _ = plain_step(paddle, balls, action, None, 4)
        assert reward == expected
        balls |= {(3, column) for column in found}
        assert len(found) <= 1
        spawned[found] += 1
        assert np.flatnonzero(board[-1]).tolist() == [paddle]
        assert {(3 - row, column) for row, column in np.argwhere(board[:-1]).tolist()} == balls
    assert abs(spawned - 500).max() < 5 * math.sqrt(500)


def test_the_environment_agrees_with_the_model():
    mdp = catch(4)
    policy = solve(mdp).policy
    number = {(p, frozenset(b)): x for x in range(mdp.num_states) for p, b in [described(mdp, x)]}
    env = gymnasium.make("aapi/Catch-v0", rows=4).unwrapped
    env.reset(seed=2)
    rewards = np.zeros(40_000)
    for step in range(len(rewards)):
        paddle, *balls = env.get_state()
        seen = frozenset((row, ball) for row, ball in enumerate(balls[::-1]) if ball >= 0)
        _, rewards[step], *_ = env.step(policy[number[paddle, seen]])
    batches = rewards.reshape(100, -1).mean(axis=1)
    assert batches.mean() == pytest.approx(solve(mdp).gain, abs=4 * batches.std() / 10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: catch(1), "rows must be at least 2, not 1"),
        (lambda: catch(columns=2.5), "columns must be a whole number, not 2.5"),
        (lambda: catch(spawn_probability=1.0), "spawn_probability must lie strictly between 0 and 1, not 1.0"),
        (lambda: catch_ceiling(1), "columns must be at least 2, not 1"),
        (lambda: gymnasium.make("aapi/Catch-v0", rows=0), "rows must be at least 2, not 0"),
    ],
)
def test_bad_sizes(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message


def test_too_many_states_for_a_model():
    with pytest.raises(TooLarge, match="rows 10 and columns 5 make 50,388,480 states, too many for a model"):
        catch(10)


@pytest.mark.parametrize("state", [None, [], [2], [5, *[-1] * 9], [2, *[-1] * 8, 5], [2, *[-1] * 10], [2.0, *[-1] * 9]])
def test_bad_states(state):
    with pytest.raises(InvalidInput, match=r"state must be what get_state\(\) returned, not "):
        gymnasium.make("aapi/Catch-v0").unwrapped.set_state(state)


@pytest.mark.parametrize("make", [catch, windy_catch])
def test_boards_with_more_states_than_digits_can_be_written_are_refused_at_once(make):
    with pytest.raises(TooLarge, match=r"rows 100000 and columns 5 make about 10\^778\d\d states, too many"):
        make(rows=100_000)
