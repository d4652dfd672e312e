"""What LSTD and LSPE share: the data they take, and how weights become a Q-function."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.approximation.projected_equations import check_size, rank_of
from aapi.checks import at_least, finite, one_of
from aapi.errors import InvalidInput
from aapi.evaluation.evaluation import Estimate, Evaluation
from aapi.memory import KeepSteps, SumTraces

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.approximation.projected_equations import Equations
    from aapi.array_types import Array
    from aapi.memory import Experience, LinearMemory, MemorySpec


REUSE = ("all", "window", "phase")


@dataclass(frozen=True)
class Projected(Evaluation):
    """Q̂ = φᵀw, where w solves the projected equations; see `LSTD`.

    trace: λ, from 0 to below 1. ridge: ℓ2 penalty of the regression. reuse: the data of all phases, of a window, or of
    the last phase. window: how many of the last steps are used.
    """

    trace: float = 0.0
    ridge: float = 0.1
    reuse: str = "all"
    window: int = 10_000
    off_policy = True

    @property
    def memory(self) -> MemorySpec[LinearMemory]:
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

    def for_space(self, space: QSpace) -> Evaluation:
        """Where the equations of all features fit into memory."""
        check_size(space.num_features)
        return self

    def __call__(self, policy: Policy, seen: Experience) -> Estimate:
        """Q̂_k, with the conditioning of its equations."""
        space, data = seen.space, seen.recall(self.memory)
        q_hat, conditioning = space.zeros(seen.runs), np.empty(seen.runs)
        rank = np.empty(seen.runs, dtype=np.int64)
        for run, equations in enumerate(data.equations(policy, float(self.trace))):
            rank[run] = rank_of(equations.gram)
            weights, conditioning[run] = self._solve(equations)
            q_hat[run] = space.from_weights(weights.reshape(len(equations.gram), -1))
        return Estimate(q_hat, conditioning, rank)

    @abstractmethod
    def _solve(self, equations: Equations) -> tuple[Array, float]:
        """The weights of one run, and how well they are determined."""
