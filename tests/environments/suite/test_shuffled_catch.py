import itertools

import gymnasium
import numpy as np
import pytest

from aapi.environments.suite.shuffled_catch_env import DancingCatchEnv, SwappedCatchEnv
from aapi.errors import InvalidInput


def follow(env, steps, seed=0):
    """The order after each step; what is seen is compared with the board in that order, from the saved state."""
    env.reset(seed=seed)
    cells, orders = env.rows * env.columns, []
    for step in range(steps):
        seen, *_ = env.step(step % 3)
        paddle, *rest = env.get_state()
        board = np.zeros((env.rows, env.columns), dtype=int)
        board[-1, paddle] = 1
        for row, column in enumerate(rest[: env.rows - 1]):
            if column >= 0:
                board[row, column] = 1
        orders.append(rest[-cells:])
        assert sorted(orders[-1]) == list(range(cells))
        assert seen.tolist() == [int(board.ravel()[cell]) for cell in orders[-1]]
    return orders


def swaps(orders):
    """In which steps the order changed, and how many places did."""
    cells = len(orders[0])
    pairs = itertools.pairwise([list(range(cells)), *orders])
    changed = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in pairs]
    assert set(changed) <= {0, 2}
    return np.array(changed)


def test_two_cells_are_swapped_at_regular_times():
    changed = swaps(follow(DancingCatchEnv(rows=3, columns=3, swap_every=5), 3000))
    at = np.arange(1, 3001) % 5 == 0
    assert not changed[~at].any()
    assert (changed[at] == 2).mean() == pytest.approx(8 / 9, abs=5 * np.sqrt(8 / 81 / 600))  # else both are the same


def test_two_cells_are_swapped_now_and_then():
    changed = swaps(follow(SwappedCatchEnv(rows=3, columns=3, swap_probability=0.25), 3000))
    chance = 0.25 * 8 / 9
    assert (changed == 2).mean() == pytest.approx(chance, abs=5 * np.sqrt(chance * (1 - chance) / 3000))
    gaps = np.diff(np.flatnonzero(changed))
    assert gaps.std() > 2.0  # not at regular times; a geometric one has 3.97


def test_the_order_changes_nothing_else():
    plain, dancing = gymnasium.make("aapi/Catch-v0").unwrapped, DancingCatchEnv()
    plain.reset(seed=4)
    dancing.reset(seed=4)
    for step in range(500):  # before the first swap, the same numbers are drawn
        board, reward, *_ = plain.step(step % 3)
        seen, paid, *_ = dancing.step(step % 3)
        assert (seen == board.ravel()).all()
        assert reward == paid


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DancingCatchEnv(swap_every=0), "swap_every must be at least 1, not 0"),
        (lambda: SwappedCatchEnv(swap_probability=0), "swap_probability must lie strictly between 0 and 1, not 0"),
        (lambda: SwappedCatchEnv(columns=1), "columns must be at least 2, not 1"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize("extra", [[], list(range(49)), [*range(49), 48], [*range(50), 50]])
def test_bad_orders(extra):
    for env, first in ((SwappedCatchEnv(), []), (DancingCatchEnv(), [3])):
        with pytest.raises(InvalidInput, match=r"state must be what get_state\(\) returned, not "):
            env.set_state([2, *[-1] * 9, *first, *extra])
    with pytest.raises(InvalidInput, match="state must be"):
        DancingCatchEnv().set_state([2, *[-1] * 9, 10_000, *range(50)])
