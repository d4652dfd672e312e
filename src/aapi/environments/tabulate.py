"""A finite model from a function that lists what may happen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import scipy.sparse

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

    states: all of them, in the order of their numbers. start: where a simulation starts. names: what to call a state.
    """
    number = {state: i for i, state in enumerate(states)}
    rows: list[int] = []
    columns: list[int] = []
    probabilities: list[float] = []
    rewards = np.zeros((len(states), len(actions)))
    for x, state in enumerate(states):
        for a in range(len(actions)):
            chances, successors, paid = zip(*outcomes(state, a), strict=True)
            rows += [x * len(actions) + a] * len(chances)
            columns += [number[successor] for successor in successors]
            probabilities += chances
            rewards[x, a] = paid[0] if len(set(paid)) == 1 else math.fsum(np.multiply(chances, paid))
    shape = (len(states) * len(actions), len(states))
    return FiniteMDP(
        scipy.sparse.csr_array((probabilities, (rows, columns)), shape=shape), rewards, action_names=actions,
        state_names=[names(state) for state in states], initial_state=number[start], coordinates=coordinates,
    )  # fmt: skip
