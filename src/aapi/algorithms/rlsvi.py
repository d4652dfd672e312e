"""RLSVI: randomised least-squares value iteration (Osband, Van Roy and Wen 2016), for tasks without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.algorithms.experience import Experience, Settings
from aapi.algorithms.policy_iteration import Phase, in_phases
from aapi.checks import at_least, finite, one_of
from aapi.evaluation.regression import (
    factorise,
    fill_gram,
    fill_rhs,
    predict,
    singular_regression,
    solve_factorised,
    solve_upper,
)
from aapi.improvement import boltzmann
from aapi.simulation.basis import Basis
from aapi.simulation.jit import kernel
from aapi.simulation.random import fill_normal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["FORMS", "RLSVI"]

FORMS = ("relative", "finite-horizon", "discounted")


@dataclass(frozen=True, kw_only=True)
class RLSVI:
    """Act greedily in a randomised estimate of Q_*, drawn anew before each phase from past data.

    A draw is `horizon` sweeps of regression, from θ̃ = 0, each with its own noise:
    b_i = r_i + max_a φ(x'_i, a)ᵀθ̃,  Σ = (ΦᵀΦ/σ² + ridge · I)⁻¹,  θ̃ ~ N(Σ Φᵀb/σ², Σ).
    The paper does not say how it was run without a horizon. form: `relative` subtracts the visit-weighted mean value
    after each sweep; `finite-horizon` does not; `discounted` multiplies values by 1 − 1/horizon.

    The first policy is uniform, as in all other algorithms: without data, a draw is noise of size 1/√ridge.
    In finite problems all data enters, through counts of transitions; else the last `memory` transitions are kept. So
    the cost of a phase does not grow with time.
    """

    phase_length: int
    horizon: int
    form: str = "relative"
    ridge: float = 1.0
    noise_variance: float = 1.0
    memory: int = 10_000

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length, horizon=self.horizon, memory=self.memory)
        one_of(FORMS, form=self.form)
        finite(0.0, strictly=True, ridge=self.ridge, noise_variance=self.noise_variance)

    def start(self, simulation: Simulation, num_phases: int | None = None) -> Experience | Transitions:  # noqa: ARG002 - offered to all
        """The uniform policy, and no data yet."""
        if isinstance(simulation.features, Basis):
            return Experience(simulation, int(self.memory))
        return Transitions(simulation)

    def improve(self, simulation: Simulation, history: Experience | Transitions, data: PhaseData) -> Phase:
        """A draw from all past data, and the policy that is greedy in it."""
        policy, q_hat = history.policy, history.q_hat
        history.add(data)
        discount = 1.0 - 1.0 / self.horizon if self.form == "discounted" else 1.0
        settings = (
            int(self.horizon), discount, self.form == "relative", float(self.ridge), float(self.noise_variance),
        )  # fmt: skip
        if not history.draw(simulation.streams, settings):
            raise singular_regression(self.ridge)
        return Phase(history.phase, policy, data, history.policy, q_hat)

    def phases(self, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
        """One Phase per draw. The steps left over at the end are spent with the last policy."""
        return in_phases(self, simulation, num_steps)


class Transitions:
    """All past data of a finite problem, as counts of its possible transitions; and the last draw."""

    def __init__(self, simulation: Any) -> None:
        self.mdp, self.tables, self.features = simulation.mdp, simulation.tables, simulation.features
        self.phase = 0
        self.counts = np.zeros((simulation.shape[0], len(self.tables.successors)))
        self.q_hat = np.zeros(simulation.shape)
        self.policy: Any = np.full(simulation.shape, 1.0 / simulation.shape[2])

    def add(self, data: PhaseData) -> None:
        """Count the transitions of a phase."""
        starts, successors = self.tables.starts, self.tables.successors
        _count(starts, successors, data.states, data.actions, data.last_state, self.q_hat.shape[2], self.counts)
        self.phase += 1

    def draw(self, streams: NDArray[np.uint64], settings: Settings) -> bool:
        """Draw Q̂ for every run; false if a regression is singular."""
        features = self.features
        self.q_hat = np.zeros_like(self.q_hat)
        if not _sweep(
            self.tables.starts, self.tables.successors, self.counts, self.mdp.rewards, features.starts,
            features.columns, features.values, features.num_blocks, features.block_size, features.one_hot,
            *settings, streams, self.q_hat,
        ):  # fmt: skip
            return False
        self.policy = boltzmann(self.q_hat, np.zeros(self.q_hat.shape[:2]))
        return True


@kernel
def _count(
    starts: Any, successors: Any, states: Any, actions: Any, last_state: Any, num_actions: Any, counts: Any
) -> None:
    """Count each observed transition at its place among the successors of its pair, which ascend."""
    num_runs, steps = states.shape
    for run in range(num_runs):
        for t in range(steps):
            after = states[run, t + 1] if t + 1 < steps else last_state[run]
            pair = states[run, t] * num_actions + actions[run, t]
            low, high = starts[pair], starts[pair + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if successors[middle] < after:
                    low = middle + 1
                else:
                    high = middle
            counts[run, low] += 1.0


@kernel
def _sweep(
    starts: Any, successors: Any, counts: Any, rewards: Any, firsts: Any, columns: Any, values: Any, num_blocks: Any,
    block_size: Any, one_hot: Any, sweeps: Any, discount: Any, relative: Any, ridge: Any, variance: Any, streams: Any,
    q_hat: Any,
) -> Any:  # fmt: skip
    """A draw for every run. False if a regression is singular."""
    num_runs, num_states, num_actions = q_hat.shape
    visits = np.empty((num_states, num_actions))
    targets = np.empty((num_states, num_actions))
    best = np.empty(num_states)
    size = 0 if one_hot else block_size
    gram = np.empty((num_blocks, size, size))
    weights = np.empty((num_blocks, block_size))
    noise = np.empty((num_blocks, block_size))
    for run in range(num_runs):
        q = q_hat[run]
        _visits(starts, counts[run], visits)
        if not one_hot:
            fill_gram(visits, firsts, columns, values, gram)
            for block in range(num_blocks):
                gram[block] /= variance
                if not factorise(gram[block], ridge):
                    return False
        best[:] = 0.0
        for _ in range(sweeps):
            fill_normal(streams[run], noise.ravel())
            _targets(starts, successors, counts[run], visits, rewards, best, targets)
            fill_rhs(targets, firsts, columns, values, weights)
            weights /= variance
            if one_hot:  # Σ is diagonal
                for x in range(num_states):
                    for a in range(num_actions):
                        precision = visits[x, a] / variance + ridge
                        weights[a, x] = weights[a, x] / precision + noise[a, x] / math.sqrt(precision)
            else:
                for block in range(num_blocks):
                    solve_factorised(gram[block], weights[block])
                    solve_upper(gram[block], noise[block])
                weights += noise
            predict(weights, firsts, columns, values, q)
            total = 0.0
            visited = 0.0
            for x in range(num_states):
                best[x] = q[x].max()
                total += visits[x].sum() * best[x]
                visited += visits[x].sum()
            offset = total / visited if relative and visited > 0.0 else 0.0
            for x in range(num_states):
                best[x] = discount * (best[x] - offset)
    return True


@kernel
def _visits(starts: Any, counts: Any, visits: Any) -> None:
    """How often each pair was visited."""
    num_states, num_actions = visits.shape
    for x in range(num_states):
        for a in range(num_actions):
            pair = x * num_actions + a
            visits[x, a] = 0.0
            for j in range(starts[pair], starts[pair + 1]):
                visits[x, a] += counts[j]


@kernel
def _targets(starts: Any, successors: Any, counts: Any, visits: Any, rewards: Any, best: Any, targets: Any) -> None:
    """Σ_i b_i over the visits i of each pair, b_i = r_i + best(x'_i)."""
    num_states, num_actions = visits.shape
    for x in range(num_states):
        for a in range(num_actions):
            pair = x * num_actions + a
            targets[x, a] = visits[x, a] * rewards[x, a]
            if visits[x, a] > 0.0:
                for j in range(starts[pair], starts[pair + 1]):
                    if counts[j] > 0.0:
                        targets[x, a] += counts[j] * best[successors[j]]
