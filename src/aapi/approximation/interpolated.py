"""Q-functions on the vertices of a grid over observation vectors, which is laid anew as more is seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from aapi.approximation.grid import CORNERS, Grid, find_number, find_simplex, read_point
from aapi.approximation.space import Actor, QSpace, States
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.array_types import Array, Integers, Streams


CLOSE = 1e-9  # actions whose values differ by so little of the best one's are equally good


@dataclass(frozen=True, eq=False)
class GridPolicy:
    """The action of the highest value, interpolated between vertices; ties share. Of one run.

    slots, numbers: a hash table from codes of vertices to rows of q, (vertices, actions); row 0 is for all others.
    """

    grid: Grid
    slots: Integers
    numbers: Integers
    q: Array

    def values(self, observations: Array) -> Array:
        """Q(x, ·), (n, actions), at observations, (n, dimension)."""
        values = np.empty((len(observations), self.q.shape[1]))
        _fill_values(self.grid, self.slots, self.numbers, self.q, np.ascontiguousarray(observations), values)
        return values


class Interpolated(QSpace):
    """For learners that lay a grid over observation vectors themselves. A policy is a `GridPolicy`, of one run.

    Neither the grid nor its number of vertices is known beforehand, so that there are no sums of Q-functions.
    """

    countable = False
    state_dtype = np.float64
    rows = num_features = 0

    def __init__(self, dimension: int, num_actions: int) -> None:
        self.num_actions, self.state_shape = num_actions, (dimension,)

    def describe(self) -> str:
        """What is observed."""
        return f"vectors of {self.state_shape[0]}"

    def uniform(self, runs: int) -> GridPolicy:  # noqa: ARG002 - one
        """All actions are equally good everywhere."""
        dimension = self.state_shape[0]
        none = np.zeros(dimension, dtype=np.int64)
        grid = Grid(np.arange(dimension), none - 1, none + 1, np.zeros((dimension, 1)), none, interpolate=True)
        return GridPolicy(
            grid, np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros((1, self.num_actions))
        )

    def _check_policy(self, policy: GridPolicy, runs: int) -> GridPolicy:
        """A policy on a grid, or an error."""
        if not isinstance(policy, GridPolicy) or runs != 1 or policy.q.shape[1] != self.num_actions:
            raise InvalidInput(f"a policy on a grid is a GridPolicy of one run, not {policy!r}")
        return policy

    def _most_likely(self, policy: GridPolicy) -> GridPolicy:
        """Itself."""
        return policy

    def _probabilities(self, policy: GridPolicy, states: States) -> Array:
        """π(·|x), (1, n, actions)."""
        values = policy.values(states[0])
        best = values.max(axis=1, keepdims=True)
        ties = best - values <= CLOSE * np.abs(best)
        return np.asarray(ties / ties.sum(axis=1, keepdims=True))[None]

    def _actor(self, policy: GridPolicy, stream: Streams) -> Actor:
        """Draws one of the best actions."""
        rooms = np.empty(self.num_actions), np.empty(len(policy.grid.first))
        return partial(_draw_best, policy.grid, policy.slots, policy.numbers, policy.q, stream, *rooms)

    def _draw(self, policy: GridPolicy, stream: Streams, states: States) -> Integers:
        """Actions for vectors, (n, dimension)."""
        actions = np.empty(len(states), dtype=np.int64)
        rooms = np.empty(self.num_actions), np.empty(len(policy.grid.first))
        arrays = policy.grid, policy.slots, policy.numbers, policy.q, stream, *rooms
        _draw_all(*arrays, np.ascontiguousarray(states), actions)
        return actions

    def join(self, policies: Sequence[GridPolicy]) -> GridPolicy:
        """Policies are of one run each."""
        if len(policies) != 1:
            self._refuse()
        return policies[0]

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise InvalidInput(
            "grid features are for AAPI() and OptimisticGrid(), which lay the grid: take Fourier(), Tiles() or Radial()"
        )

    softmax = values = temperatures = surprise = fit = equations = temporal_differences = from_weights = _refuse


@kernel
def interpolate(
    grid: Any, slots: Any, numbers: Any, q: Any, point: Any, codes: Any, weights: Any, corners: Any, order: Any,
    parts: Any, values: Any,
) -> None:  # fmt: skip
    """Q at a point, (actions,)."""
    values[:] = 0.0
    for k in range(find_simplex(grid, point, codes, weights, corners, order, parts)):
        row = numbers[find_number(slots, numbers, codes[k])]
        for a in range(values.size):
            values[a] += weights[k] * q[row, a]


@kernel
def _fill_values(grid: Any, slots: Any, numbers: Any, q: Any, observations: Any, values: Any) -> None:
    dimension = grid.first.size
    codes, order = np.empty(CORNERS, dtype=np.int64), np.empty(CORNERS, dtype=np.int64)
    weights, parts, corners = np.empty(CORNERS), np.empty(CORNERS), np.empty((CORNERS, dimension))
    point = np.empty(dimension)
    for t in range(observations.shape[0]):
        read_point(grid, observations[t], point)
        interpolate(grid, slots, numbers, q, point, codes, weights, corners, order, parts, values[t])


@kernel
def _draw_best(
    grid: Any, slots: Any, numbers: Any, q: Any, stream: Any, values: Any, point: Any, observation: Any
) -> Any:
    """One of the best actions; a random number is drawn either way, so that ties do not move the stream."""
    codes, order = np.empty(CORNERS, dtype=np.int64), np.empty(CORNERS, dtype=np.int64)
    weights, parts, corners = np.empty(CORNERS), np.empty(CORNERS), np.empty((CORNERS, grid.first.size))
    read_point(grid, observation, point)
    interpolate(grid, slots, numbers, q, point, codes, weights, corners, order, parts, values)
    best = values.max()
    near, count = best - CLOSE * abs(best), 0
    for a in range(values.size):
        count += values[a] >= near
    chosen = int(draw(stream) * count)
    for a in range(values.size):
        if values[a] >= near:
            if chosen == 0:
                return a
            chosen -= 1
    return 0


@kernel
def _draw_all(
    grid: Any, slots: Any, numbers: Any, q: Any, stream: Any, values: Any, point: Any, observations: Any, actions: Any
) -> None:  # fmt: skip
    for i in range(actions.size):
        actions[i] = _draw_best(grid, slots, numbers, q, stream, values, point, observations[i])
