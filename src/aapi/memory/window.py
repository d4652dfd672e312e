"""The last steps of every run as they were, whichever policies took them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, check_indices, check_like
from aapi.errors import InvalidInput
from aapi.memory.memory import LinearMemory, MemorySpec
from aapi.memory.randomised import draw_from_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.approximation import Linear, Policy, QSpace
    from aapi.approximation.projected_equations import Equations
    from aapi.array_types import Actions, AnyArray, Array, Arrays, Streams
    from aapi.memory.randomised import Sweeps
    from aapi.simulation import PhaseData


@dataclass(frozen=True)
class KeepSteps(MemorySpec["Window"]):
    """Keep the last `count` steps of each run; None: those that were added last, a phase.

    probabilities: keep, too, how likely each action was, which costs an evaluation of the policy at every step.
    """

    count: int | None
    probabilities: bool = False

    def start(self, space: QSpace, runs: int) -> Window:
        """No step yet."""
        if self.count is not None:
            at_least(1, window=self.count)
        states: AnyArray = np.empty((runs, 0, *space.state_shape), dtype=space.state_dtype)
        actions, numbers = np.empty((runs, 0), dtype=np.int32), np.empty((runs, 0))
        return Window(space, self, states, states, actions, numbers, numbers)


@dataclass(frozen=True, eq=False)
class Window(LinearMemory):
    """Steps of every run in their order, (runs, steps): states, actions, rewards, and successors, the states after.

    states, successors: whole numbers, or vectors with an axis more. probabilities: with which each action was taken;
        (runs, 0) if that is not kept.
    """

    space: QSpace = field(metadata=NOT_STORED)
    spec: KeepSteps = field(metadata=NOT_STORED)
    states: AnyArray
    successors: AnyArray
    actions: Actions
    rewards: Array
    probabilities: Array

    def add(self, data: PhaseData, policy: Policy) -> Window:
        """The window with the steps of a phase, without the oldest."""
        new = {"states": data.states, "actions": data.actions, "rewards": data.rewards, "successors": data.successors}
        if self.spec.probabilities:
            new["probabilities"] = self.space.action_probabilities(policy, data.states, data.actions)
        kept: dict[str, Any] = {}
        for name, added in new.items():
            held: AnyArray = vars(self)[name]
            both = added if self.spec.count is None else np.concatenate([held, added], axis=1)[:, -self.spec.count :]
            kept[name] = np.array(both, dtype=held.dtype, order="C")
        return replace(self, **kept)

    def equations(self, policy: Policy, trace: float) -> Iterator[Equations]:
        """The projected equations of a policy, run by run."""
        return self.space.equations(self.states, self.actions, self.rewards, self.successors, policy, trace)

    def draw_q(self, space: QSpace, sweeps: Sweeps, streams: Streams) -> Array:
        """A randomised estimate of Q_* from the steps, which are between vectors, for RLSVI."""
        return draw_from_steps(self, cast("Linear", space).basis, space.num_actions, sweeps, streams)

    def restored(self, arrays: Arrays) -> Window:
        """What was stored, which may be of more steps than this; or an error."""
        runs, stored = len(self.rewards), arrays.get("rewards", np.empty(0))
        steps = stored.shape[-1] if stored.ndim else 0
        if self.spec.count is not None and steps > self.spec.count:
            raise InvalidInput(f"{steps} steps are more than the window of {self.spec.count}")
        found: dict[str, Any] = {}
        for name in ("states", "successors", "actions", "rewards", "probabilities"):
            like: AnyArray = vars(self)[name]
            count = steps if name != "probabilities" or self.spec.probabilities else 0
            found[name] = check_like(arrays, name, np.empty((runs, count, *like.shape[2:]), dtype=like.dtype))
        check_indices(found["actions"], self.space.num_actions, "actions")
        for name in ("states", "successors"):
            self.space.check_states(found[name], name)
        likely = found["probabilities"]
        if not ((likely > 0.0) & (likely <= 1.0 + 1e-9)).all():
            raise InvalidInput("probabilities must be those of actions that were taken, above 0 and at most 1")
        return replace(self, **found)
