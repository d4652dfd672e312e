"""The last steps of every run as they were, whichever policies took them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, matching, within
from aapi.errors import InvalidInput
from aapi.simulation.basis import Basis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.simulation import PhaseData, Simulation

__all__ = ["KeepSteps", "Window", "chances_of"]


@dataclass(frozen=True)
class KeepSteps:
    """Keep the last `count` steps of each run; None: those that were added last, a phase.

    chances: keep, too, how likely each action was, which costs an evaluation of the policy at every step.
    """

    count: int | None
    chances: bool = False

    def start(self, simulation: Simulation) -> Window:
        """No step yet."""
        if self.count is not None:
            at_least(1, window=self.count)
        return Window(simulation, self.count, self.chances)


class Window:
    """Steps of every run in their order, (runs, steps): states, actions, rewards, and successors, the states after.

    states, successors: whole numbers for tables; for a `Basis` vectors, (runs, steps, dimension).
    chances: the probability with which each action was taken; (runs, 0) if that is not kept.
    conditioning, rank: of the equations that an evaluation made of the steps, (runs,), if it says.
    """

    def __init__(self, simulation: Simulation, count: int | None, chances: bool) -> None:
        runs, self._num_states, self._num_actions = simulation.shape
        self.features, self.count, self._keeps_chances = simulation.features, count, chances
        vectors = isinstance(self.features, Basis)
        self._state = np.empty(self.features.dimension) if vectors else np.empty((), dtype=np.int32)
        empty = np.empty((runs, 0, *self._state.shape), dtype=self._state.dtype)
        self.states: NDArray[Any] = empty
        self.successors: NDArray[Any] = empty
        self.actions = np.empty((runs, 0), dtype=np.int32)
        self.rewards = np.empty((runs, 0))
        self.chances = np.empty((runs, 0))
        self.conditioning: NDArray[np.float64] | None = None
        self.rank: NDArray[np.int64] | None = None

    def add(self, data: PhaseData, policy: Any) -> None:
        """Take in the steps of a phase, and forget the oldest."""
        successors = np.concatenate([data.states[:, 1:], data.last_state[:, None]], axis=1)
        new = {"states": data.states, "actions": data.actions, "rewards": data.rewards, "successors": successors}
        if self._keeps_chances:
            new["chances"] = chances_of(policy, self.features, data.states, data.actions)
        for name, added in new.items():
            held = getattr(self, name)
            both = added if self.count is None else np.concatenate([held, added], axis=1)[:, -self.count :]
            setattr(self, name, np.array(both, dtype=held.dtype, order="C"))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that has to be stored to go on later."""
        return {name: getattr(self, name) for name in ("states", "successors", "actions", "rewards", "chances")}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` gave."""
        runs, stored = len(self.rewards), arrays.get("rewards", np.empty(0))
        steps = stored.shape[-1] if stored.ndim else 0
        if self.count is not None and steps > self.count:
            raise InvalidInput(f"{steps} steps are more than the window of {self.count}")
        state = np.empty((runs, steps, *self._state.shape), dtype=self._state.dtype)
        shapes = {
            "states": state,
            "successors": state,
            "actions": np.empty((runs, steps), dtype=np.int32),
            "rewards": np.empty((runs, steps)),
            "chances": np.empty((runs, steps if self._keeps_chances else 0)),
        }
        kept = {name: matching(arrays, name, like) for name, like in shapes.items()}
        within(kept["actions"], self._num_actions, "actions")
        if not self._state.shape:
            within(kept["states"], self._num_states, "states")
            within(kept["successors"], self._num_states, "successors")
        if not ((kept["chances"] > 0.0) & (kept["chances"] <= 1.0 + 1e-9)).all():
            raise InvalidInput("chances must be probabilities of actions that were taken, above 0 and at most 1")
        vars(self).update(kept)


def chances_of(policy: Any, features: Any, states: NDArray[Any], actions: NDArray[np.int32]) -> NDArray[np.float64]:
    """π(a|x) of the actions at the states of every run, (runs, steps)."""
    if isinstance(features, Basis):
        everything = policy.probabilities(features, states)
        return np.asarray(np.take_along_axis(everything, actions[:, :, None], axis=2)[:, :, 0])
    return np.asarray(policy[np.arange(len(states))[:, None], states, actions])
