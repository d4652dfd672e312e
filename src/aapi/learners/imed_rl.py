"""IMED-RL (Pesquerel and Maillard 2022): in each state, the action that takes least evidence to be thought the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.approximation.temporal_differences import Rule
from aapi.checks import finite
from aapi.errors import InvalidInput
from aapi.kernels.elementary import log
from aapi.kernels.jit import step_kernel
from aapi.learners.online import OnlineLearner
from aapi.learners.reward_range import RewardRange, check_seen

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Array, Integers
    from aapi.learners.learner import Phase
    from aapi.learners.online import OnlineState
    from aapi.simulation import PhaseData


LARGEST = 100_000_000  # numbers in the tables of a run
DAMPING, ACCURACY, SWEEPS = 0.1, 1e-4, 100  # of value iteration, which goes on where it was at the next step
NEWTON, NARROW = 40, 1e-5  # steps at most, and when they are short enough
VISITS, SUCCESSORS, IN_SKELETON, FIRST = 0, 1, 2, 3  # of a pair, in `visits`; then its successors and their counts


class _Settings(NamedTuple):
    """width: N(x, a) K(x, a) is divided by its square. accuracy: of the gain. Rewards less `low`, over `spread`."""

    width: float
    accuracy: float
    low: float
    spread: float


@dataclass(frozen=True, kw_only=True)
class IMEDRL(OnlineLearner, RewardRange):
    """Take the action with the least index N(x, a) K(x, a) + log N(x, a), at every step. For ergodic problems.

    K(x, a) = max_λ E log(1 − λ (r + φ(y) − γ(x))), 0 ≤ λ ≤ 1/(1 + max φ − γ(x)), over the law of r and y that was seen,
    is how unlikely it is that (x, a) is as good as the best action of x looks, γ(x) = max_a E(r + φ(y)). The bias φ is
    that of the optimal policy in the model of what was seen, where only actions with N(x, a) ≥ log² max_b N(x, b) may
    be taken. Rewards are scaled to [0, 1]. As in the authors' program, each pair has one imagined visit more, that pays
    ½ and leads to all states alike, so that the model is ergodic. Rewards that are random given y enter by their mean.

    Value iteration goes on from the last step's bias. Tables have S²A numbers.

    width: evidence is divided by its square, so that more is tried; 1 is published.
    """

    width: float = 1.0

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        finite(0.0, strictly=True, width=self.width)

    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """No visits, and φ = 0."""
        space.require_countable("IMEDRL needs")
        low, high = self.reward_range(space)
        num_states = space.rows
        if 2 * num_states * num_states * space.num_actions > LARGEST:
            raise InvalidInput(f"imed-rl keeps tables of states × states, too large for {num_states} states: take psrl")
        settings = _Settings(float(self.width), ACCURACY, low, high - low if high > low else 1.0)
        visits = np.zeros((*space.shape(runs), FIRST + 2 * num_states), dtype=np.int64)
        visits[..., IN_SKELETON] = 1
        q = np.zeros((*space.shape(runs), 1 + num_states))  # Q(x, a), and sums of rewards by successor
        q[..., 0] = 0.5
        return Rule(_choose, _learn, q, visits, np.zeros((runs, 2 * num_states)), settings, check=_check_stored)

    def q_of(self, q: Array) -> Array:
        """r(x, a) + Σ P(y|x, a) φ(y) in the model, of scaled rewards."""
        return np.ascontiguousarray(q[..., 0])

    def update(self, state: OnlineState, data: PhaseData) -> tuple[OnlineState, Phase]:
        """All was learnt already; look at what, and whether rewards were as large as was said."""
        check_seen(*self.reward_range(state.space), float(data.rewards.min()), float(data.rewards.max()))
        return super().update(state, data)


def _check_stored(q: Array, visits: Integers, numbers: Array) -> None:
    """Raise an error unless the successors of pairs are states, and were counted as often as the pairs."""
    num_states = len(q[0])
    after, times = visits[..., FIRST : FIRST + num_states], visits[..., FIRST + num_states :]
    listed = np.arange(num_states) < visits[..., SUCCESSORS, None]
    sound = visits[..., SUCCESSORS].max() <= num_states and (after < num_states).all()
    if not (sound and ((times * listed).sum(axis=-1) == visits[..., VISITS]).all()):
        raise InvalidInput("the successors that were stored are not those of the visits")


@step_kernel
def _choose(q: Any, visits: Any, numbers: Any, settings: Any, work: Any, run: Any, x: Any, u: Any) -> Any:
    """The action with the least index. Ties share."""
    num_actions, num_states = q.shape[2], q.shape[1]
    mean, target, top = _mean(numbers, run, num_states), -math.inf, -math.inf
    for a in range(num_actions):
        q[run, x, a, 0] = _value(q, visits, numbers, run, x, a, mean)
        target = max(target, q[run, x, a, 0])
    for y in range(num_states):
        top = max(top, numbers[run, y])
    least, ties, chosen = math.inf, 0, 0
    for a in range(num_actions):
        index = -math.inf
        if visits[run, x, a, VISITS] > 0:
            n = float(visits[run, x, a, VISITS])
            evidence = _evidence(q, visits, numbers, run, x, a, target, 1.0 + top)
            index = n * evidence / (settings.width * settings.width) + log(n)
        # One of equals, each with the same probability: the k-th takes the place of the last with probability 1/k.
        ties = 1 if index < least else ties + (index == least)
        if index < least:
            least, chosen = index, a
        elif index == least:
            u *= ties
            if u < 1.0:
                chosen = a
            else:
                u = (u - 1.0) / (ties - 1)
    return chosen


@step_kernel
def _evidence(
    q: Any, visits: Any, numbers: Any, run: Any, x: Any, a: Any, target: Any, highest: Any
) -> Any:  # fmt: skip
    """K(x, a) = max_λ E log(1 − λ (v − target)), 0 ≤ λ ≤ 1/(highest − target), for v = r + φ(y); 0 if E v ≥ target.

    The derivative in λ falls; where it is 0 is found by Newton's method between bounds.
    """
    if q[run, x, a, 0] >= target:
        return 0.0
    if highest <= target:
        return math.inf
    low, high = 0.0, 1.0 / (highest - target)
    last, place = high, high * 0.5
    slope, _ = _slope(q, visits, numbers, run, x, a, target, high * (1.0 - NARROW))
    if slope >= 0.0:
        return _log_mean(q, visits, numbers, run, x, a, target, high * (1.0 - NARROW))
    for _ in range(NEWTON):
        slope, curvature = _slope(q, visits, numbers, run, x, a, target, place)
        if slope > 0.0:
            low = place
        else:
            high = place
        following = place + slope / curvature
        if not low < following < high:
            following = 0.5 * (low + high)
        last, place = place, following
        if abs(place - last) <= NARROW * high:
            break
    return max(0.0, _log_mean(q, visits, numbers, run, x, a, target, place))


@step_kernel
def _slope(q: Any, visits: Any, numbers: Any, run: Any, x: Any, a: Any, target: Any, place: Any) -> Any:
    """E (target − v)/(1 − λ (v − target)), the derivative of what is maximised, and its own, with the sign changed."""
    num_states, slope, curvature = q.shape[1], 0.0, 0.0
    for i in range(visits[run, x, a, SUCCESSORS]):
        count = float(visits[run, x, a, FIRST + num_states + i])
        away = q[run, x, a, 1 + i] / count + numbers[run, visits[run, x, a, FIRST + i]] - target
        ratio = away / (1.0 - place * away)
        slope -= count * ratio
        curvature += count * ratio * ratio
    for y in range(num_states):
        away = 0.5 + numbers[run, y] - target
        ratio = away / (1.0 - place * away)
        slope -= ratio / num_states
        curvature += ratio * ratio / num_states
    return slope, curvature


@step_kernel
def _log_mean(q: Any, visits: Any, numbers: Any, run: Any, x: Any, a: Any, target: Any, place: Any) -> Any:
    """E log(1 − λ (v − target))."""
    num_states, total = q.shape[1], 0.0
    for i in range(visits[run, x, a, SUCCESSORS]):
        count = float(visits[run, x, a, FIRST + num_states + i])
        away = q[run, x, a, 1 + i] / count + numbers[run, visits[run, x, a, FIRST + i]] - target
        total += count * log(1.0 - place * away)
    for y in range(num_states):
        total += log(1.0 - place * (0.5 + numbers[run, y] - target)) / num_states
    return total / (visits[run, x, a, VISITS] + 1.0)


@step_kernel
def _learn(
    q: Any, visits: Any, numbers: Any, settings: Any, work: Any, run: Any, x: Any, a: Any, reward: Any, y: Any, b: Any
) -> None:
    """Count a step, look which actions of x are tried enough, and improve the bias."""
    num_states, num_actions = q.shape[1], q.shape[2]
    slot = 0
    while slot < visits[run, x, a, SUCCESSORS] and visits[run, x, a, FIRST + slot] != y:
        slot += 1
    if slot == visits[run, x, a, SUCCESSORS]:
        visits[run, x, a, SUCCESSORS] += 1
        visits[run, x, a, FIRST + slot] = y
    visits[run, x, a, FIRST + num_states + slot] += 1
    visits[run, x, a, VISITS] += 1
    q[run, x, a, 1 + slot] += (reward - settings.low) / settings.spread
    most = 0
    for action in range(num_actions):
        most = max(most, visits[run, x, action, VISITS])
    enough = log(float(most))
    for action in range(num_actions):
        visits[run, x, action, IN_SKELETON] = visits[run, x, action, VISITS] >= enough * enough
    for _ in range(SWEEPS):
        if _sweep(q, visits, numbers, run) <= settings.accuracy:
            break


@step_kernel
def _sweep(q: Any, visits: Any, numbers: Any, run: Any) -> Any:
    """Improve φ by a sweep of damped value iteration; how much more it grew in one state than in another.

    φ is in the first half of `numbers`. Q of all pairs is of φ before the sweep.
    """
    num_states, num_actions = q.shape[1], q.shape[2]
    mean, low, high = _mean(numbers, run, num_states), math.inf, -math.inf
    for x in range(num_states):
        best = -math.inf
        for a in range(num_actions):
            q[run, x, a, 0] = _value(q, visits, numbers, run, x, a, mean)
            if visits[run, x, a, IN_SKELETON]:
                best = max(best, q[run, x, a, 0])
        grown = (1.0 - DAMPING) * (best - numbers[run, x])
        numbers[run, num_states + x] = numbers[run, x] + grown
        low, high = min(low, grown), max(high, grown)
    offset = numbers[run, num_states]
    for x in range(num_states):
        numbers[run, x] = numbers[run, num_states + x] - offset
    return high - low


@step_kernel
def _mean(numbers: Any, run: Any, num_states: Any) -> Any:
    """That of φ."""
    total = 0.0
    for y in range(num_states):
        total += numbers[run, y]
    return total / num_states


@step_kernel
def _value(q: Any, visits: Any, numbers: Any, run: Any, x: Any, a: Any, mean: Any) -> Any:
    """Q(x, a) = E(r + φ(y)), over what was seen and the imagined visit."""
    value, num_states = 0.5 + mean, q.shape[1]
    for i in range(visits[run, x, a, SUCCESSORS]):
        count = visits[run, x, a, FIRST + num_states + i]
        value += q[run, x, a, 1 + i] + count * numbers[run, visits[run, x, a, FIRST + i]]
    return value / (visits[run, x, a, VISITS] + 1.0)
