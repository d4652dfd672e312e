"""Rolling a batch of runs through a problem with observation vectors: the only step loop of the continuous problems."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.simulation.data import PhaseData, stretches
from aapi.simulation.jit import kernel
from aapi.simulation.linear_policy import LinearPolicy, draw_action
from aapi.simulation.random import streams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from aapi.simulation.basis import Basis

__all__ = ["ContinuousProblem", "ContinuousSimulation"]


@dataclass(frozen=True)
class ContinuousProblem:
    """A problem without end whose dynamics are kernels.

    start(state, stream): fill a state, an array of `state_size` numbers, using a random stream (see `draw`).
    step(state, action, stream): move the state on and return the reward. An end of an episode is a step like others: it
        puts a fresh start in place of the state.
    low, high: bounds for features; the observation is the first len(low) numbers of the state.
    best_gain: a bound on the average reward of any policy, if one is known.
    reward_scale: what rewards are multiplied by.
    """

    name: str
    start: Callable[..., None]
    step: Callable[..., float]
    state_size: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    action_names: tuple[str, ...]
    best_gain: float | None = None
    reward_scale: float = 1.0

    def __post_init__(self) -> None:
        at_least(1, state_size=self.state_size)
        if not 1 <= len(self.low) == len(self.high) <= self.state_size:
            raise InvalidInput(
                f"low and high must be of one length, at least 1 and at most state_size, {self.state_size}; "
                f"they have {len(self.low)} and {len(self.high)} numbers"
            )
        if not self.action_names:
            raise InvalidInput("a problem needs at least one action: action_names is empty")
        finite(0.0, strictly=True, reward_scale=self.reward_scale)

    @property
    def num_actions(self) -> int:
        """A."""
        return len(self.action_names)

    def scaled(self, factor: float) -> ContinuousProblem:
        """The same problem with all rewards multiplied by a number."""
        bound = None if self.best_gain is None else self.best_gain * factor
        return replace(self, reward_scale=self.reward_scale * factor, best_gain=bound)


class ContinuousSimulation:
    """A batch of runs, each with its own state and random stream; the state carries over from phase to phase.

    grid: steps at which the caller wants reward sums to be cut, whatever the phases.
    """

    def __init__(
        self, problem: ContinuousProblem, features: Basis, seed: int, runs: Sequence[int], grid: NDArray[np.int64]
    ) -> None:
        self.problem = problem
        self.features = features
        self.grid = grid
        self.time = 0
        self.streams = streams(seed, runs)
        self.state = np.zeros((len(runs), problem.state_size))
        for state, stream in zip(self.state, self.streams, strict=True):
            problem.start(state, stream)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(runs, features, actions): the shape of a batch of weights."""
        return len(self.state), self.features.num_features, self.problem.num_actions

    def rollout(self, policy: LinearPolicy, steps: int) -> PhaseData:
        """Act by `policy` for a number of steps."""
        policy = policy.check(self.shape)
        runs = len(self.state)
        ends = stretches(self.grid, self.time, steps)
        observations = np.empty((runs, steps, self.features.dimension))
        actions = np.empty((runs, steps), dtype=np.int32)
        rewards, sums = np.empty((runs, steps)), np.empty((runs, len(ends)))
        roll = _step_loop(self.problem.step)
        roll(
            self.features, policy.index, policy.constant, policy.differences, policy.span, ends, self.state,
            self.streams, observations, actions, rewards, sums,
        )  # fmt: skip
        for earned in (rewards, sums):
            earned *= self.problem.reward_scale
        self.time += steps
        last = self.state[:, : self.features.dimension].copy()
        return PhaseData(observations, actions, rewards, last, sums, ends)


@functools.cache
def _step_loop(step: Any) -> Any:
    """The step loop with these dynamics compiled into it."""

    @kernel
    def roll(
        basis: Any, index: Any, constant: Any, differences: Any, span: Any, ends: Any, state: Any, streams: Any,
        observations: Any, actions: Any, rewards: Any, reward_sums: Any,
    ) -> None:  # fmt: skip
        num_runs, num_actions, num_features = index.shape
        features, work = np.empty(num_features), np.empty(num_features)
        scores, products = np.empty(num_actions), np.empty(differences.shape[2])
        for run in range(num_runs):
            t = 0
            for stretch in range(ends.size):
                total = 0.0
                while t < ends[stretch]:
                    for j in range(observations.shape[2]):
                        observations[run, t, j] = state[run, j]
                    action = draw_action(
                        basis, index[run], constant[run], differences[run], span, streams[run], features, work,
                        scores, products, observations[run, t],
                    )  # fmt: skip
                    reward = step(state[run], action, streams[run])
                    actions[run, t] = action
                    rewards[run, t] = reward
                    total += reward
                    t += 1
                reward_sums[run, stretch] = total

    return roll
