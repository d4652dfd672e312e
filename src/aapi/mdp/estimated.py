"""Models estimated from logged transitions: averages, their optimal policy, and an interval on every gain.

Nothing is assumed of how the log came about but that what follows on a state and an action depends on these alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.checks import at_least, check_probability
from aapi.errors import InvalidInput
from aapi.mdp.cells import Cells
from aapi.mdp.gain_interval import RARE, GainInterval, gain_interval
from aapi.mdp.model import FiniteMDP
from aapi.mdp.optimal import solve
from aapi.mdp.transition_log import TransitionLog, read_log

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers, Mask


@dataclass(frozen=True, eq=False)
class EstimatedOptimum:
    """The optimal policy of the model of averages, and what the log says of its gain and of the optimal one.

    policy: one action per state. gain_in_model: what it earns in the model that chose it, which flatters it: of many
        gains, the largest is one that was overestimated.
    elsewhere: the mean gain of two policies, each chosen on one half of the log and evaluated on the other; so it is
        honest, for policies chosen on half as much.
    allowed: the pairs that policies were chosen among, (states, actions): those tried ten times or more.
    in_model: the interval of the policy as if it had been given, not chosen. interval: one that holds λ_*, where all
        pairs are allowed, and else the optimum of policies that take allowed pairs: from the lower end of `elsewhere`,
        since no such policy earns more than it, to the upper end of `in_model`.
    """

    policy: Integers
    allowed: Mask
    gain_in_model: float
    in_model: GainInterval
    elsewhere: GainInterval
    interval: GainInterval

    def __repr__(self) -> str:
        return f"EstimatedOptimum(in the model {self.gain_in_model:.6g}, on other data {self.elsewhere!r})"


@dataclass(frozen=True, eq=False)
class EstimatedModel:
    """A log of transitions, and the model that has its averages; see `estimate_model`."""

    log: TransitionLog

    def __repr__(self) -> str:
        tried = int((self.tries > 0).sum())
        return (
            f"EstimatedModel({len(self.log.states)} transitions, {self.log.num_states} states, {self.log.num_actions} "
            f"actions, {tried} of {self.tries.size} pairs tried)"
        )

    @cached_property
    def cells(self) -> Cells:
        """The log, added up."""
        return Cells.of(self.log)

    @cached_property
    def tries(self) -> Integers:
        """How often each action was taken in each state, (states, actions)."""
        return self.cells.tries

    @cached_property
    def model(self) -> FiniteMDP:
        """The averages as a model. A pair that was never tried stays where it is and pays less than anything seen."""
        return _model(self.log, self.cells, self.tries > 0)

    def gain_interval(self, policy: ArrayLike, level: float = 0.95, start: int | None = None) -> GainInterval:
        """An interval on the gain of a policy that was not chosen by this log.

        policy: the probabilities π(a|x), (states, actions); or one action per state. start: the state it begins in, by
            default the one that the log is in most often.
        """
        check_probability(level=level)
        return gain_interval(self.cells, self._probabilities(policy), self._start(start), level)

    def optimum(self, level: float = 0.95, start: int | None = None) -> EstimatedOptimum:
        """The optimal policy of the averages, among pairs tried ten times or more, and honest intervals.

        In a state without such a pair, it takes the action tried most.
        """
        check_probability(level=level)
        begin, allowed = self._start(start), _allowed(self.cells)
        solution = solve(_model(self.log, self.cells, allowed))
        in_model = gain_interval(self.cells, self._probabilities(solution.policy), begin, level)
        elsewhere = self._elsewhere(allowed, begin, level)
        reason = in_model.reason or elsewhere.reason
        lower, upper = (-math.inf, math.inf) if reason else (elsewhere.lower, max(in_model.upper, elsewhere.upper))
        interval = GainInterval(
            in_model.gain, lower, upper, level, in_model.standard_error, in_model.never, in_model.rare,
            in_model.rare_share, reason,
        )  # fmt: skip
        return EstimatedOptimum(solution.policy, allowed, in_model.gain, in_model, elsewhere, interval)

    def _elsewhere(self, allowed: Mask, start: int, level: float) -> GainInterval:
        """What policies chosen on one half of the log earn on the other, both ways."""
        halves = [Cells.of(self.log, rows) for rows in _halves(self.log, self.tries)]
        found = []
        for chooses, judges in (halves, halves[::-1]):
            policy = solve(_model(self.log, chooses, allowed)).policy
            found.append(gain_interval(judges, self._probabilities(policy), start, level))
        unknown = [one for one in found if not one.known]
        if unknown:
            return unknown[0]
        gain = 0.5 * (found[0].gain + found[1].gain)
        margin = 0.5 * math.hypot(*(one.upper - one.gain for one in found))
        error = 0.5 * math.hypot(*(one.standard_error for one in found))
        rare = tuple(sorted({pair for one in found for pair in one.rare if self.tries[pair] < RARE}))
        return GainInterval(gain, gain - margin, gain + margin, level, error, (), rare)

    def _probabilities(self, policy: ArrayLike) -> Array:
        checked = self.model.check_policy(policy)
        if checked.ndim == 2:
            return np.asarray(checked)
        return np.asarray(checked[:, None] == np.arange(self.log.num_actions), dtype=np.float64)

    def _start(self, start: int | None) -> int:
        if start is None:
            return int(self.tries.sum(axis=1).argmax())
        at_least(0, start=start)
        if start >= self.log.num_states:
            raise InvalidInput(f"start must lie in 0..{self.log.num_states - 1}, not {start}")
        return int(start)


def estimate_model(
    log: str | os.PathLike[str] | Mapping[str, ArrayLike], *, continuing: bool = False,
    num_states: int | None = None, num_actions: int | None = None,
) -> EstimatedModel:  # fmt: skip
    """The model of a log: a .csv or .parquet file, or columns: state, action, reward, next_state.

    continuing: whether ends of episodes, marked in a column `terminated`, lead to where the next row begins.
    num_states, num_actions: if given, states and actions are numbers below them; else what occurs in the log.
    """
    return EstimatedModel(read_log(log, continuing=continuing, num_states=num_states, num_actions=num_actions))


def _allowed(cells: Cells) -> Mask:
    """The pairs that a policy may choose: those tried often; in a state that has none, the action tried most of all.

    Of those that ever led out of the state, if any did: a pair tried once or twice may look like a trap, and be none.
    """
    tries = cells.tries
    leaving = np.bincount(cells.pairs, cells.successors != cells.pairs // cells.shape[1], tries.size) > 0.0
    best = (2 * tries + (2 * int(tries.max()) + 1) * leaving.reshape(tries.shape)).argmax(axis=1)
    first = np.arange(tries.shape[1]) == best[:, None]
    often = tries >= RARE
    return np.asarray(np.where(often.any(axis=1, keepdims=True), often, first & (tries > 0)))


def _halves(log: TransitionLog, tries: Integers) -> tuple[Mask, Mask]:
    """Every other try of each pair, and the others; pairs tried seldom are in both, and not what is chosen among.

    What follows on a pair are independent draws, in whatever order pairs are tried; so the halves are independent.
    """
    pairs = log.states * log.num_actions + log.actions
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(pairs[order]) > 0))
    lengths = np.diff(np.append(starts, len(pairs)))
    odd = np.zeros(len(pairs), dtype=bool)
    odd[order] = (np.arange(len(pairs)) - np.repeat(starts, lengths)) % 2 == 1
    seldom = tries.ravel()[pairs] < RARE
    return ~odd | seldom, odd | seldom


def _model(log: TransitionLog, cells: Cells, allowed: Mask) -> FiniteMDP:
    """The averages of the pairs that are allowed; all others stay, and pay less than anything that was seen."""
    known = allowed & (cells.tries > 0)
    low, high = float(log.rewards.min()), float(log.rewards.max())
    least = low - max(high - low, 1.0)
    shares = scipy.sparse.diags_array(known.ravel().astype(float)) @ cells.transitions
    actions = cells.shape[1]
    unknown = np.flatnonzero(~known)
    stays = scipy.sparse.coo_array((np.ones(len(unknown)), (unknown, unknown // actions)), shape=shares.shape)
    return FiniteMDP(
        (shares + stays).tocsr(), np.where(known, cells.average(cells.means), least), initial_state=int(log.states[0]),
        state_names=log.state_names, action_names=log.action_names,
    )  # fmt: skip
