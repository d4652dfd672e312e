"""Exploration with a purpose: where something new is to be had at the least cost, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.checks import finite
from aapi.errors import InvalidInput
from aapi.exploration.exploration import Excursion, Exploration
from aapi.exploration.survey import LOAN
from aapi.kernels.jit import kernel
from aapi.memory.news import TrackNews

if TYPE_CHECKING:
    from aapi.exploration.exploration import Situation
    from aapi.memory import Counts
    from aapi.memory.news import News


SWEEPS = 400
ROOM = 30  # pairs that are counted beyond those seen, so that small problems have a budget, too
NO_BOUND = 1e9


@dataclass(frozen=True)
class Expeditions(Exploration):
    """Set out for news as long as it is worth its price: a state never seen before, or a reward above all before.

    With h(x, a) for how likely the next visit of a pair is to show anything new (`News.chances`), the least that is
    expected to be lost until then is

        U(x) = min_a { gap(x, a) + unit + (1 − h(x, a)) Σ P̂(x'|x, a) U(x') },

    where gap is what an action loses against the best one in the average model, and unit what acting at random loses
    per step, the least that a step is taken to cost. A run sets out if U(x) is at most

        reach · unit · √(t + 10⁵)   and at most what is left of   budget · unit · √((m A + 30) (t + 10⁵))

    after t steps, with m states seen and A actions. So what is believed to be lost grows as √t at most. Whatever was
    found, a new plan is made at once: when a state is seen for the first time, when the visits of a pair have doubled.
    As long as all policies seem to pay the same, expeditions are free.

    budget: for all expeditions. reach: for one piece of news. highest: the highest reward there can be, if that is
        known. Then unit in both bounds is at least a tenth of what that promises beyond the gain so far, and
        where it promises nothing, no run sets out.
    """

    budget: float = 1.0
    reach: float = 5.0
    highest: float | None = None
    memory = TrackNews()
    again = True

    @property
    def lockstep(self) -> bool:
        """Expeditions end by what is seen."""
        return False

    def check(self) -> None:
        """No number but the reward may be negative."""
        finite(0.0, budget=self.budget, reach=self.reach)
        if self.highest is not None:
            finite(-math.inf, highest=self.highest)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Go where news is cheapest, if it is cheap enough."""
        counts, survey = situation.counts, situation.survey
        if not survey.affordable:
            return None
        model, policy, gaps, unit, free = survey.greedy
        steps, shape, stake = counts.steps + LOAN, gaps.shape, unit
        if self.highest is not None:
            promised = self._promised(counts, float(survey.outlook.gain[0]))
            free, stake = free and promised > 0.0, max(unit, 0.1 * promised) if promised > 0.0 else 0.0
        budget = self.budget * stake * math.sqrt((len(model.states) * shape[1] + ROOM) * steps)
        most = min(budget - float(survey.outlook.lost[0]), self.reach * stake * math.sqrt(steps))
        most = NO_BOUND if free else most
        if not most > 0.0:
            return None
        chances = cast("News", situation.memories[self.memory]).chances()
        costs, towards = np.full(shape[0], most), policy.copy()
        work = _seek(*model[:3], model.states, model.restart, chances, gaps, unit, most, costs, towards)
        survey.spend(work)
        if not costs[counts.current].min() < 0.999 * most:
            return None
        policies, limits = _follow(towards, costs >= most, counts.visits[0], counts.seen[0])
        return Excursion(
            np.ones(1, dtype=bool), policies[None], int(50 + 2 * math.sqrt(counts.steps)), limits[None], priced=True
        )

    def _promised(self, counts: Counts, gain: float) -> float:
        """By how much the highest reward is above the gain so far; 0 if by less than a hundredth of the range seen."""
        highest, seen = cast("float", self.highest), float(counts.highest[0])
        if seen > highest + 1e-6 * abs(highest):
            raise InvalidInput(f"a reward of {seen!r} was seen, above the highest, {highest!r}: give the range of all")
        return highest - gain if highest - gain > 0.01 * (highest - float(counts.lowest[0])) else 0.0


@kernel
def _seek(
    begins: Any, after: Any, chances: Any, states: Any, restart: Any, news: Any, gaps: Any, unit: Any, most: Any,
    costs: Any, towards: Any,
) -> Any:  # fmt: skip
    """Lower U from `most` on, sweep by sweep, forwards and backwards; `towards` are the actions. The work it took."""
    num_actions, change, sweeps = gaps.shape[1], np.inf, 0
    while sweeps < SWEEPS and change > 1e-3 * unit:
        change = 0.0
        for i in range(states.size):
            x = states[i] if sweeps % 2 == 0 else states[states.size - 1 - i]
            best = most
            for a in range(num_actions):
                pair, cost = x * num_actions + a, 0.0
                if news[x, a] < 1.0:
                    for e in range(begins[pair], begins[pair + 1] - 1):  # the last one is where runs start anew
                        cost += chances[e] * costs[after[e]]
                cost = gaps[x, a] + unit + (1.0 - news[x, a]) / (1.0 - restart) * cost
                if cost < best:
                    best, towards[x] = cost, a
            change = max(change, abs(best - costs[x]))
            costs[x] = best
        sweeps += 1
    return float(after.size + states.size) * sweeps


@kernel
def _follow(towards: Any, given_up: Any, visits: Any, seen: Any) -> Any:
    """The policy of an expedition, and the visits that end it. What was never tried in a state is tried at random.

    Where the way is too far, and in states never seen before, one step is taken.
    """
    num_states, num_actions = visits.shape
    policy, limits = np.full(visits.shape, 1.0 / num_actions), np.ones(visits.shape, dtype=np.int64)
    for x in range(num_states):
        if seen[x]:
            untried = visits[x, towards[x]] == 0.0
            number = 0
            for a in range(num_actions):
                policy[x, a] = 1.0 if (visits[x, a] == 0.0 if untried else a == towards[x]) else 0.0
                number += int(policy[x, a])
                limits[x, a] = 1 if given_up[x] else max(1, int(visits[x, a]))
            policy[x] /= number
    return policy, limits
