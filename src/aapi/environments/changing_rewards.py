"""Rewards that change from phase to phase, on dynamics that stay (Even-Dar et al. 2009, Neu et al. 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from aapi.checks import at_least
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


def against_the_leader(reach: float = 0.9) -> ChangingRewards:
    """Two states, of which the one pays in odd phases and the other in even ones: whoever follows the leader loses.

    Action a leads to state a with probability `reach`, else to the other. In phase 1, state 0 pays ½; from then on, the
    states pay 1 in turn, state 1 first. So the better state of the last phase, and of all phases so far, is always the
    worse one of the next. Every fixed policy of one state earns about ½ a step.
    """
    if not 0.5 < reach < 1.0:
        raise InvalidInput(f"reach must lie in (0.5, 1), not {reach}")
    transitions = np.tile([[reach, 1.0 - reach], [1.0 - reach, reach]], (2, 1, 1))
    first, second = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    names = ["left", "right"]
    mdp = FiniteMDP(transitions, 0.5 * (first + second), state_names=names, action_names=names)
    return ChangingRewards(mdp, np.array([0.5 * first, second, first]), cycle=2)


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
