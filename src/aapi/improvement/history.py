"""What the improvement step remembers of past Q-functions: their sum, and how surprising they were."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import one_of
from aapi.errors import InvalidInput
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.improvement.side_information import SideInformation

__all__ = ["NORMS", "QHistory"]

NORMS = ("sup", "span")


class QHistory:
    """Σ_s Q̂_s, M_k and (Σ_s ‖Q̂_s − M_s‖²)^½, for every run, state and action of a batch.

    norm: `sup`, the paper's max_a |·|; or `span`, (max_a − min_a)/2, which like softmax is blind to constants.
    decay: what the sum keeps of the past in each phase: 1 for follow-the-leader, 0 for greedy policy iteration.
    keep_surprises: keep every phase's surprise, (phases, runs, states), for learning rates that sample from them.
    """

    def __init__(
        self, shape: tuple[int, int, int], num_phases: int, streams: NDArray[np.uint64], *,
        norm: str = "sup", decay: float = 1.0, keep_surprises: bool = False,
    ) -> None:  # fmt: skip
        one_of(NORMS, norm=norm)
        self.norm = norm
        self.decay = decay
        self.num_phases = num_phases
        self.streams = streams
        self.phase = 0  # k
        self.total = np.zeros(shape)  # Σ_{s≤k} Q̂_s
        self.q_hat = np.zeros(shape)  # Q̂_k
        self.side_information = np.zeros(shape)  # M_k, with M_1 = 0; M_{k+1} after `predict`
        self.surprise = np.zeros(shape[:2])  # ‖Q̂_k − M_k‖
        self.root_sum = np.zeros(shape[:2])  # (Σ_{s≤k} ‖Q̂_s − M_s‖²)^½
        self.surprises = np.zeros((num_phases if keep_surprises else 0, *shape[:2]))

    def add(self, q_hat: NDArray[np.float64]) -> None:
        """Take in Q̂_k."""
        self.q_hat = _table(q_hat, self.total.shape, "an evaluation").copy()  # its array may be used again
        self.surprise = np.empty_like(self.surprise)  # a new array each time: whoever keeps the last one may
        if not _accumulate(
            self.q_hat, self.side_information, self.norm == "span", self.decay, self.total, self.surprise, self.root_sum
        ):
            raise InvalidInput(f"the evaluation of phase {self.phase + 1} returned a value that is not a finite number")
        if len(self.surprises):
            self.surprises[self.phase] = self.surprise
        self.phase += 1

    def predict(self, side_information: SideInformation) -> None:
        """Set M_{k+1}."""
        self.side_information = _table(side_information(self), self.total.shape, "side information")

    @property
    def index(self) -> NDArray[np.float64]:
        """Σ_{s≤k} Q̂_s + M_{k+1}."""
        return self.total + self.side_information


def _table(values: NDArray[np.float64], shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """What a part returned, as kernels need it: they check nothing."""
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.shape != shape:
        raise InvalidInput(f"{what} must return an array of shape {shape}, (runs, states, actions), not {table.shape}")
    return table


@kernel
def _accumulate(q_hat: Any, predicted: Any, span: Any, decay: Any, total: Any, surprise: Any, root_sum: Any) -> Any:
    """Update sums and surprise; false if a value is not finite."""
    num_runs, num_states, num_actions = q_hat.shape
    for run in range(num_runs):
        for x in range(num_states):
            low = high = q_hat[run, x, 0] - predicted[run, x, 0]
            for a in range(num_actions):
                value = q_hat[run, x, a]
                difference = value - predicted[run, x, a]
                low = min(low, difference)
                high = max(high, difference)
                total[run, x, a] = decay * total[run, x, a] + value
            size = 0.5 * (high - low) if span else max(high, -low)
            surprise[run, x] = size
            # √(a² + b²) without the squares, which would over- or underflow long before Q̂ does.
            larger, smaller = max(root_sum[run, x], size), min(root_sum[run, x], size)
            if larger > 0.0:
                ratio = smaller / larger
                root_sum[run, x] = larger * math.sqrt(1.0 + ratio * ratio)
            if not size < math.inf:
                return False
    return True
