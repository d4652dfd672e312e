"""All past data of a problem with finitely many states, as the sums that LSTD(λ) is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.approximation.projected_equations import equations_of_sums, fade
from aapi.approximation.space import NOT_STORED
from aapi.errors import InvalidInput, TooLarge
from aapi.kernels.jit import kernel
from aapi.memory.memory import LinearMemory, MemorySpec, successor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.approximation import Policy, QSpace, Tabular
    from aapi.approximation.projected_equations import Equations
    from aapi.array_types import Array
    from aapi.features.active import ActiveFeatures
    from aapi.simulation import PhaseData


MOST_BYTES, MOST_BATCH_BYTES = 200e6, 2e9  # of a run, and of all


@dataclass(frozen=True)
class SumTraces(MemorySpec["Traces"]):
    """Add up traces that fade by the factor `trace` in each step, over all phases; where states can be counted."""

    trace: float = 0.0

    def start(self, space: QSpace, runs: int) -> Traces:
        """All sums zero."""
        space.require_countable("sums over all data (reuse='window' would do without) need")
        features, num_states = cast("Tabular", space).features, space.rows
        size, faded = features.num_features, features.num_features if self.trace > 0.0 else 0
        count = 8.0 * size * (num_states + faded)
        if count > MOST_BYTES or runs * count > MOST_BATCH_BYTES:
            raise TooLarge(
                f"sums over all data, of {size} features and {num_states} states, would take {count / 1e6:.0f} MB "
                f"for each of {runs} runs: take reuse='window'"
            )
        return Traces(
            features, float(self.trace), np.zeros(space.shape(runs)), np.zeros((runs, size)), np.zeros((runs, faded)),
            np.zeros((runs, space.copies * faded)), np.zeros((runs, num_states, size)),
            np.zeros((runs, faded, faded)),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Traces(LinearMemory):
    """Sums over all steps t of every run, with the trace z_t = λ z_{t−1} + φ(x_t, a_t), which phases do not break.

    visits: n(x, a), (runs, states, actions). earned: Σ z_t r_t; totals: Σ z_t, (runs, features).
    trace: the last z_t of each copy of the environment that a run goes round, (runs, copies · features).
    arrivals: Σ e_{x_{t+1}} z_tᵀ, (runs, states, features). products: Σ φ_t z_tᵀ, (runs, features, features).
    If λ = 0, z_t = φ_t, and what follows from the visits is not kept: totals, trace and products are empty.

    A policy π enters where it is evaluated: φ̄(x') = Σ_a π(a|x') φ(x', a) depends on x' alone, so Σ z_t φ̄(x_{t+1})ᵀ
    follows from the arrivals. That is exact for any π, whoever acted: E[r_t − λ_π + φ̄(x_{t+1})ᵀw − φ_tᵀw | x_t, a_t]
    is 0 where φᵀw = Q_π, whatever came before, so traces on tables need no importance weights.
    """

    features: ActiveFeatures = field(metadata=NOT_STORED)
    decay: float = field(metadata=NOT_STORED)
    visits: Array
    earned: Array
    totals: Array
    trace: Array
    arrivals: Array
    products: Array

    def add(self, data: PhaseData, policy: Policy) -> Traces:  # noqa: ARG002 - offered to all
        """Take in the steps of a phase, in the room of the sums before."""
        if self.decay > 0.0 and data.copies * self.earned.shape[1] != self.trace.shape[1]:
            raise InvalidInput("traces need steps in the order of time: sort the log, or evaluate with trace=0")
        for run in range(len(self.visits)):
            _add(
                data.states[run], data.actions[run], data.rewards[run], data.last_states[run], self.decay,
                self.features, self.visits[run], self.earned[run], self.totals[run],
                self.trace[run].reshape(data.copies, -1), self.arrivals[run], self.products[run],
            )  # fmt: skip
        return self

    def equations(self, policy: Policy, trace: float) -> Iterator[Equations]:  # noqa: ARG002 - in the sums already
        """The projected equations of a policy, run by run."""
        table = np.ascontiguousarray(policy)
        for run, visits in enumerate(self.visits):
            yield equations_of_sums(
                self.features, table[run], visits, self.earned[run], self.totals[run], self.arrivals[run],
                self.products[run],
            )  # fmt: skip


@kernel
def _add(
    states: Any, actions: Any, rewards: Any, last_states: Any, decay: Any, features: Any, visits: Any, earned: Any,
    totals: Any, traces: Any, arrivals: Any, products: Any,
) -> None:  # fmt: skip
    """One run's steps. Without a trace, only the few features of a pair are touched."""
    steps, num_actions, copies = rewards.size, visits.shape[1], last_states.size
    starts, columns, values = features.starts, features.columns, features.values
    stride = features.block_size if features.num_blocks > 1 else 0  # from the features of an action to the next's
    for t in range(steps):
        x, a, reward = int(states[t]), int(actions[t]), rewards[t]
        to = arrivals[successor(states, last_states, t)]
        pair, offset = x * num_actions + a, a * stride
        visits[x, a] += 1.0
        if decay == 0.0:
            for i in range(starts[pair], starts[pair + 1]):
                to[offset + columns[i]] += values[i]
                earned[offset + columns[i]] += values[i] * reward
        else:
            trace = traces[t % copies]
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
