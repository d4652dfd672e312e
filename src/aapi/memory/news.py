"""What visits have shown that was new, so that one can tell where more news is likely."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import check_like
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.memory.memory import Memory, MemorySpec, successor

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Arrays, Integers, Mask
    from aapi.simulation import PhaseData


OCTAVES = 40  # visits 1, 2–3, 4–7, …: more than there can be
PAIRS = 100.0  # that count as much together as a guess does
HUB = 2  # news from which on a state is one where news is found


@dataclass(frozen=True)
class TrackNews(MemorySpec["News"]):
    """Track what was new, where states can be counted: a state never seen before, or a reward above all before."""

    def start(self, space: QSpace, runs: int) -> News:
        """Nothing seen yet."""
        space.require_countable("news needs")
        shape = space.shape(runs)
        attempts, finds = np.zeros((2, runs, 2, shape[2], OCTAVES))
        state_attempts, state_finds = np.zeros((2, runs, shape[1]))
        return News(
            np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool), np.zeros(shape[:2], dtype=bool),
            np.full(runs, np.finfo(np.float64).min), attempts, finds, state_attempts, state_finds,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class News(Memory):
    """Which visits of pairs that were tried before have shown anything new, and how many there were.

    visits: n(x, a); found: whether the pair has ever shown anything new, (runs, states, actions). seen: states,
    (runs, states). highest: reward, (runs,).
    attempts, finds: visits, and those with news, (runs, 2, actions, OCTAVES), by whether the pair had shown news
    before, by action, and by the octave of its visits before: 1, 2–3, 4–7, …
    state_attempts, state_finds: the same by state, of pairs that had not shown news before, (runs, states).
    """

    visits: Integers
    found: Mask
    seen: Mask
    highest: Array
    attempts: Array
    finds: Array
    state_attempts: Array
    state_finds: Array

    def add(self, data: PhaseData, policy: Policy) -> News:  # noqa: ARG002 - offered to all
        """Take in a phase, in the room of what was before."""
        _track(
            data.states, data.actions, data.rewards, data.last_states, self.visits, self.found, self.seen, self.highest,
            self.attempts, self.finds, self.state_attempts, self.state_finds,
        )  # fmt: skip
        return self

    def chances(self) -> Array:
        """How likely the next visit of each pair is to show anything new, of the first run, (states, actions).

        1 for pairs never tried. For others, by what visits of the same octave o found elsewhere:

            g(o) = min_{i ≤ o} (p + finds_i) / (p k_i + attempts_i),  (finds_{o,a} + k_o g(o)) / (attempts_{o,a} + k_o),

        with k_i = 2^i + 1 and p = max(1, 100/pairs tried): a guess of 1/n that counts for as much as p pairs and is
        corrected by all actions, and that by the same action. So where there are few pairs, it takes more to rule out
        news. They are counted apart for pairs that have shown news and pairs that have not. Where a state has shown
        news again and again, its other actions may do so at the same rate.
        """
        chances: Array = _chances(
            self.visits[0], self.found[0], self.attempts[0], self.finds[0], self.state_attempts[0], self.state_finds[0]
        )
        return chances

    def restored(self, arrays: Arrays) -> News:
        """What was stored, or an error if it cannot be."""
        found = {name: check_like(arrays, name, value) for name, value in vars(self).items()}
        for tried, news in (("attempts", "finds"), ("state_attempts", "state_finds")):
            if not ((found[news] >= 0.0) & (found[news] <= found[tried])).all():
                raise InvalidInput(f"{news} must lie between 0 and {tried}")
        if found["visits"].min(initial=0) < 0:
            raise InvalidInput("visits must not be negative")
        return replace(self, **found)

    def check_steps(self, steps: int) -> None:
        """Every step is a visit."""
        if not (self.visits.sum(axis=(1, 2)) == steps).all():
            raise InvalidInput(f"the visits of news are not those of {steps} steps")


@kernel
def _octave(number: Any) -> Any:
    """⌊log₂ n⌋ of a whole number from 1 on."""
    octave = 0
    while number > 1:
        number >>= 1
        octave += 1
    return min(octave, OCTAVES - 1)


@kernel
def _track(
    states: Any, actions: Any, rewards: Any, last_states: Any, visits: Any, found: Any, seen: Any, highest: Any,
    attempts: Any, finds: Any, state_attempts: Any, state_finds: Any,
) -> None:  # fmt: skip
    num_runs, steps = rewards.shape
    for run in range(num_runs):
        for copy in range(min(steps, last_states.shape[1])):
            seen[run, states[run, copy]] = True
        for t in range(steps):
            x, a, reward = states[run, t], actions[run, t], rewards[run, t]
            after = successor(states[run], last_states[run], t)
            before = visits[run, x, a]
            new_state = not seen[run, after]
            new = new_state or (before > 0 and reward > highest[run])
            if before > 0:
                known, octave = int(found[run, x, a]), _octave(before)
                attempts[run, known, a, octave] += 1.0
                state_attempts[run, x] += 1 - known
                if new:
                    finds[run, known, a, octave] += 1.0
                    state_finds[run, x] += 1 - known
            if new:
                found[run, x, a] = True
            visits[run, x, a] += 1
            seen[run, after] = True
            highest[run] = max(highest[run], reward)


@kernel
def _chances(visits: Any, found: Any, attempts: Any, finds: Any, state_attempts: Any, state_finds: Any) -> Any:
    num_states, num_actions = visits.shape
    guess, chances = np.empty((2, OCTAVES)), np.ones((num_states, num_actions))
    prior = max(1.0, PAIRS / max((visits > 0).sum(), 1))
    for known in range(2):
        least, power = 1.0, 1.0
        for octave in range(OCTAVES):
            tried, news = attempts[known, :, octave].sum(), finds[known, :, octave].sum()
            least = min(least, (prior + news) / (prior * (power + 1.0) + tried))
            guess[known, octave] = least
            power *= 2.0
    for x in range(num_states):
        for a in range(num_actions):
            if visits[x, a] > 0:
                known, octave = int(found[x, a]), _octave(visits[x, a])
                tried, news = attempts[known, a, octave], finds[known, a, octave]
                weight = 2.0**octave + 1.0
                chance = (news + weight * guess[known, octave]) / (tried + weight)
                if known == 0 and state_finds[x] >= HUB:
                    chance = max(chance, state_finds[x] / (state_attempts[x] + 1.0))
                chances[x, a] = min(1.0, chance)
    return chances
