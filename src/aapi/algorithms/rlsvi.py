"""RLSVI: randomised least-squares value iteration (Osband, Van Roy and Wen 2016), for tasks without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.algorithms.experience import Experience, Settings
from aapi.algorithms.policy_iteration import Phase, in_phases
from aapi.checks import at_least, finite, one_of
from aapi.evaluation.regression import factorise, fill_gram, predict, singular_regression, solve_lower, solve_upper
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
        weights = isinstance(simulation.features, Basis)
        history = Experience(simulation, int(self.memory)) if weights else Transitions(simulation)
        history.steps = int(self.phase_length)
        return history

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
        self.steps = 0  # of a phase

    @property
    def acting(self) -> Any:
        """The policy in use."""
        return self.policy

    def add(self, data: PhaseData) -> None:
        """Count the transitions of a phase."""
        starts, successors = self.tables.starts, self.tables.successors
        _count(starts, successors, data.states, data.actions, data.last_state, self.q_hat.shape[2], self.counts)
        self.phase += 1

    def draw(self, streams: NDArray[np.uint64], settings: Settings) -> bool:
        """Draw Q̂ for every run; false if a regression is singular."""
        features = self.features
        self.q_hat = np.zeros_like(self.q_hat)
        if not _draw(
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
def _draw(
    starts: Any, successors: Any, counts: Any, rewards: Any, firsts: Any, columns: Any, values: Any, num_blocks: Any,
    block_size: Any, one_hot: Any, sweeps: Any, discount: Any, relative: Any, ridge: Any, variance: Any, streams: Any,
    q_hat: Any,
) -> Any:  # fmt: skip
    """A draw for every run. False if a regression is singular.

    Much may never be visited, so sweeps go over the states and the transitions that were seen, and no others.
    """
    num_runs, num_states, num_actions = q_hat.shape
    visits, best = np.empty((num_states, num_actions)), np.empty(num_states)
    states, shares = np.empty(num_states, dtype=np.int64), np.empty(num_states)
    begins = np.empty(starts.size, dtype=np.int64)
    after, often = np.empty_like(successors), np.empty(successors.size)
    weights, noise = np.empty((num_blocks, block_size)), np.empty((num_blocks, block_size))
    factors = np.empty((num_blocks, block_size, 1 if one_hot else block_size))
    for run in range(num_runs):
        _list_transitions(starts, successors, counts[run], visits, begins, after, often)
        num_seen = _list_states(visits, after[: begins[-1]], states, shares)
        if not _fill_factors(visits, firsts, columns, values, one_hot, ridge, variance, factors):
            return False
        best[:] = 0.0
        for _ in range(sweeps):
            _fill_rhs(
                states[:num_seen], visits, rewards, begins, after, often, best, firsts, columns, values, variance,
                weights,
            )  # fmt: skip
            fill_normal(streams[run], noise.ravel())
            _solve(factors, one_hot, noise, weights)
            _fill_best(
                states[:num_seen], shares, num_actions, weights, firsts, columns, values, discount, relative, best
            )
        predict(weights, firsts, columns, values, q_hat[run])
    return True


@kernel
def _list_transitions(
    starts: Any, successors: Any, counts: Any, visits: Any, begins: Any, after: Any, often: Any
) -> None:
    """From begins[pair] on, the successors seen of each pair and how often each followed; and visits of the pair."""
    num_actions = visits.shape[1]
    seen = 0
    for pair in range(visits.size):
        begins[pair] = seen
        total = 0.0
        for j in range(starts[pair], starts[pair + 1]):
            if counts[j] > 0.0:
                after[seen], often[seen] = successors[j], counts[j]
                seen += 1
                total += counts[j]
        visits[pair // num_actions, pair % num_actions] = total
    begins[visits.size] = seen


@kernel
def _list_states(visits: Any, after: Any, states: Any, shares: Any) -> Any:
    """List the states seen, and their share of all visits: none if they were only arrived at. Returns their number."""
    seen = np.zeros(visits.shape[0], dtype=np.bool_)
    seen[after] = True
    total = visits.sum()
    count = 0
    for x in range(visits.shape[0]):
        visited = visits[x].sum()
        if seen[x] or visited > 0.0:
            states[count], shares[count] = x, visited / total
            count += 1
    return count


@kernel
def _fill_rhs(
    states: Any, visits: Any, rewards: Any, begins: Any, after: Any, often: Any, best: Any, firsts: Any, columns: Any,
    values: Any, variance: Any, rhs: Any,
) -> None:  # fmt: skip
    """Φᵀb/σ², b_i = r_i + best(x'_i). Long sums are taken in four parts, which need not wait for each other."""
    num_actions = visits.shape[1]
    rhs[:] = 0.0
    for x in states:
        for a in range(num_actions):
            pair = x * num_actions + a
            first, last = begins[pair], begins[pair + 1]
            if first == last:
                continue
            whole = last - (last - first) % 4
            s0, s1, s2, s3 = visits[x, a] * rewards[x, a], 0.0, 0.0, 0.0
            if whole > first:
                follow, times = after[first:whole], often[first:whole]
                for j in range(0, follow.size, 4):
                    s0 += times[j] * best[follow[j]]
                    s1 += times[j + 1] * best[follow[j + 1]]
                    s2 += times[j + 2] * best[follow[j + 2]]
                    s3 += times[j + 3] * best[follow[j + 3]]
            for j in range(whole, last):
                s0 += often[j] * best[after[j]]
            target = ((s0 + s1) + (s2 + s3)) / variance
            block = a if rhs.shape[0] > 1 else 0
            for j in range(firsts[pair], firsts[pair + 1]):
                rhs[block, columns[j]] += values[j] * target


@kernel
def _fill_factors(
    visits: Any, firsts: Any, columns: Any, values: Any, one_hot: Any, ridge: Any, variance: Any, factors: Any
) -> Any:
    """U with UᵀU = Σ⁻¹, block by block; its diagonal alone if that is all there is. False if Σ⁻¹ is singular."""
    if one_hot:
        for x in range(visits.shape[0]):
            for a in range(visits.shape[1]):
                factors[a, x, 0] = math.sqrt(visits[x, a] / variance + ridge)
        return True
    fill_gram(visits, firsts, columns, values, factors)
    factors /= variance
    sound = True
    for block in range(factors.shape[0]):
        sound = sound and factorise(factors[block], ridge)
    return sound


@kernel
def _solve(factors: Any, one_hot: Any, noise: Any, weights: Any) -> None:
    """From Φᵀb/σ² to a draw: U⁻¹(U⁻ᵀ Φᵀb/σ² + noise) has the mean Σ Φᵀb/σ² and the covariance Σ."""
    for block in range(weights.shape[0]):
        if one_hot:
            roots = factors[block, :, 0]
            for i in range(roots.size):
                weights[block, i] = (weights[block, i] / roots[i] + noise[block, i]) / roots[i]
        else:
            solve_lower(factors[block], weights[block])
            for i in range(weights.shape[1]):
                weights[block, i] += noise[block, i]
            solve_upper(factors[block], weights[block])


@kernel
def _fill_best(
    states: Any, shares: Any, num_actions: Any, weights: Any, firsts: Any, columns: Any, values: Any, discount: Any,
    relative: Any, best: Any,
) -> None:  # fmt: skip
    """max_a φ(x, a)ᵀθ̃ at the states seen, in the form that the next sweep adds to rewards."""
    mean = 0.0
    for i in range(states.size):
        top = -math.inf
        for a in range(num_actions):
            pair = states[i] * num_actions + a
            block = a if weights.shape[0] > 1 else 0
            value = 0.0
            for j in range(firsts[pair], firsts[pair + 1]):
                value += values[j] * weights[block, columns[j]]
            top = max(top, value)
        best[states[i]] = top
        mean += shares[i] * top
    offset = mean if relative else 0.0
    for x in states:
        best[x] = discount * (best[x] - offset)
