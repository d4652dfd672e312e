"""Rolling a batch of runs through a problem with observation vectors: the only step loop of the continuous problems."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.linear_policy import draw_action
from aapi.approximation.temperature_bounds import UNKNOWN, empty_rounded
from aapi.errors import InvalidInput
from aapi.features.basis import TILES
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw, streams
from aapi.simulation.data import NO_GRID, PhaseData, stretch_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.approximation import Linear
    from aapi.environments.continuous_problem import ContinuousProblem
    from aapi.simulation.data import Stretch

LONG = 100  # steps for which differences are worth rounding


class ContinuousSimulation:
    """A batch of runs, each with its own state and random stream; the state carries over from phase to phase.

    grid: steps at which the caller wants reward sums to be cut, whatever the phases.
    """

    def __init__(
        self, problem: ContinuousProblem, space: Linear, seed: int, runs: Sequence[int],
        grid: NDArray[np.int64] = NO_GRID,
    ) -> None:  # fmt: skip
        self.problem, self.space, self.grid = problem, space, grid
        self.time = 0
        self.streams = streams(seed, runs)
        self.state = np.zeros((len(runs), problem.state_size))
        for state, stream in zip(self.state, self.streams, strict=True):
            problem.start(state, stream)

    def rollout(self, stretch: Stretch, most: int) -> PhaseData:
        """Act by linear policies, or by a rule."""
        if stretch.limits is not None:
            raise InvalidInput("a stretch that ends by what is seen needs countable states")
        runs, steps, basis = len(self.state), min(stretch.steps, most), self.space.basis
        ends = stretch_ends(self.grid, self.time, steps)
        observations = np.empty((runs, steps, basis.dimension))
        actions = np.empty((runs, steps), dtype=np.int32)
        rewards, sums = np.empty((runs, steps)), np.empty((runs, len(ends)))
        out = ends, self.state, self.streams, observations, actions, rewards, sums
        if (rule := stretch.rule) is not None:
            _learning_loop(self.problem.step, rule.choose, rule.learn, rule.on_policy)(
                rule.q, rule.visits, rule.numbers, rule.settings, rule.work, self.problem.reward_scale,
                rule.next_actions, *out,
            )  # fmt: skip
        else:
            policy = self.space.check_policy(stretch.acting, runs)
            roll = _step_loop(self.problem.step)
            roll(basis, policy.index, policy.constant, policy.differences, policy.span, *out)
        for earned in (rewards, sums):
            earned *= self.problem.reward_scale
        self.time += steps
        last = self.state[:, : basis.dimension].copy()
        return PhaseData(
            observations, actions, rewards, last, sums, ends, self.time, steps == stretch.steps, self.streams
        )


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
        # Where most features are zero, products take little time; and rounding takes longer than a few steps.
        rounds = basis.kind != TILES and observations.shape[1] >= LONG
        rounded = empty_rounded(num_features, products.size if rounds else 0)
        for run in range(num_runs):
            t = 0
            rounded.error[0] = UNKNOWN
            for stretch in range(ends.size):
                total = 0.0
                while t < ends[stretch]:
                    for j in range(observations.shape[2]):
                        observations[run, t, j] = state[run, j]
                    action = draw_action(
                        basis, index[run], constant[run], differences[run], span, streams[run], features, work,
                        scores, products, rounded, observations[run, t],
                    )  # fmt: skip
                    reward = step(state[run], action, streams[run])
                    actions[run, t] = action
                    rewards[run, t] = reward
                    total += reward
                    t += 1
                reward_sums[run, stretch] = total

    return roll


@functools.cache
def _learning_loop(step: Any, choose: Any, learn: Any, on_policy: bool) -> Any:
    """The step loop with these dynamics, and a rule that acts and learns, compiled into it."""

    @kernel
    def roll(
        q: Any, visits: Any, numbers: Any, settings: Any, work: Any, scale: Any, next_actions: Any, ends: Any,
        state: Any, streams: Any, observations: Any, actions: Any, rewards: Any, reward_sums: Any,
    ) -> None:  # fmt: skip
        dimension = observations.shape[2]
        after = np.empty(dimension)
        for run in range(state.shape[0]):
            t = 0
            for part in range(ends.size):
                total = 0.0
                while t < ends[part]:
                    x = observations[run, t]
                    for j in range(dimension):
                        x[j] = state[run, j]
                    a = next_actions[run]
                    if a < 0 or not on_policy:
                        a = choose(q, visits, numbers, settings, work, run, x, draw(streams[run]))
                    reward = step(state[run], a, streams[run])
                    actions[run, t] = a
                    rewards[run, t] = reward
                    total += reward
                    for j in range(dimension):
                        after[j] = state[run, j]
                    if on_policy:
                        b = choose(q, visits, numbers, settings, work, run, after, draw(streams[run]))
                        learn(q, visits, numbers, settings, work, run, x, a, reward * scale, after, b)
                        next_actions[run] = b
                    else:
                        learn(q, visits, numbers, settings, work, run, x, a, reward * scale, after, -1)
                    t += 1
                reward_sums[run, part] = total

    return roll
