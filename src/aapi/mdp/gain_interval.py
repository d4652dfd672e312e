"""An interval on the gain of a policy in a model that is known from a log only.

With μ the stationary distribution and V the bias of the policy π, the gain λ̂ in the model of averages is off by
Σ_{x,a} μ(x) π(a|x) ((r̂ − r)(x, a) + Σ_x' (P̂ − P)(x'|x, a) V(x')), so that its variance is near
Σ_{x,a} (μ(x) π(a|x))² Var[r + V(x')] / n(x, a), for n tries of a pair: the delta method, as Mannor, Simester, Sun and
Tsitsiklis (2007) have it for discounted values. To the variation seen at each pair half a try is added that falls as
far from the others as any could, a quarter of (span V + the largest spread of rewards)² (Popoviciu), since what a pair
does once in n tries is seen by a share of logs only. The quantile is Student's, with Satterthwaite's freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse.csgraph
import scipy.special

from aapi.errors import DoesNotExist
from aapi.mdp.chain import describe_classes
from aapi.mdp.linear_systems import REDUCTION_SIZE
from aapi.mdp.policy_values import chain_values

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask
    from aapi.mdp.cells import Cells

RARE = 10  # a pair tried less often is named
IMAGINED = 0.5  # tries that are added to those of a pair, as many as Jeffreys' prior adds

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class GainInterval:
    """An interval that holds the gain of a policy with the probability `level`, or why the log does not give one.

    gain: in the model of averages. standard_error: of it. never: the pairs of a state and an action that the policy
        comes to and that were never tried: then the gain is not known, and the interval is the whole line.
    rare: those tried fewer than ten times; rare_share: the share of its steps that the policy spends there. What such
        a pair does seldom is not in the interval.
    reason: why there is no interval, where there is none.
    """

    gain: float
    lower: float
    upper: float
    level: float
    standard_error: float = math.inf
    never: Pairs = ()
    rare: Pairs = ()
    rare_share: float = 0.0
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not self.reason

    def __repr__(self) -> str:
        if not self.known:
            return f"GainInterval(unknown: {self.reason})"
        rare = f", {len(self.rare)} pairs tried fewer than {RARE} times" if self.rare else ""
        return f"GainInterval({self.gain:.6g}, {100 * self.level:g} % in [{self.lower:.6g}, {self.upper:.6g}]{rare})"


def gain_interval(cells: Cells, policy: Array, start: int, level: float) -> GainInterval:
    """The interval for a policy, (states, actions) of probabilities, from where a simulation starts."""
    tries = cells.tries
    reached = _reached(cells, policy, start)
    needed = (policy > 0.0) & np.isin(np.arange(len(policy)), reached)[:, None]
    never = _pairs(needed & (tries == 0))
    if never:
        return _unknown(level, f"{_counted(len(never))} that the policy comes to, never tried", never)
    try:
        gain, weights, bias = _evaluate(cells, policy, reached)
    except DoesNotExist as error:
        return _unknown(level, str(error))
    needed &= weights > 0.0
    rare = _pairs(needed & (tries < RARE))
    share = float(weights[needed & (tries < RARE)].sum())
    span = float(np.ptp(bias[reached])) + float(cells.spreads[needed].max())
    if span <= 1e-12 * abs(gain):
        return _unknown(level, f"every step that the policy would take paid the same, {gain:.6g}", (), rare)
    w, n = weights[needed], tries[needed]
    free = n - 1 + IMAGINED
    spread = (cells.variation(bias)[needed] / span / span + IMAGINED / 4.0) / free
    parts = w * w * spread / n  # in squares of `span`: their squares neither overflow nor vanish
    variance = float(parts.sum())
    freedom = variance**2 / float((parts**2 / free).sum())
    deviation = span * math.sqrt(variance)
    margin = float(scipy.special.stdtrit(freedom, 0.5 + 0.5 * level)) * deviation
    return GainInterval(gain, gain - margin, gain + margin, level, deviation, (), rare, share)


def _unknown(level: float, reason: str, never: Pairs = (), rare: Pairs = ()) -> GainInterval:
    return GainInterval(math.nan, -math.inf, math.inf, level, math.inf, never, rare, 0.0, reason)


def _reached(cells: Cells, policy: Array, start: int) -> Integers:
    """The states that the policy comes to from the start, by what was seen."""
    there = policy.ravel()[cells.pairs] > 0.0
    edges = cells.pairs[there] // cells.shape[1], cells.successors[there]
    graph = scipy.sparse.coo_array((np.ones(there.sum()), edges), shape=(cells.shape[0], cells.shape[0])).tocsr()
    order = scipy.sparse.csgraph.breadth_first_order(graph, start, return_predecessors=False)
    return np.sort(order).astype(np.int64)


def _evaluate(cells: Cells, policy: Array, reached: Integers) -> tuple[float, Array, Array]:
    """The gain, the share of steps in each pair, (states, actions), and the bias, 0 where the policy never is."""
    states, actions = cells.shape
    mixing = scipy.sparse.csr_array(
        (policy[reached].ravel(), np.add.outer(reached * actions, np.arange(actions)).ravel(),
         np.arange(len(reached) + 1) * actions), shape=(len(reached), states * actions),
    )  # fmt: skip
    rewards = (policy * cells.average(cells.means)).sum(axis=1)[reached]
    transitions = (mixing @ cells.transitions)[:, reached]
    small = len(reached) <= REDUCTION_SIZE
    chain, gains, values = chain_values(transitions.toarray() if small else transitions, rewards)
    if len(chain.recurrent_classes) > 1:
        classes = describe_classes([reached[c] for c in chain.recurrent_classes])
        raise DoesNotExist(f"by the log, the policy ends in one of the classes {classes}, and its gain depends on it")
    weights, bias = np.zeros(cells.shape), np.zeros(states)
    weights[reached] = chain.stationary_distribution[:, None] * policy[reached]
    bias[reached] = values
    return float(gains[0]), weights, bias


def _pairs(which: Mask) -> Pairs:
    return tuple((int(x), int(a)) for x, a in zip(*np.nonzero(which), strict=True))


def _counted(number: int) -> str:
    return f"{number} pair{'' if number == 1 else 's'} of a state and an action"
