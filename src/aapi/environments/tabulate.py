"""A finite model from a function that lists what may happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

State = TypeVar("State")


def tabulate(
    states: Sequence[State],
    actions: Sequence[str],
    outcomes: Callable[[State, int], Iterable[tuple[float, State, float]]],
    *,
    start: State | None = None,
    names: Callable[[State], str] = str,
    coordinates: ArrayLike | None = None,
) -> FiniteMDP:
    """The model in which action a in state x leads to `outcomes(x, a)`: (probability, successor, reward) each.

    Rewards are random where outcomes of one pair pay differently. An action without outcomes is forbidden there.
    states: all of them, in the order of their numbers; anything that can be a key, such as tuples.
    start: where a simulation starts, by default the first state. names: what to call a state.
    """
    if not len(states) or not len(actions):
        raise InvalidInput(
            f"a model needs at least one state and one action: {len(states)} states, {len(actions)} actions"
        )
    number = {state: i for i, state in enumerate(states)}
    if len(number) < len(states):
        raise InvalidInput("a state occurs twice among the states")
    rows = []
    allowed = np.zeros((len(states), len(actions)), dtype=bool)
    for x, state in enumerate(states):
        for a, action in enumerate(actions):
            where = f"outcomes of state {names(state)}, {action}"
            for outcome in outcomes(state, a):
                try:
                    probability, successor, reward = outcome
                except (TypeError, ValueError):
                    raise InvalidInput(f"{where}: {outcome!r} is not (probability, successor, reward)") from None
                if successor not in number:
                    raise InvalidInput(f"{where}: the successor {successor!r} is none of the states")
                rows.append((x * len(actions) + a, probability, number[successor], reward))
                allowed[x, a] = True
    if not rows:
        raise InvalidInput("nothing can happen: outcomes gives no (probability, successor, reward)")
    if start is not None and start not in number:
        raise InvalidInput(f"start {start!r} is none of the states")
    pairs, probabilities, successors, rewards = zip(*rows, strict=True)
    return FiniteMDP.from_outcomes(
        pairs, successors, probabilities, rewards, len(states), len(actions), action_names=actions,
        state_names=[names(state) for state in states], initial_state=0 if start is None else number[start],
        coordinates=coordinates, allowed=None if allowed.all() else allowed,
    )  # fmt: skip
