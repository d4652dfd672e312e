import gymnasium
import numpy as np
import pytest
import scipy.sparse

from aapi.environments import catch, catch_ceiling, windy_catch, windy_catch_rules
from aapi.environments.suite.catch import WINDS
from aapi.errors import InvalidInput, TooLarge
from aapi.mdp import policy_values, solve

SIDEWAYS = {"none": 0, "left": -1, "right": 1}


def described(mdp, state):
    """The paddle, the balls and the wind of a state, from its name."""
    paddle, balls, wind = mdp.state_names[state].split(", ")
    marks = enumerate(balls.removeprefix("balls ").split())
    return int(paddle.removeprefix("paddle ")), {(row, int(m)) for row, m in marks if m != "-"}, wind[5:]


def test_the_model_is_what_the_description_says():
    rows, columns, chance, every = 3, 3, 0.3, 4
    mdp = windy_catch(rows, columns, chance, every)
    number = {(p, frozenset(b), w): x for x in range(mdp.num_states) for p, b, w in [described(mdp, x)]}
    assert len(number) == mdp.num_states == 3 * 3 * 4**2
    for (paddle, balls, wind), x in number.items():
        for action in range(3):
            there = sorted((0, paddle + action - 1, columns - 1))[1]
            fallen = {(row - 1, (column + SIDEWAYS[wind]) % columns) for row, column in balls}
            left = {ball for ball in fallen if ball[0] >= 0}
            expected = np.zeros(mdp.num_states)
            for new, spawn in [(set(), 1 - chance)] + [({(rows - 2, c)}, chance / columns) for c in range(columns)]:
                for after in WINDS:
                    turn = 1 / (3 * every) + (1 - 1 / every) * (after == wind)
                    expected[number[there, frozenset(left | new), after]] += spawn * turn
            assert abs(mdp.transitions[[3 * x + action]].toarray()[0] - expected).max() < 1e-15
            assert mdp.rewards[x, action] == sum(1 if c == there else -1 for row, c in fallen if row < 0)


def test_the_optimum_is_that_of_plain_value_iteration():
    mdp = windy_catch(3, 4, 0.3, 20)
    rows, values = scipy.sparse.csr_array(mdp.transitions), np.zeros(mdp.num_states)
    for _ in range(600):
        change = (mdp.rewards + (rows @ values).reshape(mdp.rewards.shape)).max(axis=1) - values
        values += change - change[0]
    assert np.ptp(change) < 1e-9
    assert solve(mdp).gain == pytest.approx(change.mean(), abs=1e-9)


def test_wind_costs_little_where_it_seldom_changes():
    calm, ceiling = solve(catch(4)).gain, catch_ceiling()
    gains = [solve(windy_catch(4, change_every=every)).gain for every in (10, 1000, 100_000)]
    assert gains[0] < gains[1] < gains[2] < calm < ceiling
    assert calm - gains[2] < 1e-6


def test_the_rules_know_where_balls_land():
    mdp = windy_catch(4)
    best, calm = solve(mdp).gain, catch(4)
    assert set(windy_catch_rules(mdp)) == {"to the lowest ball", "most of what is seen"}
    for policy in windy_catch_rules(mdp).values():
        gain = policy_values(mdp, policy).gains[mdp.initial_state]
        assert 0.99 * best < gain <= best
    assert calm.num_states == mdp.num_states // 3


def test_balls_drift_and_the_wind_turns():
    env = gymnasium.make("aapi/WindyCatch-v0", change_every=7).unwrapped
    seen, _ = env.reset(seed=0)
    assert seen.shape == (53,)
    assert seen[50:].tolist() == [1, 0, 0]  # it starts without wind
    winds = []
    for step in range(1, 2101):
        before, board = seen[50:].argmax(), seen[:45].reshape(9, 5)
        seen, reward, *_ = env.step(step % 3)
        drifted = np.roll(board, SIDEWAYS[WINDS[before]], axis=1)
        assert (seen[5:45].reshape(8, 5) == drifted[:8]).all()
        paddle = seen[45:50].argmax()
        assert reward == (0 if not drifted[8].any() else 1 if drifted[8, paddle] else -1)
        if step % 7 == 0:
            winds.append(seen[50:].argmax())
        else:
            assert seen[50:].argmax() == before
    counts = np.bincount(winds, minlength=3)
    assert abs(counts - 100).max() < 5 * np.sqrt(100)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: windy_catch(change_every=0), "change_every must be at least 1, not 0"),
        (lambda: windy_catch(rows=1), "rows must be at least 2, not 1"),
        (
            lambda: gymnasium.make("aapi/WindyCatch-v0", change_every=1.5),
            "change_every must be a whole number, not 1.5",
        ),
    ],
)
def test_bad_sizes(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message


def test_too_many_states_for_a_model():
    with pytest.raises(TooLarge, match="rows 9 and columns 5 make 25,194,240 states, too many for a model"):
        windy_catch(9)


@pytest.mark.parametrize("extra", [[], [0], [3, 0], [0, 100_000], [0, -1], [0, 0, 0]])
def test_bad_states(extra):
    with pytest.raises(InvalidInput, match=r"state must be what get_state\(\) returned, not "):
        gymnasium.make("aapi/WindyCatch-v0").unwrapped.set_state([2, *[-1] * 9, *extra])
