"""What is known of one run before it explores: the average model, the best policy in it, and what each action costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.exploration.planning import optimise, spread_of
from aapi.kernels.jit import kernel
from aapi.memory.model import order_by_pair

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Array, Integers, Mask
    from aapi.memory import Counts
    from aapi.simulation import PhaseData


LOAN = 100_000  # the budget of so many steps may be spent at once
DAMPING, EVALUATIONS = 0.3, 15
ACCURACY = 0.03  # of plans, over √t
SWEEPS_AT_RANDOM = 300
# Transitions that plans may look at, at the start and for every step: some seconds, and microseconds.
WORK, WORK_PER_STEP = 5_000_000_000, 10_000
LAID_OUT = 20  # what a plan takes for each pair of the table, before it looks at a transition
RECENT = 0.25  # phases are compared with by what they did in about this share of all steps
LEAST_UNIT = 1e-3  # of what acting at random for ever loses


@dataclass(frozen=True, eq=False)
class Outlook:
    """What plans of explorations have found so far, for the next ones to begin with, and what exploring has cost.

    gain: of the greedy plan, (runs,). values: of that plan, and of acting at random, (runs, 2, states). lost: what
    excursions with a price are believed to have lost, (runs,). work: transitions that plans have looked at, (runs,).
    recent: of recent phases, the steps, what they lost by the gaps of the greedy plan, and minus what they earned,
    (runs, 3). excess: what excursions that are compared have lost more than that, by either measure, (runs, 2).
    """

    gain: Array
    values: Array
    lost: Array
    work: Array
    recent: Array
    excess: Array

    @classmethod
    def start(cls, space: QSpace, runs: int) -> Outlook:
        """Nothing planned yet. Where states cannot be counted, nothing ever is."""
        states = space.shape(runs)[1] if space.countable else 0
        gain, lost, work = np.zeros((3, runs))
        return cls(gain, np.zeros((runs, 2, states)), lost, work, np.zeros((runs, 3)), np.zeros((runs, 2)))

    def after_phase(self, gaps: Array, rewards: Array, steps: int) -> Outlook:
        """The same after a phase of the first run, `steps` steps in all. gaps: those of the actions taken."""
        forgotten = max(0.0, 1.0 - gaps.size / (RECENT * (steps + 1.0)))
        return replace(self, recent=forgotten * self.recent + [gaps.size, gaps.sum(), -rewards.sum()])

    def after_comparison(self, gaps: Array, rewards: Array) -> Outlook:
        """The same after an excursion of the first run that is compared with recent phases."""
        usual = self.recent[0, 1:] / max(self.recent[0, 0], 1.0)
        more = [gaps.sum(), -rewards.sum()] - gaps.size * usual
        return replace(self, excess=np.maximum(self.excess + more, 0.0))

    def charged(self, seen: Mask, states: Integers, last: Integers, rewards: Array) -> Outlook:
        """The same after an excursion of the first run that has a price: λ̂ − r + V(x) − V(x') at every step.

        seen: the states whose values are known, (states,). Others are taken to be worth what the one before was.
        """
        lost, copies = self.gain[0] * rewards.size - rewards.sum(), len(last)
        for copy in range(copies):
            path = np.append(states[copy::copies], last[copy])
            values = self.values[0, 0, path[seen[path]]]
            lost += values[0] - values[-1]
        return replace(self, lost=np.maximum(self.lost + lost, 0.0))


class AverageModel(NamedTuple):
    """What was seen of one run. Pair x · actions + a leads to after[e] with the probability chances[e].

    e is from begins[pair] to before begins[pair + 1]. Of a pair that was tried, the last two entries are one more
    successor, with probability 0 so far, and `home`, the state visited most, where runs start anew with a small
    probability `restart`: so no value is larger than data supports. A pair that was never tried is believed to pay the
    lowest reward and to lead home.
    """

    begins: Integers
    after: Integers
    chances: Array
    rewards: Array
    states: Integers
    home: int
    restart: float


class Greedy(NamedTuple):
    """gaps: what the actions of states lose against the best, (states, actions); 0 where they were never tried.

    policy: the best actions, (states,). unit: what a step at random loses, for ever or just once where runs have been,
    whichever is less; 1 if there is nothing to lose, and all is `free`.
    """

    model: AverageModel
    policy: Integers
    gaps: Array
    unit: float
    free: bool


class Ended(NamedTuple):
    """A stretch: a phase, or an excursion that is compared with phases."""

    data: PhaseData
    phase: bool


class Survey:
    """The average model of the first run, planned in once for all parts that are asked.

    outlook: moves on with the plans that are made. ended: the stretch that just ended, if its losses are to be noted.
    """

    def __init__(self, counts: Counts, outlook: Outlook, ended: Ended | None = None) -> None:
        self.counts, self.outlook, self._ended = counts, outlook, ended

    @property
    def affordable(self) -> bool:
        """Whether plans have been little work so far, beside the steps that were taken."""
        return float(self.outlook.work[0]) <= WORK + WORK_PER_STEP * self.counts.steps

    @property
    def accuracy(self) -> float:
        """Of plans: errors of the data are about t^-½."""
        return ACCURACY / math.sqrt(self.counts.steps + 1.0)

    @cached_property
    def greedy(self) -> Greedy:
        """The best policy in the average model."""
        model, values = model_with_restarts(self.counts), self.outlook.values.copy()
        policy, gaps = np.zeros(len(model.rewards), dtype=np.int64), np.zeros(model.rewards.shape)
        gain, at_random, spread, work = _plan(*model[:5], self.counts.visits[0], self.accuracy, values[0], policy, gaps)
        free = self.counts.highest[0] == self.counts.lowest[0] or not gain - at_random > 1e-6 * spread
        self.outlook = replace(self.outlook, gain=np.array([gain]), values=values)
        self.spend(work + LAID_OUT * gaps.size)
        self._note_losses(gaps)
        return Greedy(model, policy, gaps, 1.0 if free else self._unit(gaps, gain - at_random), free)

    def _unit(self, gaps: Array, for_ever: float) -> float:
        """What a step at random loses: for ever, or once, in the states where the run has been."""
        visits = self.counts.visits[0].sum(axis=1)
        once = float((visits * gaps.mean(axis=1)).sum() / visits.sum())
        return min(for_ever, max(once, LEAST_UNIT * for_ever))

    def _note_losses(self, gaps: Array) -> None:
        if self._ended is None:
            return
        data, phase = self._ended
        lost, rewards = gaps[data.states[0], data.actions[0]], data.rewards[0]
        if phase:
            self.outlook = self.outlook.after_phase(lost, rewards, self.counts.steps)
        else:
            self.outlook = self.outlook.after_comparison(lost, rewards)

    def spend(self, work: float) -> None:
        """Take note of transitions that a plan has looked at."""
        self.outlook = replace(self.outlook, work=self.outlook.work + work)


def model_with_restarts(counts: Counts) -> AverageModel:
    """The model of averages of the first run."""
    size, visits, steps = int(counts.sizes[0]), counts.visits[0], counts.steps
    home, restart = int(visits.sum(axis=1).argmax()), 1.0 / (100.0 + 10.0 * math.sqrt(steps + 1.0))
    rewards = np.where(visits > 0.0, counts.earned[0] / np.maximum(visits, 1.0), counts.lowest[0])
    begins, after, chances = _lay_out(
        counts.pairs[0, :size], counts.successors[0, :size], counts.transition_counts[0, :size], visits, counts.seen[0],
        home, restart,
    )  # fmt: skip
    return AverageModel(begins, after, chances, rewards, np.flatnonzero(counts.seen[0]), home, restart)


@kernel
def _lay_out(
    pairs: Any, successors: Any, times: Any, visits: Any, seen: Any, home: Any, restart: Any
) -> Any:  # fmt: skip
    num_actions, num_pairs = visits.shape[1], visits.size
    starts, begins = np.empty(num_pairs + 1, dtype=np.int64), np.empty(num_pairs + 1, dtype=np.int64)
    order, used = order_by_pair(pairs, starts), 0
    after, chances = np.empty(pairs.size + 2 * num_pairs, dtype=np.int64), np.zeros(pairs.size + 2 * num_pairs)
    for pair in range(num_pairs):
        begins[pair] = used
        number = visits[pair // num_actions, pair % num_actions]
        for i in range(starts[pair], starts[pair + 1]):
            after[used], chances[used] = successors[order[i]], (1.0 - restart) * times[order[i]] / number
            used += 1
        if number > 0.0:
            after[used], after[used + 1], chances[used + 1] = home, home, restart
            used += 2
        elif seen[pair // num_actions]:
            after[used], chances[used] = home, 1.0
            used += 1
    begins[num_pairs] = used
    return begins, after[:used], chances[:used]


@kernel
def _plan(
    begins: Any, after: Any, chances: Any, rewards: Any, states: Any, visits: Any, accuracy: Any, values: Any,
    policy: Any, gaps: Any,
) -> Any:  # fmt: skip
    """Fill in the policy and the gaps, and move the values on; the gain, that of acting at random, ρ, and the work."""
    spread, scores, lowest = spread_of(states, rewards), np.zeros(rewards.shape), np.inf
    for x in states:
        lowest = min(lowest, rewards[x].min())
    above, work = rewards - lowest, after.size + states.size
    gain, _, sweeps = optimise(
        states, begins, after, chances, above, (accuracy, DAMPING, EVALUATIONS), work, values[0], scores
    )
    for x in states:
        policy[x] = scores[x].argmax()
        for a in range(rewards.shape[1]):
            gaps[x, a] = scores[x, policy[x]] - scores[x, a] if visits[x, a] > 0.0 else 0.0
    at_random, more = _act_at_random(states, begins, after, chances, above, 1e-3 * spread, values[1])
    return gain + lowest, at_random + lowest, spread, work * (sweeps + more)


@kernel
def _act_at_random(
    states: Any, begins: Any, after: Any, chances: Any, rewards: Any, tolerance: Any, values: Any
) -> Any:  # fmt: skip
    """The gain of the uniform policy by damped relative value iteration, and the sweeps it took."""
    num_actions, updated = rewards.shape[1], np.empty(values.size)
    low, high, sweeps = -np.inf, np.inf, 0
    while sweeps < SWEEPS_AT_RANDOM and high - low > tolerance:
        low, high = np.inf, -np.inf
        for x in states:
            mean = 0.0
            for a in range(num_actions):
                pair = x * num_actions + a
                mean += rewards[x, a]
                for e in range(begins[pair], begins[pair + 1]):
                    mean += chances[e] * values[after[e]]
            change = mean / num_actions - values[x]
            updated[x] = values[x] + (1.0 - DAMPING) * change
            low, high = min(low, change), max(high, change)
        offset = updated[states[0]]
        for x in states:
            values[x] = updated[x] - offset
        sweeps += 1
    return 0.5 * (low + high), sweeps
