"""One indicator per value of each coordinate of the state, as in the paper's DeepSea."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput
from aapi.features.active import ActiveFeatures, per_action

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


@dataclass(frozen=True)
class Coordinates:
    """φ(x, a) = e_a ⊗ (e_row(x), e_column(x)) for the coordinates that the model gives its states.

    For DeepSea of size N: 2N features per action, 4N in all, of rank 4N − 2, since the rows and the columns both sum
    to one.
    """

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The indicators of all coordinates side by side, in a block for each action."""
        if mdp.coordinates is None:
            raise InvalidInput("coordinates features need a model with coordinates, and this one has none: use one-hot")
        sizes = mdp.coordinates.max(axis=0) + 1
        columns = mdp.coordinates + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rows = np.repeat(np.arange(mdp.num_states), len(sizes))
        shape = (mdp.num_states, int(sizes.sum()))
        return per_action(
            scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns.ravel())), shape=shape), mdp.num_actions
        )
