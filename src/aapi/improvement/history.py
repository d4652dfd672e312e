"""What the improvement step remembers of past Q-functions: their sum, and how surprising they were."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import matching, one_of
from aapi.errors import InvalidInput
from aapi.improvement.boltzmann import boltzmann
from aapi.improvement.sampling import draw_sample, place_in_reservoir, reservoir_size, sample_scales, sample_size
from aapi.simulation.jit import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.improvement.side_information import SideInformation
    from aapi.simulation import PhaseData

__all__ = ["NORMS", "QHistory"]

NORMS = ("sup", "span")


class QHistory:
    """Σ_s Q̂_s, M_k and (Σ_s ‖Q̂_s − M_s‖²)^½, for every run, state and action of a batch; and the policy they lead to.

    norm: `sup`, the paper's max_a |·|; or `span`, (max_a − min_a)/2, which like softmax is blind to constants.
    decay: what the sum keeps of the past in each phase: 1 for follow-the-leader, 0 for greedy policy iteration.
    num_sampled: how many past surprises the learning rate samples in each phase; None: it does not sample.
    num_phases: how many there will be, if that is known.
    memories: what else parts want to be remembered of the past: a `Memory` for each wish.

    The policy in use is `acting`, for `steps` steps: π_k, or, before it, what `exploring` runs do.
    Its size does not grow with the number of phases.
    """

    SAVED: tuple[str, ...] = ("total", "q_hat", "side_information", "surprise", "root_sum", "surprises", "policy")

    def __init__(
        self, shape: tuple[int, int, int], num_phases: int | None, streams: NDArray[np.uint64], *,
        norm: str = "sup", decay: float = 1.0, num_sampled: int | None = None,
        memories: dict[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        one_of(NORMS, norm=norm)
        self.norm = norm
        self.decay = decay
        self.num_phases = num_phases
        self.streams = streams
        self.phase = 0  # k
        self.temperature: Any = None  # η_k
        self.total = np.zeros(shape)  # Σ_{s≤k} Q̂_s
        self.q_hat = np.zeros(shape)  # Q̂_k
        self.side_information = np.zeros(shape)  # M_k, with M_1 = 0; M_{k+1} after `predict`
        self.weight = 1.0  # what M_{k+1} counts, the length of its phase as a multiple of the first one's
        self.memories = memories or {}
        self.steps = 0  # of the stretch under way
        self.exploration: Any = None  # policies, if that is an exploration
        self.exploring = np.zeros(shape[0], dtype=bool)  # the runs that explore in it
        self._allocate(shape, num_sampled)

    def _allocate(self, shape: tuple[int, int, int], num_sampled: int | None) -> None:
        self.surprise = np.zeros(shape[:2])  # ‖Q̂_k − M_k‖
        self.root_sum = np.zeros(shape[:2])  # (Σ_{s≤k} ‖Q̂_s − M_s‖²)^½
        size = reservoir_size(num_sampled, self.num_phases) if num_sampled else 0
        self.surprises = np.zeros((size, *shape[:2]))  # some of ‖Q̂_s − M_s‖, s ≤ k
        self.policy: Any = np.full(shape, 1.0 / shape[2])  # π_1; π_{k+1} after `improve`

    @property
    def acting(self) -> Any:
        """The policy of the stretch under way."""
        return self.policy if self.exploration is None else self.exploration

    def remember(self, data: PhaseData) -> None:
        """Take in what happened under the acting policy."""
        for memory in self.memories.values():
            memory.add(data, self.acting)

    def add(self, q_hat: NDArray[np.float64]) -> None:
        """Take in Q̂_k, which counts `weight`."""
        self.q_hat = _table(q_hat, self.total.shape, "an evaluation").copy()  # its array may be used again
        self.phase += 1
        if not self._measure():
            raise InvalidInput(f"the evaluation of phase {self.phase} returned a value that is not a finite number")

    def _measure(self) -> bool:
        """Update the sum of Q-functions and what is remembered of surprises; false if a value is not finite."""
        self.surprise = np.empty_like(self.surprise)  # a new array each time: whoever keeps the last one may
        finite: bool = _accumulate(
            self.q_hat, self.side_information, self.norm == "span", self.decay, self.weight, self.total, self.surprise,
            self.root_sum,
        )  # fmt: skip
        if len(self.surprises):
            places = place_in_reservoir(self.phase, len(self.surprises), self.streams)
            runs = np.flatnonzero(places >= 0)
            self.surprises[places[runs], runs] = self.surprise[runs]
        return finite

    def predict(
        self, side_information: SideInformation, evaluate: Callable[[Any], NDArray[np.float64]] | None = None
    ) -> None:
        """Set M_{k+1}. evaluate: estimates the Q-function of any policy, where that can be done."""
        self.side_information = _table(side_information(self, evaluate), self.total.shape, "side information")

    def improve(self, temperature: Any) -> None:
        """Set π_{k+1}, given η_k."""
        self.temperature = temperature
        self.policy = self.leader(self.side_information)

    @property
    def index(self) -> NDArray[np.float64]:
        """Σ_{s≤k} Q̂_s + M_{k+1}."""
        return self.total + self.weight * self.side_information

    def leader(self, prediction: NDArray[np.float64]) -> Any:
        """The policy that follows Σ_{s≤k} Q̂_s and a prediction of Q̂_{k+1}, at the present temperature."""
        return boltzmann(self.total + self.weight * prediction, self.temperature)

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
        kept = {name: getattr(self, name) for name in self.SAVED} | {"phase": np.array(self.phase)}
        if self.exploration is not None:
            kept |= {"exploration": self.exploration, "exploring": self.exploring}
        for number, memory in enumerate(self.memories.values()):
            kept |= {f"memory_{number}_{name}": array for name, array in memory.arrays().items()}
        return kept

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave. Steps and weight are for the algorithm to set."""
        for name in self.SAVED:
            setattr(self, name, matching(arrays, name, getattr(self, name)))
        self.phase = int(matching(arrays, "phase", np.array(self.phase)))
        if "exploration" in arrays:
            self.exploring = matching(arrays, "exploring", self.exploring)
            self.exploration = matching(arrays, "exploration", np.empty(self.total.shape))
        for policy in (self.policy, self.exploration):
            if isinstance(policy, np.ndarray) and not (
                policy.min() >= 0.0 and abs(policy.sum(axis=2) - 1.0).max() <= 1e-9
            ):
                raise InvalidInput("policy must be probabilities, which sum to one over the actions")
        for number, memory in enumerate(self.memories.values()):
            start = f"memory_{number}_"
            memory.restore({name.removeprefix(start): arrays[name] for name in arrays if name.startswith(start)})


def _table(values: NDArray[np.float64], shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """What a part returned, as kernels need it: they check nothing."""
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.shape != shape:
        raise InvalidInput(f"{what} must return an array of shape {shape}, (runs, states, actions), not {table.shape}")
    return table


@kernel
def _accumulate(
    q_hat: Any, predicted: Any, span: Any, decay: Any, weight: Any, total: Any, surprise: Any, root_sum: Any
) -> Any:
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
                total[run, x, a] = decay * total[run, x, a] + weight * value
            size = weight * (0.5 * (high - low) if span else max(high, -low))
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
