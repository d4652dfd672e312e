"""A continuing problem with observation vectors, whose dynamics are kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class ContinuousProblem:
    """A continuing problem with observation vectors, whose dynamics are kernels.

    start(state, stream): fill a state, an array of `state_size` numbers, using a random stream (see `draw`).
    step(state, action, stream): replace the state by its successor and return the reward. A step that ends an episode
        replaces it by a new start.
    low, high: bounds for features; the observation is the first len(low) numbers of the state.
    best_gain: a bound on the average reward of any policy, if one is known.
    reward_scale: what rewards are multiplied by.
    """

    reward_sequence: ClassVar[None] = None  # rewards stay; see `ChangingRewards`

    name: str
    start: Callable[..., None]
    step: Callable[..., float]
    state_size: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    action_names: tuple[str, ...]
    best_gain: float | None = None
    reward_scale: float = 1.0

    def __post_init__(self) -> None:
        at_least(1, state_size=self.state_size)
        if not 1 <= len(self.low) == len(self.high) <= self.state_size:
            raise InvalidInput(
                f"low and high must be of one length, at least 1 and at most state_size, {self.state_size}; "
                f"they have {len(self.low)} and {len(self.high)} numbers"
            )
        if not self.action_names:
            raise InvalidInput("a problem needs at least one action: action_names is empty")
        finite(0.0, strictly=True, reward_scale=self.reward_scale)

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return len(self.action_names)

    def scaled(self, factor: float) -> ContinuousProblem:
        """The same problem with all rewards multiplied by a number."""
        bound = None if self.best_gain is None else self.best_gain * factor
        return replace(self, reward_scale=self.reward_scale * factor, best_gain=bound)
