"""Features given as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput
from aapi.features.active import ActiveFeatures, per_action

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Matrix
    from aapi.mdp import FiniteMDP


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """ψ(x), of shape (states, features), repeated for each action; or φ(x, a), of shape (states, actions, features).

    ψ may be a sparse matrix; the cost of a regression is in proportion to the non-zero entries.
    """

    matrix: ArrayLike | Matrix

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The matrix's non-zero entries."""
        sparse = scipy.sparse.issparse(self.matrix)
        try:
            matrix = scipy.sparse.csr_array(self.matrix) if sparse else np.asarray(self.matrix)
        except ValueError:
            matrix = np.asarray(None)
        if matrix.dtype.kind not in "fiub":
            raise InvalidInput("a feature matrix must be a rectangular array of real numbers")
        if not np.isfinite(matrix.data if sparse else matrix).all():
            raise InvalidInput("the feature matrix holds a value that is not a finite number")
        if not (matrix != 0).sum():
            raise InvalidInput("the feature matrix has no entry other than zero: there is nothing to regress on")
        if matrix.ndim == 2 and matrix.shape[0] == mdp.num_states:
            return per_action(matrix, mdp.num_actions)
        if matrix.ndim == 3 and matrix.shape[:2] == (mdp.num_states, mdp.num_actions):
            rows = scipy.sparse.csr_array(matrix.reshape(-1, matrix.shape[2]))
            return ActiveFeatures(
                rows.indptr.astype(np.int64),
                rows.indices.astype(np.uint32),
                rows.data.astype(np.float64),
                1,
                matrix.shape[2],
                one_hot=False,
            )
        raise InvalidInput(
            f"a feature matrix has the shape ({mdp.num_states}, features) or "
            f"({mdp.num_states}, {mdp.num_actions}, features), not {matrix.shape}"
        )
