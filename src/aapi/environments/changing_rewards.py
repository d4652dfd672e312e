"""Rewards that change from phase to phase, on dynamics that stay (Even-Dar et al. 2009, Neu et al. 2010)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP
from aapi.mdp.arrays import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from aapi.array_types import Array

    RewardFunction: TypeAlias = Callable[[int, Array], ArrayLike]

NO_POLICIES = np.empty((0, 0, 0))


@dataclass(frozen=True, eq=False)
class ChangingRewards:
    """A finite MDP whose rewards are others in every phase: r_k(x, a) in phase k.

    A learner that evaluates policies by `ExactQ` is shown all of r_k when phase k is over: then Algorithm 1 is MDP-E.
    Others learn from the rewards that they earned. Regret is against the best fixed policy in hindsight, which is
    optimal for the mean of the reward functions, weighted by the lengths of their phases.

    mdp: the dynamics, and where runs start; its own rewards are not used.
    rewards: r_1, r_2, …, of shape (phases, states, actions); or a function of k and the policies π_1 … π_k of a run,
        (k, states, actions), which returns r_k, and depends on nothing else.
    cycle: so many of the last reward functions are repeated when all were used; all if not given; 0: a run ends there.
    """

    mdp: FiniteMDP
    rewards: ArrayLike | RewardFunction
    cycle: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mdp, FiniteMDP):
            raise InvalidInput(f"the dynamics of changing rewards are a FiniteMDP, not {self.mdp!r}")
        if callable(self.rewards):
            if self.cycle is not None:
                raise InvalidInput(f"cycle is for arrays of rewards, not for a function: drop cycle={self.cycle}")
            return
        tables = _as_rewards(self.rewards, "rewards")
        if tables.ndim != 3 or not len(tables) or tables.shape[1:] != self.mdp.rewards.shape:
            states, actions = self.mdp.rewards.shape
            raise InvalidInput(
                f"changing rewards must have the shape (phases, {states}, {actions}), for phases, states and actions, "
                f"not {tables.shape}"
            )
        tables.flags.writeable = False
        object.__setattr__(self, "rewards", tables)
        if self.cycle is not None:
            at_least(0, cycle=self.cycle)
            if self.cycle > len(tables):
                raise InvalidInput(f"cycle must be at most the {len(tables)} phases of the rewards, not {self.cycle}")

    @property
    def dynamics(self) -> FiniteMDP:
        """What stays: the model, whose rewards mean nothing."""
        return self.mdp

    def reward_sequence(self, runs: int) -> RewardSequence:
        """The rewards that so many runs meet."""
        return RewardSequence(self, runs)

    def scaled(self, factor: float) -> ChangingRewards:
        """The same problem with all rewards multiplied by a number."""
        finite(0.0, strictly=True, factor=factor)
        given = self.rewards
        if callable(given):
            return replace(self, rewards=lambda phase, policies: factor * np.asarray(given(phase, policies)))
        return replace(self, rewards=factor * np.asarray(given))

    @property
    def reacts(self) -> bool:
        """Whether rewards depend on what a run does, so that each run has its own."""
        return callable(self.rewards)

    def in_phase(self, phase: int, policies: Array = NO_POLICIES) -> Array:
        """r_k, (states, actions). phase: k, from 1 on. policies: π_1 … π_k of a run, where rewards react."""
        if callable(self.rewards):
            table = _as_rewards(self.rewards(phase, policies), f"rewards of phase {phase}")
            if table.shape != self.mdp.rewards.shape:
                shape = self.mdp.rewards.shape
                raise InvalidInput(
                    f"rewards of phase {phase} must have the shape (states, actions) = {shape}, not {table.shape}"
                )
            return table
        tables = np.asarray(self.rewards)
        count, cycle = len(tables), len(tables) if self.cycle is None else self.cycle
        if phase > count and not cycle:
            raise InvalidInput(f"rewards are given for {count} phases, and phase {phase} begins: give more, or a cycle")
        return np.asarray(tables[phase - 1 if phase <= count else count - cycle + (phase - 1 - count) % cycle])


class RewardSequence:
    """The rewards of a batch of runs, phase after phase; an exploration has those of the phase that it is before."""

    def __init__(self, problem: ChangingRewards, runs: int) -> None:
        self.problem, self.runs = problem, runs
        self._phase, self._table = 0, problem.mdp.rewards
        self._policies = np.empty((runs, 0, *problem.mdp.rewards.shape))  # of phases so far, and room for more
        self._count = 0

    def in_phase(self, phase: int, policy: Callable[[], Array]) -> Array:
        """r_k, (states, actions). Where rewards react, (runs, states, actions): they are told π_k of every run."""
        if phase != self._phase:
            self._phase = phase
            self._table = self._next_table(policy)
        return self._table

    def _next_table(self, policy: Callable[[], Array]) -> Array:
        if not self.problem.reacts:
            return self.problem.in_phase(self._phase)
        self._add(policy())
        so_far = self._policies[:, : self._count].view()
        so_far.flags.writeable = False
        return np.array([self.problem.in_phase(self._phase, policies) for policies in so_far])

    def _add(self, policy: Array) -> None:
        """Take in π_k of every run; room is doubled where there is none."""
        if self._count == self._policies.shape[1]:
            room = np.empty((self.runs, max(16, 2 * self._count), *policy.shape[1:]))
            room[:, : self._count] = self._policies
            self._policies = room
        self._policies[:, self._count] = policy
        self._count += 1


def against_the_leader(reach: float = 0.9) -> ChangingRewards:
    """Two states, of which the one pays in odd phases and the other in even ones: whoever follows the leader loses.

    Action a leads to state a with probability `reach`, else to the other. In phase 1, state 0 pays ½; from then on, the
    states pay 1 in turn, state 1 first. So the better state of the last phase, and of all phases so far, is always the
    worse one of the next. Every fixed policy of one state earns about ½ a step.
    """
    first, second = _paying(0), _paying(1)
    return ChangingRewards(_two_states(reach), np.array([0.5 * first, second, first]), cycle=2)


def against_the_policy(reach: float = 0.9) -> ChangingRewards:
    """The same two states, of which that one pays 1 that the policy of the phase goes to less."""
    return ChangingRewards(_two_states(reach), lambda _phase, policies: _paying(policies[-1].mean(axis=0).argmin()))


def _two_states(reach: float) -> FiniteMDP:
    """Action a leads to state a with probability `reach`, else to the other."""
    if not 0.5 < reach < 1.0:
        raise InvalidInput(f"reach must lie in (0.5, 1), not {reach}")
    transitions = np.tile([[reach, 1.0 - reach], [1.0 - reach, reach]], (2, 1, 1))
    names = ["left", "right"]
    return FiniteMDP(transitions, np.full((2, 2), 0.5), state_names=names, action_names=names)


def _paying(state: int | np.intp) -> Array:
    """A reward of 1 in one of two states, whatever the action."""
    return np.tile((np.arange(2) == state)[:, None], 2).astype(np.float64)


def _as_rewards(values: object, what: str) -> Array:
    """Finite real numbers; or an error."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must be a rectangular array of real numbers") from None
    wrong = ~(np.abs(array) <= LARGEST)
    if wrong.any():
        raise InvalidInput(f"{what} must be finite numbers up to {LARGEST:g}, not {array[wrong][0]}")
    return array
