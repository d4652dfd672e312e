"""Rolling a batch of runs through a finite MDP: the only step loop of the finite problems."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.kernels.random import advance, next_normal, streams, to_unit
from aapi.simulation.data import NO_GRID, PhaseData, StepRule, stretch_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.approximation import Tabular
    from aapi.environments import ChangingRewards
    from aapi.mdp import FiniteMDP
    from aapi.simulation.data import Stretch

    Room = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]


LANES = 6  # runs that are stepped in turn
NO_NUMBERS = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class TransitionTables:
    """Alias tables (Walker 1977, Vose 1991) over the successors of each pair, which draw x' in constant time.

    Pair x · actions + a has the columns starts[pair] … starts[pair + 1] − 1. A column is drawn evenly; it stands for
    `successors` with probability `thresholds`, else for `alternatives`. Where rewards are random, columns are outcomes:
    `paid`, (columns, 2), has the rewards of both, and `spread`, (states, actions), the standard deviation of noise.
    """

    starts: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    successors: NDArray[np.uint32]
    alternatives: NDArray[np.uint32]
    rewards: NDArray[np.float64]
    paid: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None


class FiniteSimulation:
    """A batch of runs, each with its own state and random stream; the state carries over from phase to phase.

    grid: steps at which the caller wants reward sums to be cut, whatever the phases.
    """

    def __init__(
        self, env: FiniteMDP | ChangingRewards, space: Tabular, tables: TransitionTables, seed: int,
        runs: Sequence[int], grid: NDArray[np.int64] = NO_GRID,
    ) -> None:  # fmt: skip
        self.mdp, self.space, self.tables, self.grid = env.dynamics, space, tables, grid
        self.time = 0
        self.state = np.full(len(runs), self.mdp.initial_state, dtype=np.int64)
        self._changing = None if env.reward_sequence is None else env.reward_sequence(len(runs))
        self.streams = streams(seed, runs)
        self._room = _new_room(len(runs), 0)

    def rollout(self, stretch: Stretch, most: int) -> PhaseData:
        """Act by a table of policies, (runs, states, actions), or by a rule."""
        runs, steps = len(self.state), min(stretch.steps, most)
        rule, limits = self._rule(stretch), self._limits(stretch)
        ends = stretch_ends(self.grid, self.time, steps)
        states, actions, rewards = self._room_for(steps, again=limits is not None)
        sums = np.empty((runs, len(ends)))
        t, lanes = self.tables, -(-runs // -(-runs // LANES))  # groups of the same size, but for the last
        changed = self._changed_rewards(stretch)
        table, paid, spread = (t.rewards, t.paid, t.spread) if changed is None else (changed, None, None)
        certain = paid is None and spread is None
        taken, met = _step_loop(rule.choose, rule.learn, rule.on_policy, certain)(
            t.starts, t.thresholds, t.successors, t.alternatives, table, paid, spread, rule.q, rule.visits,
            rule.numbers, rule.settings, rule.work, ends, limits, stretch.look_ahead, lanes, self.state,
            rule.next_actions, self.streams, states, actions, rewards, sums,
        )  # fmt: skip
        complete = bool(met or steps == stretch.steps)
        if limits is not None:
            ends = ends[: ends.searchsorted(taken) + 1]
            ends[-1], sums = taken, sums[:, : len(ends)]
            states, actions = states[:, :taken].copy(), actions[:, :taken].copy()
            rewards = rewards[:, :taken].copy()
        self.time += taken
        return PhaseData(
            states, actions, rewards, self.state.copy(), sums, ends, self.time, complete, self.streams, changed
        )

    def _changed_rewards(self, stretch: Stretch) -> NDArray[np.float64] | None:
        """The rewards of a stretch, (states, actions), or one table for each run; None: those of the model."""
        if self._changing is None:
            return None
        return self._changing.in_phase(stretch.number, lambda: self.space.check_policy(stretch.policy, len(self.state)))

    def _limits(self, stretch: Stretch) -> NDArray[np.int64] | None:
        """A copy of the limits of a stretch, to be counted down, or an error."""
        if stretch.limits is None:
            return None
        if len(self.state) > 1 or stretch.limits.shape != self.space.shape(1):
            raise InvalidInput("a stretch that ends by what is seen is for one run, with a limit for every pair")
        return np.array(stretch.limits, dtype=np.int64)

    def _room_for(self, steps: int, *, again: bool) -> Room:
        """Room for states, actions and rewards. again: it is kept, for stretches that mostly need little of it."""
        if not again:
            return _new_room(len(self.state), steps)
        if self._room[0].shape[1] < steps:
            self._room = _new_room(len(self.state), steps)
        return self._room

    def _rule(self, stretch: Stretch) -> StepRule:
        """How to act: by the stretch's own rule, or by its policy, from which nothing is learnt meanwhile."""
        if stretch.rule is not None:
            return stretch.rule
        cumulated = self.space.cumulate(stretch.acting, len(self.state))
        return StepRule(_follow, None, False, cumulated, NO_GRID, NO_NUMBERS, (), None, NO_GRID)


def _new_room(runs: int, steps: int) -> Room:
    return np.empty((runs, steps), dtype=np.int32), np.empty((runs, steps), dtype=np.int32), np.empty((runs, steps))


@kernel
def _follow(
    cumulated: Any, visits: Any, numbers: Any, settings: Any, work: Any, run: Any, x: Any, u: Any  # noqa: ARG001
) -> Any:  # fmt: skip
    """a ~ π(·|x), by running sums of the probabilities."""
    a = np.uint64(0)
    for action in range(cumulated.shape[2] - 1):
        a += np.uint64(u >= cumulated[run, x, action])
    return a


@functools.cache
def _step_loop(choose: Any, learn: Any, on_policy: bool, certain: bool = True) -> Any:
    """The step loop with a way to act, and to learn at every step, if there is one, compiled into it.

    certain: whether rewards are those of the table.
    """

    @kernel
    def roll(
        starts: Any, thresholds: Any, successors: Any, alternatives: Any, table: Any, paid: Any, spread: Any,
        q: Any, visits: Any, numbers: Any, settings: Any, work: Any, ends: Any, limits: Any, look_ahead: Any,
        num_lanes: Any, state: Any, next_actions: Any, stream: Any, states: Any, actions: Any, rewards: Any,
        reward_sums: Any,
    ) -> Any:  # fmt: skip
        """Step all runs; the number of steps taken, and whether a limit, of one run, was met.

        A step waits for the result of the one before, so several runs are stepped in turn. table: the rewards of all
        runs, or one table for each. paid, spread: of random rewards, else None.
        """
        # Unsigned numbers index arrays without a check for negative ones, which lies on the path from x to x'.
        num_runs, num_actions, one = state.size, np.uint64(table.shape[-1]), np.uint64(1)
        x_of, totals = np.empty(num_lanes, dtype=np.uint64), np.empty(num_lanes)
        room = np.empty(4, dtype=np.uint64)
        t, met = 0, False
        for start in range(0, num_runs, num_lanes):
            lanes = min(num_lanes, num_runs - start)
            for lane in range(lanes):
                x_of[lane] = state[start + lane]
            t, met = 0, False
            for part in range(ends.size):
                totals[:] = 0.0
                while t < ends[part] and not met:
                    for lane in range(lanes):
                        run = start + lane
                        x = x_of[lane]
                        s0, s1, s2, s3 = stream[run, 0], stream[run, 1], stream[run, 2], stream[run, 3]
                        if on_policy and next_actions[run] >= 0:
                            a = np.uint64(next_actions[run])
                        else:
                            s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
                            a = np.uint64(choose(q, visits, numbers, settings, work, run, x, to_unit(bits)))
                        if limits is not None:
                            met = limits[run, x, a] <= (0 if look_ahead else 1)  # with this step, or before it
                            if met and look_ahead:
                                break
                            limits[run, x, a] -= 1
                        reward = table[x, a] if table.ndim == 2 else table[run, x, a]
                        states[run, t] = x
                        actions[run, t] = a
                        if certain:
                            rewards[run, t] = reward
                            totals[lane] += reward
                        # x' ~ P(·|x, a); no random number is spent on a certain successor.
                        pair = x * num_actions + a
                        first = starts[pair]
                        count = starts[pair + one] - first
                        if count > 1:
                            s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
                            place = to_unit(bits) * count
                            column = np.uint64(first + int(place))
                            successor, other = successors[column], alternatives[column]
                            kept = place - int(place) < thresholds[column]
                            x_of[lane] = successor if kept else other
                            if paid is not None:
                                reward = paid[column, 0] if kept else paid[column, 1]
                        else:
                            x_of[lane] = successors[first]
                        if spread is not None:
                            s0, s1, s2, s3, normal = next_normal(s0, s1, s2, s3, room)
                            reward += spread[x, a] * normal
                        if not certain:
                            rewards[run, t] = reward
                            totals[lane] += reward
                        if on_policy:
                            s0, s1, s2, s3, bits = advance(s0, s1, s2, s3)
                            next_actions[run] = choose(
                                q, visits, numbers, settings, work, run, x_of[lane], to_unit(bits)
                            )
                            learn(q, visits, numbers, settings, work, run, x, a, reward, x_of[lane], next_actions[run])
                        elif learn is not None:
                            learn(q, visits, numbers, settings, work, run, x, a, reward, x_of[lane], -1)
                        stream[run, 0], stream[run, 1], stream[run, 2], stream[run, 3] = s0, s1, s2, s3
                    if limits is None or not (met and look_ahead):
                        t += 1
                for lane in range(lanes):
                    reward_sums[start + lane, part] = totals[lane]
                if met:
                    break
            for lane in range(lanes):
                state[start + lane] = x_of[lane]
        return t, met

    return roll


def transition_tables(mdp: FiniteMDP) -> TransitionTables:
    """The alias tables of a model, in memory proportional to its possible transitions."""
    outcomes = mdp.outcomes
    if outcomes is None:
        rows = scipy.sparse.csr_array(mdp.transitions.reshape(-1, mdp.num_states))
        starts, probabilities, successors = rows.indptr.astype(np.int64), rows.data, rows.indices.astype(np.uint32)
    else:
        starts, probabilities = outcomes.starts, outcomes.probabilities
        successors = outcomes.successors.astype(np.uint32)
    thresholds, partners = np.empty(len(probabilities)), np.empty(len(probabilities), dtype=np.int64)
    _fill_alias(starts, probabilities, thresholds, partners)
    paid = None if outcomes is None else np.stack([outcomes.rewards, outcomes.rewards[partners]], axis=1)
    return TransitionTables(
        starts, thresholds, successors, successors[partners], mdp.rewards, paid, mdp.reward_spread
    )  # fmt: skip


@kernel
def _fill_alias(starts: Any, probabilities: Any, thresholds: Any, partners: Any) -> None:
    """Vose's method for each row; small and large columns are stacked in one workspace from both ends."""
    widest = 0
    for row in range(starts.size - 1):
        widest = max(widest, starts[row + 1] - starts[row])
    stack = np.empty(widest, dtype=np.int64)
    for row in range(starts.size - 1):
        first, last = starts[row], starts[row + 1]
        small, large = 0, widest
        for i in range(first, last):
            thresholds[i] = probabilities[i] * (last - first)
            partners[i] = i
            if thresholds[i] < 1.0:
                stack[small] = i
                small += 1
            else:
                large -= 1
                stack[large] = i
        while small > 0 and large < widest:
            small -= 1
            poor, rich = stack[small], stack[large]
            partners[poor] = rich
            thresholds[rich] -= 1.0 - thresholds[poor]
            if thresholds[rich] < 1.0:
                large += 1
                stack[small] = rich
                small += 1
        # What is left is full up to rounding.
        for i in range(small):
            thresholds[stack[i]] = 1.0
        for i in range(large, widest):
            thresholds[stack[i]] = 1.0
