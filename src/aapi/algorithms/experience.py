"""Past transitions of a problem with observation vectors, and RLSVI's draws from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import matching, within
from aapi.errors import InvalidInput
from aapi.evaluation.linear import NormalEquations
from aapi.evaluation.regression import factorise, solve_lower, solve_upper
from aapi.simulation.basis import finish_features
from aapi.simulation.jit import kernel
from aapi.simulation.linear_policy import LinearPolicy, aligned_zeros
from aapi.simulation.random import fill_normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["Experience", "Settings"]

Settings = tuple[int, float, bool, float, float]  # sweeps, discount, relative, ridge, noise variance
FOLD = 16  # weights and features are padded with zeros to a multiple of it, for `_best`


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
        self.steps = 0  # of a phase

    @property
    def acting(self) -> LinearPolicy:
        """The policy in use."""
        return self.policy

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
        equations, ones = NormalEquations(self.features), np.ones(self.rewards.shape[1])
        factors, totals = np.empty((num_actions, *equations.gram.shape)), np.empty((num_actions, size))
        self.q_hat = np.zeros_like(self.q_hat)
        for run in range(runs):
            for action in range(num_actions):
                equations.fill(self.observations[run], self.actions[run], ones, action)
                factors[action], totals[action] = equations.gram / variance, equations.rhs
                if not factorise(factors[action], ridge):
                    return False
            states, actions, rewards = self._in_a_row(run)
            begun, waves, order = self.features.begin(states)
            theta = np.zeros((num_actions, -(-size // FOLD) * FOLD))
            _draw(
                begun, waves, order, actions, rewards, factors, totals, sweeps, discount, relative, variance,
                streams[run], theta,
            )  # fmt: skip
            self.q_hat[run] = theta[:, :size].T
        if not np.isfinite(self.q_hat).all():
            raise InvalidInput("a draw of RLSVI is no longer finite: scale the rewards down, or take a larger ridge")
        self.policy = self._greedy()
        return True

    def _in_a_row(self, run: int) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """The transitions of a run as rows of states, actions and rewards: the successor of a row is the next row.

        A successor mostly is the next observation. Where it is not, it has a row of its own, with the action −1.
        """
        observations, successors = self.observations[run], self.successors[run]
        alone = np.ones(len(observations), dtype=bool)
        alone[:-1] = (successors[:-1] != observations[1:]).any(axis=1)
        places = np.arange(len(alone)) + np.cumsum(alone) - alone
        count = len(alone) + alone.sum()
        states, rewards = np.empty((count, observations.shape[1])), np.zeros(count)
        actions = np.full(count, -1, dtype=np.int32)
        states[places], actions[places], rewards[places] = observations, self.actions[run], self.rewards[run]
        states[places[alone] + 1] = successors[alone]
        return states, actions, rewards

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
def _draw(
    begun: Any, waves: Any, order: Any, actions: Any, rewards: Any, factors: Any, totals: Any, sweeps: Any,
    discount: Any, relative: Any, variance: Any, stream: Any, theta: Any,
) -> None:  # fmt: skip
    """A draw for one run. factors: U of each action, UᵀU = Σ⁻¹; totals: Σ ψ over the visits of each action."""
    num_actions, size = totals.shape
    rhs, noise = np.empty(theta.shape), np.empty(totals.shape)
    features, work = np.zeros(theta.shape[1]), np.empty(theta.shape[1] // 4)
    for _ in range(sweeps):
        mean = _fill_rhs(begun, waves, order, actions, rewards, discount, theta, features, work, rhs)
        offset = discount * mean if relative else 0.0
        fill_normal(stream, noise.ravel())
        for a in range(num_actions):
            weights = theta[a, :size]
            for i in range(size):
                weights[i] = (rhs[a, i] - offset * totals[a, i]) / variance
            # U⁻¹(U⁻ᵀ Φᵀb/σ² + noise) has the mean Σ Φᵀb/σ² and the covariance Σ.
            solve_lower(factors[a], weights)
            for i in range(size):
                weights[i] += noise[a, i]
            solve_upper(factors[a], weights)


@kernel
def _fill_rhs(
    begun: Any, waves: Any, order: Any, actions: Any, rewards: Any, discount: Any, theta: Any, features: Any,
    work: Any, rhs: Any,
) -> Any:  # fmt: skip
    """Σ ψ (r + discount · value of the next row) of each action; the mean value where one acted.

    Last row first: one pass then does all, with features that are finished once and used while at hand.
    """
    rhs[:] = 0.0
    total, count, after = 0.0, 0, 0.0
    for t in range(actions.size - 1, -1, -1):
        finish_features(begun[t], waves, order, features)
        best = _best(features, theta, work)
        if actions[t] >= 0:
            target, row = rewards[t] + discount * after, rhs[actions[t]]
            for i in range(row.size):
                row[i] += features[i] * target
            total += best
            count += 1
        after = best
    return total / count


@kernel
def _best(features: Any, theta: Any, work: Any) -> Any:
    """max_a ψᵀθ_a. Quarters of the products are added up entry by entry, twice, which a vector unit can do."""
    n, m = work.size, work.size // 4
    f0, f1, f2, f3 = features[:n], features[n : 2 * n], features[2 * n : 3 * n], features[3 * n :]
    w0, w1, w2, w3 = work[:m], work[m : 2 * m], work[2 * m : 3 * m], work[3 * m :]
    best = -math.inf
    for a in range(theta.shape[0]):
        t0, t1, t2, t3 = theta[a, :n], theta[a, n : 2 * n], theta[a, 2 * n : 3 * n], theta[a, 3 * n :]
        for i in range(n):
            work[i] = (f0[i] * t0[i] + f1[i] * t1[i]) + (f2[i] * t2[i] + f3[i] * t3[i])
        value = 0.0
        for i in range(m):
            value += (w0[i] + w1[i]) + (w2[i] + w3[i])
        best = max(best, value)
    return best
