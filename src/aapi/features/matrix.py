"""Features from a matrix of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput
from aapi.features.active import ActiveFeatures, per_action

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP

__all__ = ["FeatureMatrix"]


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """ψ(x), of shape (states, features), repeated for each action; or φ(x, a), of shape (states, actions, features).

    ψ may be a sparse matrix; the cost of a regression is in proportion to the non-zero entries.
    """

    matrix: Any

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The matrix's non-zero entries."""
        matrix = self.matrix if scipy.sparse.issparse(self.matrix) else np.asarray(self.matrix, dtype=np.float64)
        if not np.isfinite(matrix.data if scipy.sparse.issparse(matrix) else matrix).all():
            raise InvalidInput("the feature matrix holds a value that is not a finite number")
        if matrix.ndim == 2 and matrix.shape[0] == mdp.num_states:
            return per_action(matrix, mdp.num_actions)
        if matrix.ndim == 3 and matrix.shape[:2] == (mdp.num_states, mdp.num_actions):
            rows = scipy.sparse.csr_array(matrix.reshape(-1, matrix.shape[2]))
            return ActiveFeatures(
                rows.indptr.astype(np.int64),
                rows.indices.astype(np.uint32),
                rows.data,
                1,
                matrix.shape[2],
                one_hot=False,
            )
        raise InvalidInput(
            f"a feature matrix has the shape ({mdp.num_states}, features) or "
            f"({mdp.num_states}, {mdp.num_actions}, features), not {matrix.shape}"
        )
