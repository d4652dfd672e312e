"""All past data of a problem with finitely many states: how often each transition was seen, and what it paid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import check_indices, check_like
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.memory.memory import Memory, MemorySpec, successor
from aapi.memory.randomised import draw_from_counts
from aapi.values import changed

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace, Tabular
    from aapi.array_types import Actions, AnyArray, Array, Arrays, Integers, Mask, Streams
    from aapi.memory.randomised import Sweeps
    from aapi.simulation import PhaseData


DEEPEST = 64  # visits of a pair up to which it is noted whether they found anything new
_HASH, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(33)  # multiplication by an odd number spreads keys evenly


@dataclass(frozen=True)
class CountTransitions(MemorySpec["Counts"]):
    """Count the transitions of all phases, where states can be counted."""

    def start(self, space: QSpace, runs: int) -> Counts:
        """No transition yet."""
        space.require_countable("counts of transitions need")
        return no_counts(space.shape(runs), space.copies)


@dataclass(frozen=True, eq=False)
class Counts(Memory):
    """What happened so far, in every run. Only transitions that were seen take room.

    steps: of each run. visits: n(x, a); earned: Σ r(x, a), (runs, states, actions). seen: the states that were seen,
        (runs, states). current: the state that a run is in, or each of its copies, (runs · copies,).
    pairs, successors, transition_counts: the first sizes[run] entries of a row are the distinct transitions of a run,
        in the order of their discovery: x · actions + a, x', and how often.
    places: a hash table of these entries, (runs, twice as many).
    attempts, discoveries: of all visits of a pair that were its j-th, how many there were, and how many showed anything
        new: a state never seen before, or a reward beyond all before; (runs, DEEPEST), of j = 1 … in the column j.
    lowest, highest, total: of the rewards, (runs,).
    """

    steps: int
    visits: Array
    earned: Array
    seen: Mask
    current: Integers
    attempts: Array
    discoveries: Array
    lowest: Array
    highest: Array
    total: Array
    sizes: Integers
    pairs: Actions
    successors: Actions
    transition_counts: Array
    places: Actions = field(metadata=NOT_STORED)

    def add(self, data: PhaseData, policy: Policy) -> Counts:  # noqa: ARG002 - offered to all
        """Count the transitions of a phase, in the room of the counts before."""
        steps = data.rewards.shape[1]
        held, most = self.pairs.shape[1], self.visits[0].size * self.seen.shape[1]
        room = most if most <= held else min(most, int(self.sizes.max()) + steps)
        counts = self if room <= held else self._with_room(1 << (room - 1).bit_length())
        _count(
            data.states, data.actions, data.rewards, data.last_states, self.steps == 0, counts.visits, counts.earned,
            counts.seen, counts.attempts, counts.discoveries, counts.lowest, counts.highest, counts.total, counts.pairs,
            counts.successors, counts.transition_counts, counts.sizes, counts.places,
        )  # fmt: skip
        last, copies = data.last_states, len(self.current) // len(self.total)
        if last.shape[1] != copies:  # of a log: where its last rows led to
            last = last[:, np.arange(-copies, 0) % last.shape[1]]
        return changed(counts, current=last.astype(np.int64).ravel(), steps=self.steps + steps)

    def _with_room(self, entries: int) -> Counts:
        """The same with room for so many transitions in each run, and a hash table that is at most half full."""
        runs, held = self.pairs.shape
        wider: dict[str, Any] = {}
        for name in ENTRIES:
            old: AnyArray = vars(self)[name]
            wider[name] = np.zeros((runs, entries), dtype=old.dtype)
            wider[name][:, :held] = old
        places = np.full((runs, 2 * entries), -1, dtype=np.int32)
        _find_places(wider["pairs"], wider["successors"], self.sizes, self.seen.shape[1], places)
        return replace(self, **wider, places=places)

    def arrays(self) -> Arrays:
        """What has to be stored: of the entries those that are filled, and not the hash table."""
        held = int(self.sizes.max())
        stored: Arrays = {name: vars(self)[name] for name in STORED}
        return stored | {name: vars(self)[name][:, :held] for name in ENTRIES} | {"steps": np.array(self.steps)}

    def restored(self, arrays: Arrays) -> Counts:
        """What was stored, or an error if it does not add up."""
        found = {name: check_like(arrays, name, vars(self)[name]) for name in STORED}
        runs, num_states = self.seen.shape
        held = int(found["sizes"].max(initial=0))
        if found["sizes"].min(initial=0) < 0 or held > self.visits[0].size * num_states:
            raise InvalidInput(f"sizes cannot be {found['sizes'].tolist()}")
        for name in ENTRIES:
            found[name] = check_like(arrays, name, np.empty((runs, held), dtype=vars(self)[name].dtype))
        check_indices(found["pairs"], self.visits[0].size, "pairs")
        check_indices(found["successors"], num_states, "successors")
        check_indices(found["current"], num_states, "current")
        steps = int(check_like(arrays, "steps", np.array(self.steps)))
        current = {"current": found["current"].reshape(runs, -1)}
        each = ({name: array[run] for name, array in (found | current).items()} for run in range(runs))
        if not all(_adds_up(of_run, steps) for of_run in each):
            raise InvalidInput(f"the counts of transitions are not those of {steps} steps")
        return replace(self, steps=steps, **found)._with_room(1 << max(6, (held - 1).bit_length()))

    def check_steps(self, steps: int) -> None:
        """Every step is counted."""
        if self.steps != steps:
            raise InvalidInput(f"{self.steps} steps were counted, and {steps} were taken")

    def draw_q(self, space: QSpace, sweeps: Sweeps, streams: Streams) -> Array:
        """A randomised estimate of Q_* from all transitions, for RLSVI."""
        return draw_from_counts(self, cast("Tabular", space).features, sweeps, streams)


ENTRIES = ("pairs", "successors", "transition_counts")
STORED = ("visits", "earned", "seen", "current", "attempts", "discoveries", "lowest", "highest", "total", "sizes")


def no_counts(shape: tuple[int, int, int], copies: int = 1) -> Counts:
    """Of (runs, states, actions): no transition yet."""
    runs, num_states, _ = shape
    visits, earned = np.zeros((2, *shape))
    attempts, discoveries = np.zeros((2, runs, DEEPEST))
    lowest, highest, total = np.zeros((3, runs))
    current, sizes = np.zeros(runs * copies, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    pairs, successors, places = np.zeros((3, runs, 0), dtype=np.int32)
    empty = Counts(
        0, visits, earned, np.zeros((runs, num_states), dtype=bool), current, attempts, discoveries, lowest, highest,
        total, sizes, pairs, successors, np.zeros((runs, 0)), places,
    )  # fmt: skip
    return empty._with_room(64)


def _adds_up(found: Arrays, steps: int) -> bool:
    """Whether the arrays of one run are of the same steps: kernels check nothing."""
    seen, visits = found["seen"], found["visits"]
    pairs, successors, times = (found[name][: found["sizes"]] for name in ENTRIES)
    keys = pairs.astype(np.int64) * len(seen) + successors
    return bool(
        len(np.unique(keys)) == len(keys)
        and (times >= 1.0).all()
        and (times == np.floor(times)).all()
        and (np.bincount(pairs, times, visits.size) == visits.ravel()).all()
        and visits.sum() == steps
        and seen[pairs // visits.shape[1]].all()
        and seen[successors].all()
        and (steps == 0 or seen[found["current"]].all())
        and (found["discoveries"] >= 0.0).all()
        and (found["discoveries"] <= found["attempts"]).all()
        and found["attempts"].sum() <= steps
        and found["lowest"] <= found["highest"]
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
    states: Any, actions: Any, rewards: Any, last_states: Any, first: Any, visits: Any, earned: Any, seen: Any,
    attempts: Any, discoveries: Any, lowest: Any, highest: Any, total: Any, pairs: Any, successors: Any, times: Any,
    sizes: Any, places: Any,
) -> None:  # fmt: skip
    num_runs, steps = rewards.shape
    num_states, num_actions = visits.shape[1:]
    for run in range(num_runs):
        for copy in range(min(steps, last_states.shape[1])):
            seen[run, states[run, copy]] = True
        if first:
            lowest[run] = highest[run] = rewards[run, 0]
        for t in range(steps):
            x, a, reward = states[run, t], actions[run, t], rewards[run, t]
            after = successor(states[run], last_states[run], t)
            visits[run, x, a] += 1.0
            earned[run, x, a] += reward
            total[run] += reward
            visit = int(min(visits[run, x, a], DEEPEST))
            if visit < DEEPEST:
                attempts[run, visit] += 1.0
                if not seen[run, after] or reward < lowest[run] or reward > highest[run]:
                    discoveries[run, visit] += 1.0
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
