"""A finite model from a function that lists what may happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

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
    start: State,
    names: Callable[[State], str] = str,
    coordinates: ArrayLike | None = None,
) -> FiniteMDP:
    """The model in which action a in state x leads to `outcomes(x, a)`: (probability, successor, reward) each.

    Rewards are random where outcomes of one pair pay differently.
    states: all of them, in the order of their numbers. start: where a simulation starts. names: what to call a state.
    """
    number = {state: i for i, state in enumerate(states)}
    rows = [
        (x * len(actions) + a, probability, number[successor], reward)
        for x, state in enumerate(states)
        for a in range(len(actions))
        for probability, successor, reward in outcomes(state, a)
    ]
    pairs, probabilities, successors, rewards = zip(*rows, strict=True)
    return FiniteMDP.from_outcomes(
        pairs, successors, probabilities, rewards, len(states), len(actions), action_names=actions,
        state_names=[names(state) for state in states], initial_state=number[start], coordinates=coordinates,
    )  # fmt: skip
