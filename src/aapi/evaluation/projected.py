"""What LSTD and LSPE share: the data they take, and how weights become a Q-function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite, one_of
from aapi.errors import InvalidInput
from aapi.evaluation.equations import projected_equations, rank_of
from aapi.evaluation.regression import predict
from aapi.memory import KeepSteps, SumTraces
from aapi.simulation.basis import Basis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.evaluation.equations import Equations
    from aapi.memory import Remembers, Traces, Window
    from aapi.simulation import Simulation

__all__ = ["Projected"]

REUSE = ("all", "window", "phase")


@dataclass(frozen=True)
class Projected:
    """Q̂ = φᵀw, where w solves the projected equations; see `LSTD`."""

    trace: float = 0.0
    ridge: float = 0.1
    reuse: str = "all"
    window: int = 10_000
    off_policy = True

    @property
    def remembers(self) -> Remembers:
        """Sums over all phases, or the steps of some."""
        if self.reuse == "all":
            return SumTraces(float(self.trace))
        return KeepSteps(self.window if self.reuse == "window" else None)

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""
        finite(0.0, trace=self.trace, ridge=self.ridge)
        if self.trace >= 1.0:
            raise InvalidInput(f"trace must be below 1, not {self.trace!r}")
        one_of(REUSE, reuse=self.reuse)
        at_least(1, window=self.window)

    def __call__(self, simulation: Simulation, policy: Any, data: Traces | Window) -> NDArray[np.float64]:
        """Q̂_k, of shape (runs, states, actions); or its weights, (runs, features, actions)."""
        features, q_hat = simulation.features, np.empty(simulation.shape)
        conditioning, rank = np.empty(len(q_hat)), np.empty(len(q_hat), dtype=np.int64)
        for run, equations in enumerate(projected_equations(simulation, policy, data, float(self.trace))):
            rank[run] = rank_of(equations.gram)
            weights, conditioning[run] = self._solve(equations)
            blocks = weights.reshape(len(equations.gram), -1)
            if isinstance(features, Basis):
                q_hat[run] = blocks.T
            else:
                predict(blocks, features.starts, features.columns, features.values, q_hat[run])
        data.conditioning, data.rank = conditioning, rank
        return q_hat

    def _solve(self, equations: Equations) -> tuple[NDArray[np.float64], float]:
        """The weights of one run, and how well they are determined."""
        raise NotImplementedError
