"""What Algorithm 1 asks of a policy evaluation, the paper's G."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["Evaluation", "chosen", "estimate"]


class Evaluation(Protocol):
    """G: an estimate of Q_π for every run of a batch.

    A part that looks back beyond the phase says so by an attribute `remembers`; one that can evaluate any policy, not
    only the one that made the data, by `off_policy = True`.
    """

    def check(self, phase_length: int) -> None:
        """Raise an error if phases of this length cannot be evaluated."""

    def __call__(self, simulation: Simulation, policy: Any, data: Any) -> NDArray[np.float64]:
        """Q̂_k: an array of `simulation.shape`, a table or weights for every run.

        data: the `PhaseData` of the phase; or, for a part that `remembers`, the memory, which holds D_1 … D_k.
        """


def chosen(evaluate: Any, simulation: Simulation) -> Any:
    """The evaluation itself, where it is one that chooses another by what it has to do with."""
    while hasattr(evaluate, "choose"):
        evaluate = evaluate.choose(simulation)
    return evaluate


def estimate(evaluate: Any, simulation: Simulation, policy: Any, data: PhaseData) -> NDArray[np.float64]:
    """Q̂ from one phase, without a past."""
    evaluate = chosen(evaluate, simulation)
    wish = getattr(evaluate, "remembers", None)
    seen: Any = data
    if wish is not None:
        seen = wish.start(simulation)
        seen.add(data, policy)
    found: NDArray[np.float64] = evaluate(simulation, policy, seen)
    return found
