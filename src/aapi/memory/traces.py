"""All past data of a problem with finitely many states, as the sums that LSTD(λ) is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import matching
from aapi.errors import InvalidInput, TooLarge
from aapi.simulation.basis import Basis
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.features.active import ActiveFeatures
    from aapi.simulation import PhaseData, Simulation

__all__ = ["SumTraces", "Traces", "fade"]

MOST_BYTES, MOST_BATCH_BYTES = 200e6, 2e9  # of a run, and of all
TINY = 1e-290  # what fades below it is nothing: denormal numbers, which never quite vanish, take a hundred times longer


@dataclass(frozen=True)
class SumTraces:
    """Add up traces that fade by the factor `trace` in each step, over all phases; for tables."""

    trace: float = 0.0

    def start(self, simulation: Simulation) -> Traces:
        """All sums zero."""
        features = simulation.features
        if isinstance(features, Basis):
            raise InvalidInput(
                "sums over all data are for countable states, and these are observation vectors: take reuse='window'"
            )
        runs, num_states, _ = simulation.shape
        size = features.num_features
        count = 8.0 * size * (num_states + (size if self.trace > 0.0 else 0))
        if count > MOST_BYTES or runs * count > MOST_BATCH_BYTES:
            raise TooLarge(
                f"sums over all data, of {size} features and {num_states} states, would take {count / 1e6:.0f} MB "
                f"for each of {runs} runs: take reuse='window'"
            )
        return Traces(simulation.shape, features, float(self.trace))


class Traces:
    """Sums over all steps t of every run, with the trace z_t = λ z_{t−1} + φ(x_t, a_t), which phases do not break.

    visits: n(x, a), (runs, states, actions). earned: Σ z_t r_t; totals: Σ z_t; trace: the last z_t, (runs, features).
    arrivals: Σ e_{x_{t+1}} z_tᵀ, (runs, states, features). products: Σ φ_t z_tᵀ, (runs, features, features).
    If λ = 0, z_t = φ_t, and what follows from the visits is not kept: totals, trace and products are empty.
    conditioning, rank: of the equations that an evaluation made of the sums, (runs,), if it says.

    A policy π enters where it is evaluated: φ̄(x') = Σ_a π(a|x') φ(x', a) depends on x' alone, so Σ z_t φ̄(x_{t+1})ᵀ
    follows from the arrivals. That is exact for any π, whoever acted: E[r_t − λ_π + φ̄(x_{t+1})ᵀw − φ_tᵀw | x_t, a_t]
    is 0 where φᵀw = Q_π, whatever came before, so traces on tables need no importance weights.
    """

    SAVED = ("visits", "earned", "totals", "trace", "arrivals", "products")

    def __init__(self, shape: tuple[int, int, int], features: ActiveFeatures, decay: float) -> None:
        runs, num_states, _ = shape
        size, faded = features.num_features, features.num_features if decay > 0.0 else 0
        self.features, self.decay = features, decay
        self.visits = np.zeros(shape)
        self.earned, self.totals, self.trace = np.zeros((runs, size)), np.zeros((runs, faded)), np.zeros((runs, faded))
        self.arrivals, self.products = np.zeros((runs, num_states, size)), np.zeros((runs, faded, faded))
        self.conditioning: NDArray[np.float64] | None = None
        self.rank: NDArray[np.int64] | None = None

    def add(self, data: PhaseData, policy: Any) -> None:  # noqa: ARG002 - offered to all
        """Take in the steps of a phase."""
        features = self.features
        for run in range(len(self.visits)):
            _add(
                data.states[run], data.actions[run], data.rewards[run], data.last_state[run], self.decay,
                features.starts, features.columns, features.values, features.num_blocks, features.block_size,
                self.visits[run], self.earned[run], self.totals[run], self.trace[run], self.arrivals[run],
                self.products[run],
            )  # fmt: skip

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that has to be stored to go on later."""
        return {name: getattr(self, name) for name in self.SAVED}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""
        vars(self).update({name: matching(arrays, name, getattr(self, name)) for name in self.SAVED})


@kernel
def fade(trace: Any, decay: Any) -> None:
    """z ← λ z."""
    for j in range(trace.size):
        left = decay * trace[j]
        trace[j] = left if abs(left) > TINY else 0.0


@kernel
def _add(
    states: Any, actions: Any, rewards: Any, last_state: Any, decay: Any, starts: Any, columns: Any, values: Any,
    num_blocks: Any, block_size: Any, visits: Any, earned: Any, totals: Any, trace: Any, arrivals: Any, products: Any,
) -> None:  # fmt: skip
    """One run's steps. Without a trace, only the few features of a pair are touched."""
    steps, num_actions = rewards.size, visits.shape[1]
    for t in range(steps):
        x, a, reward = int(states[t]), int(actions[t]), rewards[t]
        to = arrivals[int(states[t + 1]) if t + 1 < steps else int(last_state)]
        pair, offset = x * num_actions + a, a * block_size if num_blocks > 1 else 0
        visits[x, a] += 1.0
        if decay == 0.0:
            for i in range(starts[pair], starts[pair + 1]):
                to[offset + columns[i]] += values[i]
                earned[offset + columns[i]] += values[i] * reward
        else:
            fade(trace, decay)
            for i in range(starts[pair], starts[pair + 1]):
                trace[offset + columns[i]] += values[i]
            for j in range(trace.size):
                to[j] += trace[j]
                totals[j] += trace[j]
                earned[j] += trace[j] * reward
            for i in range(starts[pair], starts[pair + 1]):
                value, row = values[i], products[offset + columns[i]]
                for j in range(trace.size):
                    row[j] += value * trace[j]
