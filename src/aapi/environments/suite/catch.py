"""Catch without ends: balls fall, and a paddle below catches them (C-suite, Zhao et al. 2022)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.checks import at_least, check_probability
from aapi.environments.tabulate import tabulate
from aapi.errors import TooLarge
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.array_types import Array, Integers
    from aapi.mdp import EventModel

ROWS, COLUMNS, SPAWN = 10, 5, 0.1  # of the board of C-suite
ACTIONS = ("left", "stay", "right")
WINDS = ("none", "left", "right")
MOST_STATES = 2_000_000  # of a model with matrices
MOST_DIGITS = 20  # of a number of states that is written out
MOST_SOLVED = 50_000  # states for which `catch_bounds` finds the optimum

Ahead = tuple[int, ...]  # of each column: how many balls fewer a paddle has caught that is there, at the best


def catch(rows: int = 5, columns: int = COLUMNS, spawn_probability: float = SPAWN) -> FiniteMDP:
    """Move a paddle in the lowest row to the left, not at all, or to the right: a ball caught pays 1, one missed −1.

    In a step, the paddle moves, all balls fall by a row, and one that reaches the paddle's row is caught or missed;
    then, with `spawn_probability`, a ball appears in the highest row, in a column drawn evenly. So no row has two.

    A state is the paddle's column and, from the lowest row up, the column of the ball in each row, or none. There are
    columns · (columns + 1)^(rows − 1): 6,480 with 5 rows, 50,388,480 on C-suite's board of 10, which is the Gymnasium
    environment aapi/Catch-v0. Rows far above hardly matter, see `catch_bounds`: λ_* is 0.0859630 with 5 rows, and with
    10 between 0.0859848 and 0.0859852, of 0.1 if every ball could be caught.

    Unichain under every policy, for the board may stay empty; not ergodic, as a paddle need not move.
    """
    check_board(rows, columns, spawn_probability)
    more = "aapi/Catch-v0 is the environment of any size, and catch_bounds bounds its optimum"
    states = board_states(rows, columns, 1, more)
    model = catch_events(rows, columns, spawn_probability).to_model()
    return board_model(model, *board(np.arange(states), rows, columns))


def check_board(rows: int, columns: int, spawn_probability: float) -> None:
    """Raise an error if there is no such board."""
    at_least(2, rows=rows, columns=columns)
    check_probability(spawn_probability=spawn_probability)


def board_states(rows: int, columns: int, winds: int, more: str) -> int:
    """How many states there are; an error if a model cannot have so many, before powers of any size are computed."""
    digits = math.log10(winds * columns) + (rows - 1) * math.log10(columns + 1)
    states = winds * columns * (columns + 1) ** (rows - 1) if digits < MOST_DIGITS else 0
    if digits >= MOST_DIGITS or states > MOST_STATES:
        shown = f"{states:,}" if digits < MOST_DIGITS else f"about 10^{digits:.0f}"
        raise TooLarge(
            f"rows {rows} and columns {columns} make {shown} states, too many for a model: take fewer rows; {more}"
        )
    return states


def board(states: Integers, rows: int, columns: int) -> tuple[Integers, Integers]:
    """The paddle's column in each state, and that of the ball in each row from the lowest up, −1 for none.

    The balls have the shape (rows − 1, states).
    """
    balls, paddle = np.divmod(states, columns)
    return paddle, balls // (columns + 1) ** np.arange(rows - 1)[:, None] % (columns + 1) - 1


def state_number(paddle: Integers, balls: Integers, columns: int) -> Integers:
    """The number of the state that `board` describes."""
    places = (columns + 1) ** np.arange(len(balls))
    return np.asarray(np.tensordot(places, balls + 1, 1) * columns + paddle)


def moved(paddle: Integers, action: int, columns: int) -> Integers:
    """Where the paddle is after an action."""
    return np.clip(paddle + action - 1, 0, columns - 1)


def catch_events(rows: int, columns: int, spawn_probability: float) -> EventModel:
    """The model as a function: the events are no new ball, and one in each column."""
    from aapi.mdp import EventModel

    chances = np.array([1.0 - spawn_probability, *[spawn_probability / columns] * columns])

    def events(states: Integers, action: int) -> tuple[Array, Integers, Array]:
        paddle, balls = board(states, rows, columns)
        paddle = moved(paddle, action, columns)
        successors = [
            state_number(paddle, np.vstack([balls[1:], np.full_like(paddle, new)]), columns)
            for new in range(-1, columns)
        ]
        return chances[:, None], np.array(successors), judged(balls[0], paddle)

    return EventModel(columns * (columns + 1) ** (rows - 1), len(ACTIONS), events, initial_state=columns // 2)


def judged(ball: Integers, paddle: Integers) -> Array:
    """1 where a ball arrives at the paddle, −1 where it arrives elsewhere, 0 where there is none."""
    return np.where(ball < 0, 0.0, np.where(ball == paddle, 1.0, -1.0))


def board_model(model: FiniteMDP, paddle: Integers, balls: Integers, wind: Integers | None = None) -> FiniteMDP:
    """The model with names, and with coordinates: the paddle, the balls from the lowest up or 0, and the wind."""
    rows = [paddle, *(balls + 1), *([] if wind is None else [wind])]
    seen = ("-", *map(str, range(int(paddle.max()) + 1)))
    names = [
        f"paddle {place[0]}, balls {' '.join(seen[ball] for ball in place[1 : len(balls) + 1])}"
        + ("" if wind is None else f", wind {WINDS[place[-1]]}")
        for place in zip(*(row.tolist() for row in rows), strict=True)
    ]
    return FiniteMDP(
        model.transitions, np.rint(model.rewards), state_names=names, action_names=ACTIONS,
        initial_state=model.initial_state, coordinates=np.transpose(rows),
    )  # fmt: skip


def catch_rules(mdp: FiniteMDP) -> dict[str, Integers]:
    """Going where the lowest ball will land; and catching as many as possible of the balls that can be seen.

    Where the second one has a choice, it goes to the middle.
    """
    places = cast("Integers", mdp.coordinates)  # which the models of this file have
    columns = int(places[:, 0].max()) + 1
    return landing_rules(places[:, 0], places[:, 1:].T - 1, columns)


def landing_rules(paddle: Integers, balls: Integers, columns: int) -> dict[str, Integers]:
    """The rules, given the column in which each ball will land, −1 for none, (rows − 1, states)."""
    lowest = np.full_like(paddle, columns // 2)
    for ball in balls[::-1]:
        lowest = np.where(ball >= 0, ball, lowest)
    return {
        "to the lowest ball": np.sign(lowest - paddle) + 1,
        "most of what is seen": most_seen(paddle, balls, columns),
    }


def most_seen(paddle: Integers, balls: Integers, columns: int) -> Integers:
    """The action that leads to the most balls caught of those in flight and, among equals, closest to the middle."""
    everywhere = np.arange(columns)[:, None]
    off = abs(everywhere - columns // 2) / (columns * (len(balls) + 1))  # over all steps, less than a ball
    value = judged(balls[-1], everywhere) - off
    for ball in balls[-2::-1]:
        beside = np.maximum(np.vstack([value[1:], value[-1:]]), np.vstack([value[:1], value[:-1]]))
        value = judged(ball, everywhere) - off + np.maximum(value, beside)
    reached = [np.take_along_axis(value, moved(paddle, a, columns)[None], 0)[0] for a in range(len(ACTIONS))]
    return np.asarray(np.argmax(reached, axis=0))


def catch_ceiling(columns: int = COLUMNS, spawn_probability: float = SPAWN) -> float:
    """What a paddle earns that knows all balls to come: no policy earns more, with any number of rows and any wind.

    With w(x) the most that can have been earned by a paddle that is now at x, w'(x') = max_{|x − x'| ≤ 1} w(x) + r(x').
    The differences to max w are few, and a finite Markov chain, as landing columns are drawn evenly; the ceiling is
    the mean growth of max w. 0.085985128 with C-suite's numbers.
    """
    check_board(2, columns, spawn_probability)

    def outcomes(ahead: Ahead, _: int) -> Iterator[tuple[float, Ahead, float]]:
        reached = [max(ahead[max(0, x - 1) : x + 2]) for x in range(columns)]
        for ball in range(-1, columns):
            scores = [w + (0 if ball < 0 else 1 if x == ball else -1) for x, w in enumerate(reached)]
            most = max(scores)
            chance = spawn_probability / columns if ball >= 0 else 1.0 - spawn_probability
            yield chance, tuple(w - most for w in scores), most

    states: dict[Ahead, None] = {(0,) * columns: None}
    for ahead in (waiting := list(states)):
        for _, after, _ in outcomes(ahead, 0):
            if after not in states:
                states[after] = None
                waiting.append(after)
    from aapi.mdp import policy_values

    chain = tabulate(waiting, ["catch"], outcomes, start=waiting[0])
    return policy_values(chain, np.zeros(len(waiting), dtype=np.int64)).gain


def catch_bounds(
    rows: int = ROWS, columns: int = COLUMNS, spawn_probability: float = SPAWN
) -> tuple[float, float]:  # fmt: skip
    """Two numbers between which λ_* lies, for boards with more states than can be solved.

    The lower one is λ_* of the tallest board of up to 50,000 states: a paddle that looks no higher earns it. The upper
    one is `catch_ceiling`, unless the board is that small itself. They are 4e-7 apart on the board of C-suite.
    """
    from aapi.mdp import solve_events

    check_board(rows, columns, spawn_probability)
    height = 2
    while height < rows and columns * (columns + 1) ** height <= MOST_SOLVED:
        height += 1
    solution = solve_events(catch_events(height, columns, spawn_probability), accuracy=1e-8)
    return solution.lower, solution.upper if height == rows else catch_ceiling(columns, spawn_probability)
