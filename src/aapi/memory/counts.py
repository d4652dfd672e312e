"""All past data of a problem with finitely many states: how often each transition was seen, and what it paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import matching, within
from aapi.errors import InvalidInput
from aapi.simulation.basis import Basis
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["DEEPEST", "CountTransitions", "Counts"]

DEEPEST = 64  # visits of a pair up to which it is noted whether they found anything new
_HASH, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(33)  # multiplication by an odd number spreads keys evenly


@dataclass(frozen=True)
class CountTransitions:
    """Count the transitions of all phases; for tables."""

    def start(self, simulation: Simulation) -> Counts:
        """No transition yet."""
        if isinstance(simulation.features, Basis):
            raise InvalidInput("transitions between observation vectors cannot be counted: this takes countable states")
        return Counts(simulation.shape)


class Counts:
    """What happened so far, in every run. Only transitions that were seen take room.

    visits: n(x, a); earned: Σ r(x, a), (runs, states, actions). seen: the states that were seen, (runs, states).
    current: the state that a run is in, (runs,).
    pairs, successors, times: the first sizes[run] entries of a row are the distinct transitions of a run, in the order
        of their discovery: x · actions + a, x', and how often.
    tries, finds: of all visits of a pair that were its j-th, how many there were, and how many showed anything new: a
        state never seen before, or a reward beyond all before; (runs, DEEPEST), of j = 1 … in the column j.
    lowest, highest, total: of the rewards, (runs,). explored: steps spent on exploration, (runs,). steps: all.
    """

    SAVED = (
        "visits", "earned", "seen", "current", "tries", "finds", "lowest", "highest", "total", "explored", "sizes",
    )  # fmt: skip
    ENTRIES = ("pairs", "successors", "times")

    def __init__(self, shape: tuple[int, int, int]) -> None:
        runs, num_states, _ = shape
        self.visits, self.earned = np.zeros(shape), np.zeros(shape)
        self.seen = np.zeros((runs, num_states), dtype=bool)
        self.current = np.zeros(runs, dtype=np.int64)
        self.tries, self.finds = np.zeros((runs, DEEPEST)), np.zeros((runs, DEEPEST))
        self.lowest, self.highest, self.total = np.zeros(runs), np.zeros(runs), np.zeros(runs)
        self.explored = np.zeros(runs, dtype=np.int64)
        self.steps = 0
        self.sizes = np.zeros(runs, dtype=np.int64)
        self.pairs, self.successors = np.zeros((2, runs, 0), dtype=np.int32)
        self.times = np.zeros((runs, 0))
        self._make_room(64)

    def _make_room(self, entries: int) -> None:
        """Room for so many transitions in each run, and a hash table that is at most half full."""
        runs, held = self.pairs.shape
        for name in self.ENTRIES:
            old = getattr(self, name)
            new = np.zeros((runs, entries), dtype=old.dtype)
            new[:, :held] = old
            setattr(self, name, new)
        self._places = np.full((runs, 2 * entries), -1, dtype=np.int32)  # of entries, by the hash of what they are
        _find_places(self.pairs, self.successors, self.sizes, self.seen.shape[1], self._places)

    def add(self, data: PhaseData, policy: Any) -> None:  # noqa: ARG002 - offered to all
        """Count the transitions of a phase."""
        steps = data.rewards.shape[1]
        room = int(self.sizes.max()) + min(steps, self.visits[0].size * self.seen.shape[1])
        if room > self.pairs.shape[1]:
            self._make_room(1 << (room - 1).bit_length())
        _count(
            data.states, data.actions, data.rewards, data.last_state, self.steps == 0, self.visits, self.earned,
            self.seen, self.tries, self.finds, self.lowest, self.highest, self.total, self.pairs, self.successors,
            self.times, self.sizes, self._places,
        )  # fmt: skip
        self.current = data.last_state.astype(np.int64)
        self.steps += steps

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that has to be stored to go on later."""
        held = int(self.sizes.max())
        entries = {name: getattr(self, name)[:, :held] for name in self.ENTRIES}
        return {name: getattr(self, name) for name in self.SAVED} | entries | {"steps": np.array(self.steps)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""
        kept = {name: matching(arrays, name, getattr(self, name)) for name in self.SAVED}
        runs, num_states = self.seen.shape
        held = int(kept["sizes"].max(initial=0))
        if kept["sizes"].min(initial=0) < 0 or held > self.visits[0].size * num_states:
            raise InvalidInput(f"sizes cannot be {kept['sizes'].tolist()}")
        for name in self.ENTRIES:
            like = np.empty((runs, held), dtype=getattr(self, name).dtype)
            kept[name] = matching(arrays, name, like)
        within(kept["pairs"], self.visits[0].size, "pairs")
        within(kept["successors"], num_states, "successors")
        within(kept["current"], num_states, "current")
        steps = int(matching(arrays, "steps", np.array(self.steps)))
        if not all(_adds_up({name: array[run] for name, array in kept.items()}, steps) for run in range(runs)):
            raise InvalidInput(f"the counts of transitions are not those of {steps} steps")
        self.steps = steps
        vars(self).update(kept)
        self._make_room(1 << max(6, (held - 1).bit_length()))


def _adds_up(kept: dict[str, NDArray[Any]], steps: int) -> bool:
    """Whether the arrays of one run tell of the same steps: kernels check nothing."""
    seen, visits = kept["seen"], kept["visits"]
    pairs, successors, times = (kept[name][: kept["sizes"]] for name in Counts.ENTRIES)
    keys = pairs.astype(np.int64) * len(seen) + successors
    return bool(
        len(np.unique(keys)) == len(keys)
        and (times >= 1.0).all()
        and (times == np.floor(times)).all()
        and (np.bincount(pairs, times, visits.size) == visits.ravel()).all()
        and visits.sum() == steps
        and seen[pairs // visits.shape[1]].all()
        and seen[successors].all()
        and (steps == 0 or seen[kept["current"]])
        and (kept["finds"] >= 0.0).all()
        and (kept["finds"] <= kept["tries"]).all()
        and kept["tries"].sum() <= steps
        and kept["lowest"] <= kept["highest"]
        and 0 <= kept["explored"] <= steps
    )


@kernel
def _place(pair: Any, successor: Any, num_states: Any, pairs: Any, successors: Any, places: Any) -> Any:
    """Where in the hash table a transition is, or, with −1 in it, would be: linear probing."""
    mask = places.size - 1
    mixed = (np.uint64(pair) * np.uint64(num_states) + np.uint64(successor)) * _HASH
    place = int(mixed >> _FOLD) & mask
    while places[place] >= 0 and not (pairs[places[place]] == pair and successors[places[place]] == successor):
        place = (place + 1) & mask
    return place


@kernel
def _find_places(pairs: Any, successors: Any, sizes: Any, num_states: Any, places: Any) -> None:
    for run in range(sizes.size):
        for i in range(sizes[run]):
            place = _place(pairs[run, i], successors[run, i], num_states, pairs[run], successors[run], places[run])
            places[run, place] = i


@kernel
def _count(
    states: Any, actions: Any, rewards: Any, last_state: Any, first: Any, visits: Any, earned: Any, seen: Any,
    tries: Any, finds: Any, lowest: Any, highest: Any, total: Any, pairs: Any, successors: Any, times: Any, sizes: Any,
    places: Any,
) -> None:  # fmt: skip
    num_runs, steps = rewards.shape
    num_states, num_actions = visits.shape[1:]
    for run in range(num_runs):
        seen[run, states[run, 0]] = True
        if first:
            lowest[run] = highest[run] = rewards[run, 0]
        for t in range(steps):
            x, a, reward = states[run, t], actions[run, t], rewards[run, t]
            after = states[run, t + 1] if t + 1 < steps else last_state[run]
            visits[run, x, a] += 1.0
            earned[run, x, a] += reward
            total[run] += reward
            visit = int(min(visits[run, x, a], DEEPEST))
            if visit < DEEPEST:
                tries[run, visit] += 1.0
                if not seen[run, after] or reward < lowest[run] or reward > highest[run]:
                    finds[run, visit] += 1.0
            seen[run, after] = True
            lowest[run] = min(lowest[run], reward)
            highest[run] = max(highest[run], reward)
            pair = x * num_actions + a
            place = _place(pair, after, num_states, pairs[run], successors[run], places[run])
            entry = places[run, place]
            if entry < 0:
                entry = sizes[run]
                places[run, place] = entry
                pairs[run, entry], successors[run, entry] = pair, after
                sizes[run] += 1
            times[run, entry] += 1.0
