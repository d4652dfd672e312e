"""A rule of thumb as a policy where states are vectors: a function from a vector to an action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import AapiError, InvalidInput, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.array_types import Array


@dataclass(frozen=True, eq=False)
class RulePolicy:
    """What a rule does, for sure. act: from a vector to an action in 0 … num_actions − 1."""

    act: Callable[[Any], int]
    num_actions: int

    def action(self, state: Any) -> int:
        """The action, or an error in one line."""
        try:
            action = self.act(state)
        except AapiError:
            raise
        except Exception as error:
            raise InvalidInput(f"the rule raised {one_line(error)} at {state!r}") from error
        if not 0 <= action < self.num_actions:
            raise InvalidInput(f"the rule returned {action!r} at {state!r}, and there are {self.num_actions} actions")
        return int(action)

    def probabilities(self, states: Array) -> Array:
        """1 for the action and 0 for all others, (n, actions), at vectors, (n, …)."""
        return np.eye(self.num_actions)[[self.action(state) for state in states]]
