"""Past transitions of a problem with observation vectors, and RLSVI's draws from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.evaluation.linear import NormalEquations
from aapi.evaluation.regression import factorise, solve_factorised, solve_upper
from aapi.improvement.history import matching, within
from aapi.simulation.basis import fill_features
from aapi.simulation.jit import kernel
from aapi.simulation.linear_policy import LinearPolicy, aligned_zeros, dot
from aapi.simulation.random import fill_normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["Experience", "Settings"]

Settings = tuple[int, float, bool, float, float]  # sweeps, discount, relative, ridge, noise variance


class Experience:
    """The last `memory` transitions of every run, a random linear Q-function drawn from them, and its greedy policy."""

    SAVED = ("observations", "successors", "actions", "rewards", "q_hat")

    def __init__(self, simulation: Simulation, memory: int) -> None:
        runs, num_features, num_actions = simulation.shape
        self.features, self.memory = simulation.features, memory
        self.phase = 0
        self.observations = np.empty((runs, 0, self.features.dimension))
        self.successors = np.empty((runs, 0, self.features.dimension))
        self.actions = np.empty((runs, 0), dtype=np.int32)
        self.rewards = np.empty((runs, 0))
        self.q_hat = np.zeros((runs, num_features, num_actions))
        self.policy = self._greedy()

    def _greedy(self) -> LinearPolicy:
        runs, num_features, _ = self.q_hat.shape
        index = np.ascontiguousarray(self.q_hat.transpose(0, 2, 1))
        return LinearPolicy(index, np.zeros(runs), aligned_zeros(runs, num_features, 0), span=False)

    def add(self, data: PhaseData) -> None:
        """Remember the transitions of a phase, and forget the oldest beyond `memory`."""
        successors = np.concatenate([data.states[:, 1:], data.last_state[:, None]], axis=1)
        for name, new in (
            ("observations", data.states), ("successors", successors), ("actions", data.actions),
            ("rewards", data.rewards),
        ):  # fmt: skip
            both = np.concatenate([getattr(self, name), new], axis=1)
            setattr(self, name, np.ascontiguousarray(both[:, -self.memory :]))
        self.phase += 1

    def draw(self, streams: NDArray[np.uint64], settings: Settings) -> bool:
        """Draw the weights of Q̂ for every run; false if a regression is singular."""
        sweeps, discount, relative, ridge, variance = settings
        runs, size, num_actions = self.q_hat.shape
        equations = NormalEquations(self.features)
        factors, totals = np.empty((num_actions, *equations.gram.shape)), np.empty((num_actions, size))
        self.q_hat = np.zeros_like(self.q_hat)
        for run in range(runs):
            for action in range(num_actions):
                equations.fill(self.observations[run], self.actions[run], np.ones(self.rewards.shape[1]), action)
                factors[action], totals[action] = equations.gram / variance, equations.rhs
                if not factorise(factors[action], ridge):
                    return False
            weights = np.zeros((num_actions, size))
            _sweep(
                self.features, self.observations[run], self.successors[run], self.actions[run], self.rewards[run],
                factors, totals, sweeps, discount, relative, variance, streams[run], weights,
            )  # fmt: skip
            self.q_hat[run] = weights.T
        if not np.isfinite(self.q_hat).all():
            raise InvalidInput("a draw of RLSVI is no longer finite: scale the rewards down, or take a larger ridge")
        self.policy = self._greedy()
        return True

    def greedy_policy(self) -> LinearPolicy:
        """The policy, which is greedy already."""
        return self.policy

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that has to be stored to go on later."""
        return {name: getattr(self, name) for name in self.SAVED} | {"phase": np.array(self.phase)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""
        self.phase = int(matching(arrays, "phase", np.array(self.phase)))
        runs, dimension = len(self.q_hat), self.features.dimension
        count = arrays["rewards"].shape[-1] if "rewards" in arrays else 0
        shapes = {
            "observations": np.empty((runs, count, dimension)),
            "successors": np.empty((runs, count, dimension)),
            "actions": np.empty((runs, count), dtype=np.int32),
            "rewards": np.empty((runs, count)),
            "q_hat": self.q_hat,
        }
        if count > self.memory:
            raise InvalidInput(f"{count} transitions are more than the memory of {self.memory}")
        for name, like in shapes.items():
            setattr(self, name, matching(arrays, name, like))
        within(self.actions, self.q_hat.shape[2], "actions")
        self.policy = self._greedy()


@kernel
def _sweep(
    basis: Any, observations: Any, successors: Any, actions: Any, rewards: Any, factors: Any, totals: Any, sweeps: Any,
    discount: Any, relative: Any, variance: Any, stream: Any, weights: Any,
) -> None:  # fmt: skip
    """A draw for one run. factors: of the regressions' matrices; totals: Σ ψ over the visits of each action."""
    num_actions, size = weights.shape
    rhs, noise = np.empty((num_actions, size)), np.empty((num_actions, size))
    features, after, work = np.empty(size), np.empty(size), np.empty(size)
    for _ in range(sweeps):
        rhs[:] = 0.0
        offset = 0.0
        for t in range(rewards.size):
            a = actions[t]
            fill_features(basis, observations[t], features, work)
            fill_features(basis, successors[t], after, work)
            offset += _best(weights, features) / rewards.size
            target = rewards[t] + discount * _best(weights, after)
            for i in range(size):
                rhs[a, i] += features[i] * target
        fill_normal(stream, noise.ravel())
        for a in range(num_actions):
            for i in range(size):
                if relative:
                    rhs[a, i] -= discount * offset * totals[a, i]
                rhs[a, i] /= variance
            solve_factorised(factors[a], rhs[a])
            solve_upper(factors[a], noise[a])
            for i in range(size):
                weights[a, i] = rhs[a, i] + noise[a, i]


@kernel
def _best(theta: Any, features: Any) -> Any:
    """max_a ψᵀθ_a."""
    best = dot(features, theta[0])
    for a in range(1, theta.shape[0]):
        best = max(best, dot(features, theta[a]))
    return best
