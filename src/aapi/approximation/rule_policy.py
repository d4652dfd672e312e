"""A rule of thumb as a policy of an agent: a function from what it observes to an action."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import AapiError, InvalidInput, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.array_types import AnyArray, Array, Mask


@dataclass(frozen=True, eq=False)
class RulePolicy:
    """What a rule does, for sure.

    act: from an observation to an action in start … start + num_actions − 1. observe: from a state to the observation
    that it stands for. allowed: which actions may be taken in each state, (states, actions), if that is known of a
    table: others act as the first of these.
    """

    act: Callable[[Any], object]
    observe: Callable[[Any], Any]
    num_actions: int
    start: int = 0
    allowed: Mask | None = None

    def action(self, state: Any) -> int:
        """The number of the action, from 0 on; or an error in one line."""
        observation = self.observe(state)
        try:
            given: Any = self.act(observation)
        except AapiError:
            raise
        except Exception as error:
            raise InvalidInput(f"the rule raised {one_line(error)} at {observation!r}") from error
        try:
            action = operator.index(given.item() if isinstance(given, np.ndarray) else given) - self.start
        except (TypeError, ValueError):
            raise InvalidInput(
                f"the rule must return an action, not {given!r}, as it does at {observation!r}"
            ) from None
        if not 0 <= action < self.num_actions:
            last = self.start + self.num_actions - 1
            raise InvalidInput(f"the rule returned {given!r} at {observation!r}: actions are {self.start} to {last}")
        if self.allowed is not None and not self.allowed[state, action]:
            return int(self.allowed[state].argmax())
        return action

    def probabilities(self, states: AnyArray) -> Array:
        """1 for the action and 0 for all others, (runs, n, actions), at states, (runs, n, …)."""
        return np.eye(self.num_actions)[[[self.action(state) for state in run] for run in states]]
