"""What the improvement step remembers of past Q-functions: their sum, and how surprising they were."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import one_of
from aapi.errors import InvalidInput
from aapi.improvement.boltzmann import boltzmann
from aapi.improvement.sampling import draw_sample, place_in_reservoir, reservoir_size, sample_scales, sample_size
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.improvement.side_information import SideInformation

__all__ = ["NORMS", "QHistory", "matching", "within"]

NORMS = ("sup", "span")


class QHistory:
    """Σ_s Q̂_s, M_k and (Σ_s ‖Q̂_s − M_s‖²)^½, for every run, state and action of a batch; and the policy they lead to.

    norm: `sup`, the paper's max_a |·|; or `span`, (max_a − min_a)/2, which like softmax is blind to constants.
    decay: what the sum keeps of the past in each phase: 1 for follow-the-leader, 0 for greedy policy iteration.
    num_sampled: how many past surprises the learning rate samples in each phase; None: it does not sample.
    num_phases: how many there will be, if that is known.

    Its size does not grow with the number of phases.
    """

    SAVED: tuple[str, ...] = ("total", "q_hat", "side_information", "surprise", "root_sum", "surprises", "policy")

    def __init__(
        self, shape: tuple[int, int, int], num_phases: int | None, streams: NDArray[np.uint64], *,
        norm: str = "sup", decay: float = 1.0, num_sampled: int | None = None,
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
        self._allocate(shape, num_sampled)

    def _allocate(self, shape: tuple[int, int, int], num_sampled: int | None) -> None:
        self.surprise = np.zeros(shape[:2])  # ‖Q̂_k − M_k‖
        self.root_sum = np.zeros(shape[:2])  # (Σ_{s≤k} ‖Q̂_s − M_s‖²)^½
        size = reservoir_size(num_sampled, self.num_phases) if num_sampled else 0
        self.surprises = np.zeros((size, *shape[:2]))  # some of ‖Q̂_s − M_s‖, s ≤ k
        self.policy: Any = np.full(shape, 1.0 / shape[2])  # π_1; π_{k+1} after `improve`

    def add(self, q_hat: NDArray[np.float64]) -> None:
        """Take in Q̂_k."""
        self.q_hat = _table(q_hat, self.total.shape, "an evaluation").copy()  # its array may be used again
        self.phase += 1
        if not self._measure():
            raise InvalidInput(f"the evaluation of phase {self.phase} returned a value that is not a finite number")

    def _measure(self) -> bool:
        """Update the sum of Q-functions and what is remembered of surprises; false if a value is not finite."""
        self.surprise = np.empty_like(self.surprise)  # a new array each time: whoever keeps the last one may
        finite: bool = _accumulate(
            self.q_hat, self.side_information, self.norm == "span", self.decay, self.total, self.surprise, self.root_sum
        )
        if len(self.surprises):
            places = place_in_reservoir(self.phase, len(self.surprises), self.streams)
            runs = np.flatnonzero(places >= 0)
            self.surprises[places[runs], runs] = self.surprise[runs]
        return finite

    def predict(self, side_information: SideInformation) -> None:
        """Set M_{k+1}."""
        self.side_information = _table(side_information(self), self.total.shape, "side information")

    def improve(self, temperature: Any) -> None:
        """Set π_{k+1}, given η_k."""
        self.policy = boltzmann(self.index, temperature)

    @property
    def index(self) -> NDArray[np.float64]:
        """Σ_{s≤k} Q̂_s + M_{k+1}."""
        return self.total + self.side_information

    def constant_temperature(self, value: float) -> Any:
        """The same temperature everywhere."""
        return np.full(self.root_sum.shape, value)

    def adaptive_temperature(self, eta: float) -> Any:
        """η (2 Σ_{s≤k} ‖Q̂_s − M_s‖²)^½ in every state."""
        return eta * math.sqrt(2.0) * self.root_sum

    def sampled_temperature(self, eta: float, num_sampled: int, keep_first: bool) -> Any:
        """An estimate of that from a few past surprises."""
        count = sample_size(self.phase, num_sampled, len(self.surprises))
        sample = draw_sample(self.phase, len(self.surprises), count, keep_first, self.streams)
        temperature = np.empty_like(self.root_sum)
        _sampled_root(self.surprises, sample, sample_scales(self.phase, count, keep_first), temperature)
        return eta * math.sqrt(2.0) * temperature

    def greedy_policy(self) -> Any:
        """The policy that takes the most likely action of π_{k+1}, or one of them."""
        return np.eye(self.total.shape[2])[self.policy.argmax(axis=2)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that has to be stored to go on later."""
        return {name: getattr(self, name) for name in self.SAVED} | {"phase": np.array(self.phase)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""
        for name in self.SAVED:
            setattr(self, name, matching(arrays, name, getattr(self, name)))
        self.phase = int(matching(arrays, "phase", np.array(self.phase)))
        if isinstance(self.policy, np.ndarray) and not (
            self.policy.min() >= 0.0 and abs(self.policy.sum(axis=2) - 1.0).max() <= 1e-9
        ):
            raise InvalidInput("policy must be probabilities, which sum to one over the actions")


def matching(arrays: dict[str, NDArray[Any]], name: str, like: NDArray[Any]) -> NDArray[Any]:
    """The stored array of that name, which must have the shape and type of the one it replaces."""
    array = arrays.get(name)
    if array is None or array.shape != like.shape or array.dtype != like.dtype:
        found = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        raise InvalidInput(f"{name} must be {like.dtype} of shape {like.shape}, and {found} was stored")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInput(f"{name} holds a value that is not a finite number")
    return np.array(array)


def _table(values: NDArray[np.float64], shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """What a part returned, as kernels need it: they check nothing."""
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.shape != shape:
        raise InvalidInput(f"{what} must return an array of shape {shape}, (runs, states, actions), not {table.shape}")
    return table


def within(array: NDArray[Any], count: int, name: str) -> None:
    """Raise an error unless all numbers lie in 0 … count − 1."""
    if array.size and not (array.min() >= 0 and array.max() < count):
        raise InvalidInput(f"{name} must lie in 0..{count - 1}, and holds {array.min()} to {array.max()}")


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


@kernel
def _sampled_root(surprises: Any, sample: Any, scales: Any, out: Any) -> None:
    """(Σ_{s in sample} (scale_s surprise_s)²)^½ for every run and state, without squares that over- or underflow."""
    num_runs, num_states = out.shape
    for run in range(num_runs):
        for x in range(num_states):
            largest = 0.0
            for i in range(sample.shape[1]):
                largest = max(largest, scales[i] * surprises[sample[run, i], run, x])
            total = 0.0
            if largest > 0.0:
                for i in range(sample.shape[1]):
                    ratio = scales[i] * surprises[sample[run, i], run, x] / largest
                    total += ratio * ratio
            out[run, x] = largest * math.sqrt(total)
