"""Thompson sampling: act as if a model that may be right were right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.checks import finite
from aapi.exploration.exploration import Excursion, Exploration
from aapi.exploration.planning import optimise
from aapi.exploration.survey import DAMPING, EVALUATIONS, LOAN
from aapi.kernels.elementary import log
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw, fill_normal
from aapi.memory.model import draw_gamma, fill_gamma
from aapi.memory.reward_moments import TrackRewards

if TYPE_CHECKING:
    from aapi.exploration.exploration import Situation
    from aapi.memory.reward_moments import RewardMoments


EULER = 0.5772156649015329


@dataclass(frozen=True)
class ThompsonSampling(Exploration):
    """Act optimally in a model drawn from the posterior (Strens 2000), for share · min(t, √(10⁵ t)) of t steps at most.

    Of each pair, the probabilities of successors have a Dirichlet distribution: its parameters are the counts of those
    seen, and α for one that another action of the same state led to. α is what the data says of all pairs together:
    three times the visits that found a successor which the pair had not had before, over Σ 1/n of all visits, and at
    most 1; so where transitions are certain, it is soon nearly 0. Mean rewards are normal around those seen, with the
    variance of the pair's rewards and, as if of one visit more, that of its state's or of all rewards; certain rewards
    stay certain. A pair that was never tried is left alone: see `Expeditions`.

    It stops while it has lost more than recent phases by over budget · unit · √(t + 10⁵) (unit: what a step at
    random loses), measured both by rewards and by the gaps of the average model. Where draws earn as much as phases do,
    sampling costs nothing; where much is badly known and little of it matters, it ends. budget None: it does not.
    """

    share: float = 0.75
    budget: float | None = 10.0
    memory = TrackRewards()
    again = True

    @property
    def lockstep(self) -> bool:
        """Excursions end when the visits of a pair have doubled."""
        return False

    def check(self) -> None:
        """No number may be negative."""
        finite(0.0, share=self.share)
        if self.budget is not None:
            finite(0.0, budget=self.budget)

    def __call__(self, situation: Situation) -> Excursion | None:
        """Draw a model and plan in it."""
        counts, survey = situation.counts, situation.survey
        steps = float(counts.steps)
        if situation.explored[0] >= self.share * min(steps, math.sqrt(LOAN * steps)) or not survey.affordable:
            return None
        model, _, _, unit, free = survey.greedy
        most = math.inf if self.budget is None or free else self.budget * unit * math.sqrt(steps + LOAN)
        if survey.outlook.excess[0].min() > most:
            return None
        moments = cast("RewardMoments", situation.memories[self.memory])
        policy, work = _plan_in_a_draw(
            *model[:5], model.restart, counts.visits[0], moments.deviations[0], survey.accuracy,
            survey.outlook.values[0, 0].copy(), situation.streams[0],
        )  # fmt: skip
        survey.spend(work)
        limits = np.where(counts.seen[0][:, None], np.maximum(counts.visits[0], 1.0), 1.0).astype(np.int64)
        return Excursion(np.ones(1, dtype=bool), policy[None], int(20 + math.sqrt(steps)), limits[None], compared=True)


@kernel
def _plan_in_a_draw(
    begins: Any, after: Any, chances: Any, rewards: Any, states: Any, restart: Any, visits: Any, deviations: Any,
    accuracy: Any, values: Any, stream: Any,
) -> Any:  # fmt: skip
    drawn_after, drawn = after.copy(), chances.copy()
    _draw_transitions(begins, drawn_after, drawn, states, restart, visits, stream)
    paid = _draw_rewards(rewards, states, visits, deviations, stream)
    lowest, scores, policy = np.inf, np.zeros(rewards.shape), np.full(rewards.shape, 1.0 / rewards.shape[1])
    for x in states:
        lowest = min(lowest, paid[x].min())
    work = after.size + states.size
    _, _, sweeps = optimise(
        states, begins, drawn_after, drawn, paid - lowest, (accuracy, DAMPING, EVALUATIONS), work, values, scores
    )
    for x in states:
        policy[x] = 0.0
        policy[x, scores[x].argmax()] = 1.0
    return policy, float(work) * sweeps


@kernel
def _new_successors(begins: Any, states: Any, visits: Any) -> Any:
    """α: 3 (½ + successors found at a second or later visit) / (1 + Σ 1/n of such visits), and at most 1."""
    num_actions, found, chances = visits.shape[1], 0.5, 1.0
    for x in states:
        for a in range(num_actions):
            number = visits[x, a]
            if number > 1.0:
                pair = x * num_actions + a
                found += begins[pair + 1] - begins[pair] - 3
                chances += 1.0 if number == 2.0 else log(number - 1.0) + EULER + 0.5 / (number - 1.0)
    return min(1.0, 3.0 * found / chances)


@kernel
def _draw_transitions(
    begins: Any, after: Any, chances: Any, states: Any, restart: Any, visits: Any, stream: Any
) -> None:  # fmt: skip
    num_actions, work, counts = visits.shape[1], np.empty(1), chances.copy()
    alpha = _new_successors(begins, states, visits)
    for x in states:
        for a in range(num_actions):
            pair = x * num_actions + a
            for e in range(begins[pair], begins[pair + 1] - 2):
                counts[e] = np.rint(chances[e] * visits[x, a] / (1.0 - restart))
    for x in states:
        for a in range(num_actions):
            if visits[x, a] > 0.0:
                pair = x * num_actions + a
                first, last = begins[pair], begins[pair + 1] - 2
                chances[first:last] = counts[first:last]
                fill_gamma(stream, chances[first:last])
                other = draw_gamma(stream, alpha, work)
                total = other
                for e in range(first, last):
                    total += chances[e]
                for e in range(first, last):
                    chances[e] *= (1.0 - restart) / total
                chances[last] = (1.0 - restart) * other / total
                after[last] = _successor_of_another(x, a, begins, after, counts, visits, stream)


@kernel
def _successor_of_another(x: Any, a: Any, begins: Any, after: Any, counts: Any, visits: Any, stream: Any) -> Any:
    """Where an action of the same state led, drawn at random; one that was never tried is this one."""
    num_actions = visits.shape[1]
    other = int(draw(stream) * num_actions)
    if visits[x, other] == 0.0:
        other = a
    pair, place = x * num_actions + other, draw(stream) * visits[x, other]
    e, last = begins[pair], begins[pair + 1] - 3
    while e < last and place >= counts[e]:
        place -= counts[e]
        e += 1
    return after[e]


@kernel
def _draw_rewards(rewards: Any, states: Any, visits: Any, deviations: Any, stream: Any) -> Any:
    """Mean rewards of what was tried, with the variance of all pairs or of the state, the larger one, as one visit."""
    paid, work, squares, number = rewards.copy(), np.empty(1), 0.0, 0.0
    for x in states:
        for a in range(visits.shape[1]):
            squares += deviations[x, a]
            number += max(visits[x, a] - 1.0, 0.0)
    if 0.0 < squares < np.inf:  # of rewards beyond 1e150, nothing can be said
        for x in states:
            again = 0.0
            for a in range(visits.shape[1]):
                again += max(visits[x, a] - 1.0, 0.0)
            common = max(squares / number, deviations[x].sum() / max(again, 1.0))
            for a in range(visits.shape[1]):
                if visits[x, a] > 0.0:
                    fill_normal(stream, work)
                    variance = (deviations[x, a] + common) / visits[x, a]
                    paid[x, a] += work[0] * math.sqrt(variance / visits[x, a])
    return paid
