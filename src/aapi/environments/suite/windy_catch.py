"""Catch in a wind that changes now and then (C-suite, Zhao et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.checks import at_least
from aapi.environments.suite.catch import (
    ACTIONS,
    COLUMNS,
    SPAWN,
    WINDS,
    board,
    board_model,
    board_states,
    check_board,
    judged,
    landing_rules,
    moved,
    state_number,
)

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers
    from aapi.mdp import EventModel, FiniteMDP

DRIFT = (0, -1, 1)  # columns that a falling ball moves, in each of the winds
CHANGE_EVERY = 100_000


def windy_catch(
    rows: int = 4, columns: int = COLUMNS, spawn_probability: float = SPAWN, change_every: int = CHANGE_EVERY
) -> FiniteMDP:
    """`catch` in a wind: falling balls drift by a column a row, to the left or to the right, or do not.

    Off one side of the board, a ball comes back on the other. The wind is part of the state. C-suite draws another one,
    evenly from all three, every 100,000 steps, and does not show how many are left; here it does so in each step with
    probability 1/change_every, so that the state is Markov. The environment aapi/WindyCatch-v0 is C-suite's.

    Where balls land is drawn evenly, whatever the wind, so the bound of `catch_ceiling` holds here too. While the wind
    stays, this is `catch` with landing columns in place of columns: the two differ in λ_* by what is lost when balls in
    flight change their way, a few rewards in `change_every` steps.
    """
    check_board(rows, columns, spawn_probability)
    at_least(1, change_every=change_every)
    states = board_states(rows, columns, len(WINDS), "aapi/WindyCatch-v0 is the environment of any size")
    model = windy_events(rows, columns, spawn_probability, 1.0 / change_every).to_model()
    wind, plain = np.divmod(np.arange(states), states // len(WINDS))
    return board_model(model, *board(plain, rows, columns), wind)


def windy_events(rows: int, columns: int, spawn_probability: float, change: float) -> EventModel:
    """The model as a function: the events are no new ball, or one in each column, together with each wind to come."""
    from aapi.mdp import EventModel

    each = columns * (columns + 1) ** (rows - 1)
    spawns = np.array([1.0 - spawn_probability, *[spawn_probability / columns] * columns])

    def events(states: Integers, action: int) -> tuple[Array, Integers, Array]:
        wind, plain = np.divmod(states, each)
        paddle, balls = board(plain, rows, columns)
        paddle = moved(paddle, action, columns)
        balls = np.where(balls < 0, -1, (balls + np.array(DRIFT)[wind]) % columns)
        chances, successors = [], []
        for after in range(len(WINDS)):
            turn = change / len(WINDS) + (1.0 - change) * (wind == after)
            for new, spawn in zip(range(-1, columns), spawns, strict=True):
                higher = np.vstack([balls[1:], np.full_like(paddle, new)])
                chances.append(turn * spawn)
                successors.append(after * each + state_number(paddle, higher, columns))
        return np.array(chances), np.array(successors), judged(balls[0], paddle)

    return EventModel(len(WINDS) * each, len(ACTIONS), events, initial_state=columns // 2)


def windy_catch_rules(mdp: FiniteMDP) -> dict[str, Integers]:
    """The rules of `catch`, for the columns in which balls land if the wind stays."""
    places = cast("Integers", mdp.coordinates)  # which the models of this file have
    paddle, balls, drift = places[:, 0], places[:, 1:-1].T - 1, np.array(DRIFT)[places[:, -1]]
    columns = int(paddle.max()) + 1
    falls = np.arange(1, len(balls) + 1)[:, None]
    return landing_rules(paddle, np.where(balls < 0, -1, (balls + falls * drift) % columns), columns)
