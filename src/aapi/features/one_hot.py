"""One indicator per pair (x, a): no generalisation, no approximation error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import scipy.sparse

from aapi.features.active import ActiveFeatures, per_action

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


@dataclass(frozen=True)
class OneHot:
    """φ(x, a) = e_(x,a), states · actions features."""

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The identity, in a block for each action."""
        return per_action(scipy.sparse.eye_array(mdp.num_states), mdp.num_actions, one_hot=True)
