"""Feature maps for finite problems: which features of each pair (x, a) are not zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.features.active import ActiveFeatures, per_action

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Matrix
    from aapi.mdp import FiniteMDP


@dataclass(frozen=True)
class OneHot:
    """φ(x, a) = e_(x,a), states · actions features: no generalisation, no approximation error."""

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The identity, in a block for each action."""
        return per_action(scipy.sparse.eye_array(mdp.num_states), mdp.num_actions, one_hot=True)


@dataclass(frozen=True)
class Coordinates:
    """φ(x, a) = e_a ⊗ (e_row(x), e_column(x)) for the coordinates that the model gives its states.

    For DeepSea of size N, as in the paper: 2N features per action, 4N in all, of rank 4N − 2, since the rows and the
    columns both sum to one.
    """

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The indicators of all coordinates side by side, in a block for each action."""
        if mdp.coordinates is None:
            raise InvalidInput("coordinates features need a model with coordinates, and this one has none: use one-hot")
        sizes = mdp.coordinates.max(axis=0) + 1
        columns = mdp.coordinates + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rows = np.repeat(np.arange(mdp.num_states), len(sizes))
        shape = (mdp.num_states, int(sizes.sum()))
        matrix = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns.ravel())), shape=shape)
        return per_action(matrix, mdp.num_actions)


@dataclass(frozen=True)
class Aggregation:
    """States, in their order, in groups of about equal size: one indicator for each group and action.

    Neighbours share a value, which leaves an approximation error.
    """

    groups: int

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The group of each state, in a block for each action."""
        at_least(1, groups=self.groups)
        if self.groups > mdp.num_states:
            raise InvalidInput(f"groups must be at most the number of states, {mdp.num_states}, not {self.groups}")
        group = np.arange(mdp.num_states) * self.groups // mdp.num_states
        return per_action(np.eye(self.groups)[group], mdp.num_actions)


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
