"""The history of Q-functions that are linear in features: sums of weights, and a sample of their differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import matching
from aapi.errors import InvalidInput
from aapi.improvement.history import QHistory
from aapi.improvement.sampling import draw_sample, place_in_reservoir, reservoir_size, sample_scales, sample_size
from aapi.simulation.basis import Basis
from aapi.simulation.linear_policy import LANES, LinearPolicy, aligned_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LinearHistory", "LinearTemperature", "new_history"]

DEFAULT_SAMPLED = 30  # the paper's n_k for large state spaces


@dataclass(frozen=True, eq=False)
class LinearTemperature:
    """constant + (Σ_s ‖ψ(x)ᵀ differences_s‖²)^½; see `LinearPolicy`."""

    constant: NDArray[np.float64]
    differences: NDArray[np.float64]


class LinearHistory(QHistory):
    """Q̂ = ψᵀw: everything is about weights, of shape (runs, features, actions).

    Only the temperature needs more than sums: some of the differences w_s − (weights of M_s) are kept for it.
    """

    SAVED: tuple[str, ...] = ("total", "q_hat", "side_information", "differences")

    def _allocate(self, shape: tuple[int, int, int], num_sampled: int | None) -> None:
        runs, num_features, num_actions = shape
        wanted = DEFAULT_SAMPLED if num_sampled is None else num_sampled
        size = reservoir_size(wanted, self.num_phases) if wanted else 0
        self.differences = np.zeros((runs, size, num_features, num_actions))
        self.policy: LinearPolicy = LinearPolicy(
            np.zeros((runs, num_actions, num_features)), np.zeros(runs), aligned_zeros(runs, num_features, 0),
            self.norm == "span",
        )  # fmt: skip

    def _measure(self) -> bool:
        self.total *= self.decay
        self.total += self.weight * self.q_hat
        size = self.differences.shape[1]
        if size:
            places = place_in_reservoir(self.phase, size, self.streams)
            runs = np.flatnonzero(places >= 0)
            self.differences[runs, places[runs]] = self.weight * (self.q_hat - self.side_information)[runs]
        return bool(np.isfinite(self.total).all())

    def constant_temperature(self, value: float) -> Any:
        """The same temperature everywhere, (runs,)."""
        return np.full(len(self.total), value)

    def adaptive_temperature(self, eta: float) -> Any:
        """A sampled estimate; to be exact would take every difference there ever was."""
        return self.sampled_temperature(eta, DEFAULT_SAMPLED, keep_first=False)

    def sampled_temperature(self, eta: float, num_sampled: int, keep_first: bool) -> Any:
        """The differences of a fresh sample, scaled so that the root of their squares' sum is the temperature."""
        runs, size, num_features, num_actions = self.differences.shape
        count = sample_size(self.phase, num_sampled, size)
        sample = draw_sample(self.phase, size, count, keep_first, self.streams)
        scales = eta * math.sqrt(2.0) * sample_scales(self.phase, count, keep_first)
        differences = aligned_zeros(runs, num_features, count * num_actions)
        for run in range(runs):
            chosen = scales[:, None, None] * self.differences[run, sample[run]]  # (count, features, actions)
            differences[run, :, : count * num_actions] = chosen.transpose(1, 0, 2).reshape(num_features, -1)
        return LinearTemperature(np.zeros(runs), differences)

    def leader(self, prediction: NDArray[np.float64]) -> LinearPolicy:
        """The policy that follows Σ_{s≤k} Q̂_s and a prediction of Q̂_{k+1}.

        At the present temperature: what a rate of this library returns, or one number ≥ 0 for each run.
        """
        runs, num_features, _ = self.total.shape
        temperature = self.temperature
        if not isinstance(temperature, LinearTemperature):
            constant = np.ascontiguousarray(temperature, dtype=np.float64)
            if constant.shape != (runs,) or not constant.min() >= 0.0:
                raise InvalidInput(f"where Q-functions are weights, a learning rate returns {runs} temperatures ≥ 0")
            temperature = LinearTemperature(constant, aligned_zeros(runs, num_features, 0))
        index = np.ascontiguousarray((self.total + self.weight * prediction).transpose(0, 2, 1))
        if not np.isfinite(index).all():
            raise InvalidInput("the sum of Q-functions is no longer finite: scale the rewards down")
        return LinearPolicy(index, temperature.constant, temperature.differences, self.norm == "span")

    def greedy_policy(self) -> LinearPolicy:
        """The policy that takes the most likely action of π_{k+1}; ties share."""
        return self.policy.greedy()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that has to be stored to go on later."""
        kept = self.differences[:, : self.phase]  # the rest is still empty
        policy = {f"policy_{name}": getattr(self.policy, name) for name in ("index", "constant", "differences")}
        return super().arrays() | {"differences": kept} | policy

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""
        self.phase = int(matching(arrays, "phase", np.array(self.phase)))
        kept = matching(arrays, "differences", self.differences[:, : self.phase])
        everything = np.zeros_like(self.differences)
        everything[:, : self.phase] = kept
        super().restore(arrays | {"differences": everything})
        index = matching(arrays, "policy_index", self.policy.index)
        constant = matching(arrays, "policy_constant", self.policy.constant)
        if not constant.min() >= 0.0:
            raise InvalidInput(f"policy_constant must be at least 0, not {constant.min()}")
        stored = arrays.get("policy_differences", np.empty(0))
        runs, num_features, num_actions = self.total.shape
        most = -(-num_actions * self.differences.shape[1] // LANES) * LANES
        if stored.ndim != 3 or stored.shape[:2] != (runs, num_features) or stored.shape[2] > most:
            raise InvalidInput(f"policy_differences cannot be of shape {stored.shape}")
        differences = aligned_zeros(runs, num_features, stored.shape[2])
        differences[:] = matching(arrays, "policy_differences", np.empty(differences.shape))
        self.policy = LinearPolicy(index, constant, differences, self.norm == "span")


def new_history(
    simulation: Any, num_phases: int | None, *, norm: str, decay: float, num_sampled: int | None,
    memories: dict[Any, Any] | None = None,
) -> QHistory:  # fmt: skip
    """A history in the form that the simulation's features ask for: weights for a `Basis`, else tables."""
    form = LinearHistory if isinstance(simulation.features, Basis) else QHistory
    return form(
        simulation.shape, num_phases, simulation.streams, norm=norm, decay=decay, num_sampled=num_sampled,
        memories=memories,
    )  # fmt: skip
