"""A model of observation vectors: transitions counted between the vertices of a grid over what was seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.approximation.grid import CORNERS, ELSEWHERE, MOST_WHOLE, Grid, find_number, find_simplex, read_point
from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, check_indices, check_like
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.memory.layout import Extent, lay_grid
from aapi.memory.memory import Memory, MemorySpec

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Actions, Array, Arrays, Integers
    from aapi.simulation import PhaseData


GROWTH = 1.5  # steps for each that there were, after which the grid is laid anew
CHUNK = 500  # steps whose entries are sorted at a time
MOST_VERTICES = 100_000  # those met later are elsewhere
SUCCESSOR = 1 << 32  # what a key has for each pair


class Steps(NamedTuple):
    """Steps in their order: states and successors, (n, dimension), actions and rewards, (n,)."""

    states: Array
    actions: Actions
    rewards: Array
    successors: Array

    def part(self, first: int, last: int | None = None) -> Steps:
        """Those from the first to the last."""
        where = slice(first, last)
        return Steps(self.states[where], self.actions[where], self.rewards[where], self.successors[where])

    def thinned(self, most: int) -> Steps:
        """So many of them: the last half, and as many that are evenly spread over those before."""
        held, recent = len(self.rewards), most // 2
        if held <= most:
            return self
        spread = np.arange(most - recent) * (held - recent) // (most - recent)
        kept = np.concatenate([spread, np.arange(held - recent, held)])
        return Steps(self.states[kept], self.actions[kept], self.rewards[kept], self.successors[kept])

    def then(self, after: Steps) -> Steps:
        """These, and others after them."""
        return Steps(
            np.concatenate([self.states, after.states]), np.concatenate([self.actions, after.actions]),
            np.concatenate([self.rewards, after.rewards]), np.concatenate([self.successors, after.successors]),
        )  # fmt: skip


class GridCounts(NamedTuple):
    """What was counted on a grid. A vertex has a number, by when it was met; 0 stands for all that never were.

    slots, numbers: a hash table from codes of vertices to numbers. keys: entries (x, a, y), sorted, as p · 2³² + y with
    the pair p = x · actions + a; weights: how often each was seen. visits, earned: how often each pair was visited, and
    how much higher rewards were then than the first of all, (vertices · actions,).
    """

    slots: Integers
    numbers: Integers
    keys: Integers
    weights: Array
    visits: Array
    earned: Array


@dataclass(frozen=True)
class Interpolate(MemorySpec["InterpolatedModel"]):
    """Keep a model of `window` steps, and of half as many more at the most.

    When some have to go, half of the window has the last ones, and the other half is evenly spread over all before, so
    that what was tried once is not tried again and again.
    """

    window: int = 100_000

    def start(self, space: QSpace, runs: int) -> InterpolatedModel:
        """No step yet."""
        at_least(1, window=self.window)
        if runs != 1:
            raise InvalidInput(f"an interpolated model is of one run at a time, not {runs}")
        states = np.empty((0, *space.state_shape))
        steps = Steps(states, np.empty(0, dtype=np.int32), np.empty(0), states)
        nowhere = np.zeros((1, *space.state_shape))
        blank = Extent.of(nowhere)
        grid = lay_grid(blank, nowhere)
        return InterpolatedModel(space, self, steps, 0, blank, grid, nothing_counted(space.num_actions))


@dataclass(frozen=True, eq=False)
class InterpolatedModel(Memory):
    """Steps of one run, and what they count on a grid over them.

    A step from x to y counts at the vertices v of the simplex around x, by their weights, as one from v to y + v − x:
    moves are alike nearby, places are not. laid: how many of these steps there were when the grid was laid. That is
    done anew when something lies outside, is no longer whole or no longer on a circle, and when there are half as many
    steps more. extent: of all that was seen. Grid and counts follow from these, to the bit, and are not stored.
    """

    space: QSpace = field(metadata=NOT_STORED)
    spec: Interpolate = field(metadata=NOT_STORED)
    steps: Steps
    laid: int
    extent: Extent
    grid: Grid = field(metadata=NOT_STORED)
    counts: GridCounts = field(metadata=NOT_STORED)

    @property
    def num_vertices(self) -> int:
        """How many numbers vertices have, from 0 on."""
        return len(self.counts.visits) // self.space.num_actions

    def add(self, data: PhaseData, policy: Policy) -> InterpolatedModel:  # noqa: ARG002 - any will do
        """The model with the steps of a phase in it."""
        new = Steps(data.states[0], data.actions[0], data.rewards[0], data.successors[0])
        steps = self.steps.then(new)
        fits = self.extent.holds(new.states) and self.extent.holds(new.successors)
        if fits and len(steps.rewards) <= GROWTH * self.laid:
            return replace(self, steps=steps)._with_counts(len(self.steps.rewards))
        extent = Extent.of(np.concatenate([new.states, new.successors]))
        extent = self.extent.joined(extent) if self.laid else extent
        kept = steps.thinned(self.spec.window)
        return self._laid_over(extent, kept, len(kept.rewards))

    def _laid_over(self, extent: Extent, steps: Steps, laid: int) -> InterpolatedModel:
        """The model of these steps, on a grid over all that was seen."""
        grid, nothing = lay_grid(extent, steps.part(0, laid).states), nothing_counted(self.space.num_actions)
        return replace(self, steps=steps, laid=laid, extent=extent, grid=grid, counts=nothing)._with_counts(0)

    def _with_counts(self, first: int) -> InterpolatedModel:
        """The model with the steps from the first on in its counts."""
        steps, counts = self.steps, self.counts
        for start in range(first, len(steps.rewards), CHUNK):
            chunk = steps.part(start, start + CHUNK)
            counts = add_steps(self.grid, counts, chunk, float(steps.rewards[0]), self.space.num_actions)
        return replace(self, counts=counts)

    def restored(self, arrays: Arrays) -> InterpolatedModel:
        """What was stored; or an error."""
        stored = arrays.get("steps_2", np.empty(0))
        count = len(stored) if stored.ndim == 1 else 0
        like = [np.empty((count, *array.shape[1:]), dtype=array.dtype) for array in self.steps]
        steps = Steps(*(check_like(arrays, f"steps_{part}", array) for part, array in enumerate(like)))
        check_indices(steps.actions, self.space.num_actions, "actions")
        laid = int(check_like(arrays, "laid", np.asarray(self.laid)))
        if not min(1, count) <= laid <= count <= max(GROWTH * laid, self.spec.window):
            raise InvalidInput(f"of {count} steps, a grid cannot have been laid over {laid}")
        extent = Extent(*(check_like(arrays, f"extent_{part}", array) for part, array in enumerate(self.extent)))
        if not (extent.low <= extent.high).all() or (extent.circle[1:] & extent.circle[:-1]).any() or extent.circle[-1]:
            raise InvalidInput("the extent of what was observed makes no sense")
        wide = extent.high - extent.low >= MOST_WHOLE
        if (extent.whole & (wide | (extent.low != np.floor(extent.low)))).any():
            raise InvalidInput("what was observed cannot have been whole numbers")
        return self._laid_over(extent, steps, laid) if count else self

    def check_steps(self, steps: int) -> None:
        """Raise an error if more steps are remembered than were taken, or none of some."""
        held = len(self.steps.rewards)
        if not min(steps, self.spec.window) <= held <= steps:
            raise InvalidInput(f"a model of {held} steps cannot be what is remembered of {steps}")


def nothing_counted(num_actions: int) -> GridCounts:
    """Of a grid without steps."""
    slots = np.zeros(2, dtype=np.int64)
    return GridCounts(
        slots, slots.copy(), np.empty(0, dtype=np.int64), np.empty(0), np.zeros(num_actions), np.zeros(num_actions)
    )


def add_steps(grid: Grid, counts: GridCounts, steps: Steps, reference: float, num_actions: int) -> GridCounts:
    """The counts with some steps more. reference: the reward that counts as zero.

    Sums are made in the order of steps, so that they do not depend on how many are added at a time.
    """
    number, corners = len(steps.rewards), min(CORNERS, 1 + len(grid.first))
    known = len(counts.visits) // num_actions
    slots, numbers = _with_room(counts, known + number * corners * (1 + corners))
    found = np.empty((number, corners), dtype=np.int64), np.zeros((number, corners))
    keys, weights = np.empty(number * corners * corners, dtype=np.int64), np.empty(number * corners * corners)
    filled, known = _find_entries(grid, steps, num_actions, slots, numbers, known, *found, keys, weights)
    visits, earned = np.zeros((2, known * num_actions))
    visits[: len(counts.visits)], earned[: len(counts.visits)] = counts.visits, counts.earned
    _visit(*found, steps.rewards, reference, visits, earned)
    order = np.argsort(keys[:filled], kind="stable")
    merged = np.empty(len(counts.keys) + filled, dtype=np.int64), np.empty(len(counts.keys) + filled)
    size = _merge(counts.keys, counts.weights, keys[order], weights[order], *merged)
    return GridCounts(slots, numbers, merged[0][:size], merged[1][:size], visits, earned)


def _with_room(counts: GridCounts, most: int) -> tuple[Integers, Integers]:
    """The hash table, in one that has room for so many vertices, if it has not."""
    size = len(counts.slots)
    if size >= 2 * most:
        return counts.slots, counts.numbers
    slots = np.zeros(1 << (2 * most - 1).bit_length(), dtype=np.int64)
    numbers = np.zeros_like(slots)
    _move(counts.slots, counts.numbers, slots, numbers)
    return slots, numbers


@kernel
def _move(slots: Any, numbers: Any, more_slots: Any, more_numbers: Any) -> None:
    for slot in range(slots.size):
        if numbers[slot] != ELSEWHERE:
            place = find_number(more_slots, more_numbers, slots[slot])
            more_slots[place], more_numbers[place] = slots[slot], numbers[slot]


@kernel
def _meet(slots: Any, numbers: Any, code: Any, known: Any) -> Any:
    """The number of a vertex, a new one if it was not met before; and how many are known now."""
    slot = find_number(slots, numbers, code)
    if numbers[slot] == ELSEWHERE and known < MOST_VERTICES:
        slots[slot], numbers[slot] = code, known
        known += 1
    return numbers[slot], known


@kernel
def _find_entries(
    grid: Any, steps: Any, num_actions: Any, slots: Any, numbers: Any, known: Any, pairs: Any, shares: Any, keys: Any,
    weights: Any,
) -> Any:  # fmt: skip
    """The pairs that steps count for, with their shares, and the entries (x, a, y); how many, and how many vertices."""
    dimension, filled = grid.first.size, 0
    codes, after_codes = np.empty(CORNERS, dtype=np.int64), np.empty(CORNERS, dtype=np.int64)
    after_weights, parts, order = np.empty(CORNERS), np.empty(CORNERS), np.empty(CORNERS, dtype=np.int64)
    corners, room, own = np.empty((CORNERS, dimension)), np.empty((CORNERS, dimension)), np.empty(CORNERS)
    start, end, moved = np.empty(dimension), np.empty(dimension), np.empty(dimension)
    for t in range(steps.rewards.size):
        read_point(grid, steps.states[t], start)
        read_point(grid, steps.successors[t], end)
        around = find_simplex(grid, start, codes, own, corners, order, parts)
        pairs[t] = -1
        for k in range(around):
            vertex, known = _meet(slots, numbers, codes[k], known)
            pairs[t, k] = vertex * num_actions + steps.actions[t]
            shares[t, k] = own[k]
            for j in range(dimension):
                moved[j] = end[j] + (corners[k, j] - start[j])
            after = find_simplex(grid, moved, after_codes, after_weights, room, order, parts)
            for i in range(after):
                successor, known = _meet(slots, numbers, after_codes[i], known)
                keys[filled] = pairs[t, k] * SUCCESSOR + successor
                weights[filled] = own[k] * after_weights[i]
                filled += 1
    return filled, known


@kernel
def _visit(pairs: Any, shares: Any, rewards: Any, reference: Any, visits: Any, earned: Any) -> None:
    for t in range(rewards.size):
        for k in range(pairs.shape[1]):
            if pairs[t, k] >= 0:
                visits[pairs[t, k]] += shares[t, k]
                earned[pairs[t, k]] += shares[t, k] * (rewards[t] - reference)


@kernel
def _merge(keys: Any, weights: Any, new_keys: Any, new_weights: Any, merged: Any, sums: Any) -> Any:
    """Two sorted lists of entries as one, in which each key stands once; returns its length."""
    i = j = size = 0
    while i < keys.size or j < new_keys.size:
        if j == new_keys.size or (i < keys.size and keys[i] <= new_keys[j]):
            merged[size], sums[size] = keys[i], weights[i]
            i += 1
        else:
            merged[size], sums[size] = new_keys[j], new_weights[j]
            j += 1
        while j < new_keys.size and new_keys[j] == merged[size]:
            sums[size] += new_weights[j]
            j += 1
        size += 1
    return size
