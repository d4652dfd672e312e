"""State aggregation: neighbours share a value, which leaves an approximation error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.features.active import ActiveFeatures, per_action

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


@dataclass(frozen=True)
class Aggregation:
    """States, in their order, in groups of about equal size: one indicator for each group and action."""

    groups: int

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The group of each state, in a block for each action."""
        at_least(1, groups=self.groups)
        if self.groups > mdp.num_states:
            raise InvalidInput(f"groups must be at most the number of states, {mdp.num_states}, not {self.groups}")
        group = np.arange(mdp.num_states) * self.groups // mdp.num_states
        return per_action(np.eye(self.groups)[group], mdp.num_actions)
