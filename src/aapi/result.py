"""What a batch of runs produced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.environments import ContinuousProblem
from aapi.errors import DoesNotExist, InvalidInput
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import dot
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.policies import policy_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.approximation import Policy, QSpace
    from aapi.array_types import AnyArray, Array, Integers, Mask
    from aapi.environments import ChangingRewards
    from aapi.learners import Phase
    from aapi.learners.learner import AnyLearner
    from aapi.policies import PolicyTable
    from aapi.simulation import PhaseData


@dataclass(frozen=True, eq=False)
class Record:
    """Every phase of every run, for the theory: (runs, phases, states[, actions]).

    policies: π_k, and starts: the state in which the phase began, (runs, phases), of all phases; evaluated: which of
        them were evaluated, (phases,). The others are of those alone:
    q_hats: Q̂_k; temperatures: η_k(x); surprises: ‖Q̂_k − M_k‖; predictions: M_{k+1}; None if an algorithm has none.
    weights: what phases count, (phases,): their lengths as multiples of the first one's. Q̂_k is as it was estimated;
        the others are multiplied by the weight of their phase.
    reward_tables: r_k of all phases, (runs, phases, states, actions), of problems whose rewards change; else None.
    """

    policies: Array
    starts: Integers
    evaluated: Mask
    q_hats: Array
    temperatures: Array | None
    surprises: Array | None
    predictions: Array | None
    weights: Array
    reward_tables: Array | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Rewards, curves and policies of `runs`, the numbers of the runs.

    phase_ends: the steps at which phases, and explorations before them, end, (phases,); where they differ from run to
        run, (runs, phases), and runs with fewer phases have empty ones at their end. rewards: the sum of rewards in
        each, (runs, phases).
    grid: steps; cumulated: the sum of rewards up to each of them, (runs, grid).
    surprise: (Σ_x ‖Q̂_k(x,·) − M_k(x,·)‖²/X)^½ of every phase that was evaluated, (runs, evaluated phases); None where
        there are no tables of it. The better the prediction, the lower.
    conditioning: the worst condition number of the equations of a phase, (runs,), of evaluations that tell it (LSTD).
    explored: the steps that each run spent on exploration, (runs,).
    rule_steps: those in which a rule of thumb acted, (runs,); trusted: the runs whose learner is better than it, as far
        as can be told, (runs,); None if there is no rule.
    final_policy: the policy of the last phase, (runs, states, actions), or a `LinearPolicy`; next_policy: what would
        have come next; beside a rule, what whoever is trusted does.
    record: everything about every phase, if it was asked for.
    mean_rewards: of problems whose rewards change, the mean reward function of all steps up to each of the grid,
        (runs, grid, states, actions); else None.
    """

    learner: AnyLearner
    env: FiniteMDP | ChangingRewards | ContinuousProblem
    seed: int
    runs: Integers
    num_steps: int
    phase_ends: Integers
    rewards: Array
    grid: Integers
    cumulated: Array
    explored: Integers
    surprise: Array | None
    conditioning: Array | None
    final_policy: Policy
    next_policy: Policy
    seconds: float
    record: Record | None = None
    mean_rewards: Array | None = None
    rule_steps: Integers | None = None
    trusted: Mask | None = None

    def __repr__(self) -> str:
        average = self.average_reward[:, -1]
        return (
            f"Result({self.learner!r}, {len(self.runs)} runs of {self.num_steps} steps: average reward "
            f"{average.mean():.5g}, worst run {average.min():.5g})"
        )

    @property
    def algorithm(self) -> AnyLearner:
        """The learner."""
        return self.learner

    @property
    def mean_surprise(self) -> float | None:
        """The mean of `surprise` over runs and phases; None where there is none."""
        return None if self.surprise is None else float(np.nanmean(self.surprise))

    @property
    def average_reward(self) -> Array:
        """(1/t) Σ_{s≤t} r_s at the end of each phase, (runs, phases). The last column is the whole run's."""
        return np.asarray(np.cumsum(self.rewards, axis=1) / self.phase_ends)

    @property
    def curve(self) -> Array:
        """The paper's −(1/t) Σ_{s≤t} r_s at each step t of the grid, (runs, grid)."""
        return np.asarray(-self.cumulated / self.grid)

    @cached_property
    def optimal_gain(self) -> float:
        """λ_* from the initial state, exactly; for a continuous problem the bound it comes with, if there is one.

        Where rewards change, that of the best fixed policy in hindsight, the mean over runs.
        """
        if self.mean_rewards is not None:
            return float(self.best_gains[:, -1].mean())
        if isinstance(self.env, ContinuousProblem):
            if self.env.best_gain is None:
                raise DoesNotExist(f"the optimal gain of {self.env.name} is not known: it has no finite model")
            return self.env.best_gain
        mdp = self.env.dynamics
        return float(solve(mdp).gains[mdp.initial_state])

    @cached_property
    def best_gains(self) -> Array:
        """The gain of the best fixed policy for the rewards up to each step of the grid, (runs, grid).

        λ_*; where rewards change, max_π λ_π(r̄_t) from the initial state, exactly, with r̄_t the mean of the reward
        functions of the first t steps.
        """
        if self.mean_rewards is None or isinstance(self.env, ContinuousProblem):
            return np.full(self.cumulated.shape, self.optimal_gain)
        mdp, tables = self.env.dynamics, self.mean_rewards.reshape(-1, *self.mean_rewards.shape[2:])
        different, which = np.unique(tables, axis=0, return_inverse=True)  # runs often have the same
        gains = np.array([solve(mdp.with_rewards(table)).gains[mdp.initial_state] for table in different])
        return np.asarray(gains[which.reshape(-1)].reshape(self.cumulated.shape))

    @property
    def regret(self) -> Array:
        """Σ_{s≤t} (λ_* − r_s) at each step t of the grid, (runs, grid); λ_* is that of `best_gains`."""
        return np.asarray(self.best_gains * self.grid - self.cumulated)

    @cached_property
    def learnt_gains(self) -> Array:
        """The long-run average reward of what each run has learnt, `next_policy`, from the initial state: exactly.

        (runs,). It is free of the luck of the last steps, and of what exploration costs. Of finite problems alone.
        """
        if not isinstance(self.env, FiniteMDP):
            raise DoesNotExist(f"policies are evaluated exactly in finite models, and {self.env!r} is none")
        gains = [policy_values(self.env, policy).gains for policy in self.next_policy]
        return np.stack(gains)[:, self.env.initial_state]

    def policy_table(self, run: int = 0) -> PolicyTable:
        """What a run has learnt, `next_policy`, does in each state, where it spends most of its time first."""
        if not isinstance(self.env, FiniteMDP):
            raise DoesNotExist(f"policies of finite models are tables, and {self.env!r} is none")
        if not 0 <= run < len(self.runs):
            raise InvalidInput(f"run must lie in 0..{len(self.runs) - 1}, not {run}")
        return policy_table(self.env, self.next_policy[run])

    def average_reward_since(self, fraction: float) -> Array:
        """The average reward of each run after `fraction` of its steps; 0.9 for the last tenth."""
        if not 0.0 <= fraction < 1.0:
            raise InvalidInput(f"fraction must lie in [0, 1), not {fraction}")
        start = int(fraction * self.num_steps)
        before = self.cumulated[:, np.searchsorted(self.grid, start)] if start else np.zeros(len(self.runs))
        if start and start not in self.grid:
            raise InvalidInput(f"the grid has no step {start}; pass a grid with it to run")
        return np.asarray((self.cumulated[:, -1] - before) / (self.num_steps - start))


class PhaseRecorder:
    """What the phases of a batch of runs say of themselves, on the way to a `Result`.

    record: keep what a `Record` takes.
    """

    def __init__(self, space: QSpace, runs: int, grid: Integers, record: bool) -> None:
        self.space, self.runs, self.grid, self.record = space, runs, grid, record
        self.ends: list[int] = []
        self.marks: list[Integers] = []
        self.sums: list[Array] = []
        self.evaluated: list[bool] = []
        self.weights: list[float] = []
        self.surprise: list[Array] = []
        self.conditioning: Array | None = None
        self.explored = np.zeros(runs, dtype=np.int64)
        self.rule_steps = 0
        self.policy: Policy = None
        self.next_policy: Policy = None
        self.starts: list[Integers] = []
        self.tables: dict[str, list[Array]] = {name: [] for name in TABLES}
        self.reward_tables: list[Array] = []
        self.reward_total: Array | float = 0.0
        self.mean_rewards: list[Array] = []

    def add(self, phase: Phase, time: int) -> None:
        """Take in one phase, which ends at `time`."""
        data, evaluated = phase.data, phase.q_hat is not None
        if time != (self.ends[-1] if self.ends else 0) + data.steps:
            raise InvalidInput("a learner must return a Phase for every stretch, with its data")
        self.ends.append(time)
        self.marks.append(time - data.steps + data.part_ends)
        self.sums.append(data.reward_sums)
        self.evaluated.append(evaluated)
        self.next_policy = phase.next_policy
        if phase.policy is self.space.rule is not None:
            self.rule_steps += data.steps
        elif phase.exploring is not None:
            self.explored += data.steps * phase.exploring
        if phase.exploring is None or self.policy is None:
            self.policy = phase.policy
        if evaluated:
            self.weights.append(phase.weight)
        if phase.surprise is not None:
            self.surprise.append(_root_mean_square(phase.surprise) / phase.weight)
        if phase.conditioning is not None:
            worst = 0.0 if self.conditioning is None else self.conditioning
            self.conditioning = np.maximum(phase.conditioning, worst)
        if data.reward_table is not None:
            self._add_rewards(data, np.broadcast_to(data.reward_table, self.space.shape(self.runs)))
        if self.record:
            self._keep(phase)

    def _add_rewards(self, data: PhaseData, table: Array) -> None:
        """Take in the reward function of a stretch, and their mean at each step of the grid in it."""
        if self.record:
            self.reward_tables.append(table)
        start = self.ends[-1] - data.steps
        for end in start + data.part_ends:
            if self.grid[len(self.mean_rewards)] == end:
                self.mean_rewards.append((self.reward_total + (end - start) * table) / end)
        self.reward_total = self.reward_total + data.steps * table

    def _keep(self, phase: Phase) -> None:
        """What a Record takes: the policy of every phase, the rest of those that were evaluated."""
        self.starts.append(phase.data.states[:, 0].astype(np.int64))
        self.tables["policies"].append(phase.policy)
        found = {"q_hats": phase.q_hat, "surprises": phase.surprise, "predictions": phase.prediction}
        if phase.temperature is not None:
            every = np.broadcast_to(np.arange(self.space.rows), (self.runs, self.space.rows))
            found["temperatures"] = self.space.temperatures(phase.temperature, self.runs, every)
        for name, table in found.items():
            if table is not None and phase.q_hat is not None:
                self.tables[name].append(table)

    @property
    def cumulated(self) -> Array:
        """The sum of rewards up to each step of the grid, (runs, grid)."""
        sums = np.cumsum(np.concatenate(self.sums, axis=1), axis=1)
        return np.asarray(sums[:, np.searchsorted(np.concatenate(self.marks), self.grid)])

    @property
    def rewards(self) -> Array:
        """The sum of rewards in each phase, (runs, phases)."""
        return np.stack([part.sum(axis=1) for part in self.sums], axis=1)

    def table(self, name: str) -> Array | None:
        """What was kept of all phases, (runs, phases, states[, actions]); None of what the learner does not have."""
        found = self.tables[name]
        if found:
            return np.stack(found, axis=1)
        rows = (self.space.rows, self.space.num_actions) if name in WITH_ACTIONS else (self.space.rows,)
        return None if any(self.evaluated) else np.empty((self.runs, 0, *rows))


TABLES = ("policies", "q_hats", "temperatures", "surprises", "predictions")
WITH_ACTIONS = ("policies", "q_hats", "predictions")


def joined_result(recorders: Sequence[PhaseRecorder], **about: Any) -> Result:
    """The Result of several chunks of runs. about: the fields that no chunk knows."""
    first, space = recorders[0], recorders[0].space
    conditioning = [
        np.full(each.runs, np.nan) if each.conditioning is None else each.conditioning for each in recorders
    ]
    surprise = [np.stack(each.surprise, axis=1) if each.surprise else np.empty((each.runs, 0)) for each in recorders]
    ends = _padded([np.tile(each.ends, (each.runs, 1)) for each in recorders], about["num_steps"])
    same = all(each.ends == first.ends for each in recorders)
    return Result(
        phase_ends=ends[0] if same else ends,
        rewards=_padded([each.rewards for each in recorders], 0.0),
        cumulated=np.concatenate([each.cumulated for each in recorders]),
        explored=np.concatenate([each.explored for each in recorders]),
        surprise=_padded(surprise, np.nan) if any(part.size for part in surprise) else None,
        conditioning=None if all(each.conditioning is None for each in recorders) else np.concatenate(conditioning),
        final_policy=_as_allowed(space, space.join([each.policy for each in recorders])),
        next_policy=_as_allowed(space, space.join([each.next_policy for each in recorders])),
        record=_record(recorders) if first.record else None,
        mean_rewards=_stacked([each.mean_rewards for each in recorders]),
        rule_steps=None if space.rule is None else np.array([each.rule_steps for each in recorders]),
        trusted=None if space.rule is None else np.array([each.next_policy is not space.rule for each in recorders]),
        **about,
    )


def _as_allowed(space: QSpace, policies: Policy) -> Policy:
    """Policies without what the model forbids."""
    return policies if space.model is None else space.model.as_allowed(policies)


def _padded(parts: Sequence[AnyArray], filler: float) -> AnyArray:
    """Runs below each other, (runs, phases); those with fewer phases than others end with a filler."""
    most = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=filler) for part in parts])


def _stacked(parts: Sequence[list[Array]]) -> Array | None:
    """Tables of several chunks, (runs, number, states, actions); None if there are none."""
    return np.concatenate([np.stack(tables, axis=1) for tables in parts]) if parts[0] else None


def _record(recorders: Sequence[PhaseRecorder]) -> Record:
    found: dict[str, Any] = {}
    for name in TABLES:
        parts = [each.table(name) for each in recorders]
        found[name] = np.concatenate([part for part in parts if part is not None]) if parts[0] is not None else None
    starts = np.concatenate([np.stack(each.starts, axis=1) for each in recorders])
    evaluated, weights = np.array(recorders[0].evaluated), np.array(recorders[0].weights)
    tables = _stacked([each.reward_tables for each in recorders])
    return Record(starts=starts, evaluated=evaluated, weights=weights, reward_tables=tables, **found)


def _root_mean_square(table: Array) -> Array:
    """Over the last axis, without squares that over- or underflow."""
    roots = np.empty(len(table))
    _fill_roots(table, roots)
    return roots


@kernel
def _fill_roots(table: Any, roots: Any) -> None:
    shares = np.empty(table.shape[1])
    for run in range(roots.size):
        scale = table[run].max()
        for x in range(shares.size):
            shares[x] = table[run, x] / scale if scale > 0.0 else 0.0
        roots[run] = scale * math.sqrt(dot(shares, shares) / shares.size)
