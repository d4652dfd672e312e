"""The compiled form of feature maps for finite problems: the non-zero features of each pair (x, a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from aapi.array_types import Array, Integers, Matrix
    from aapi.mdp import FiniteMDP


class ActiveFeatures(NamedTuple):
    """φ(x, a), sparse: pair x · actions + a has the entries starts[pair] … starts[pair + 1] − 1.

    Features come in `num_blocks` blocks of `block_size`, and the features of a pair lie in one block: that of its
    action (one block per action, as everywhere in the paper), or the only one. So the Gram matrix has these blocks too.
    one_hot: every pair has a feature of its own, and a regression is an average.
    """

    starts: Integers
    columns: NDArray[np.uint32]
    values: Array
    num_blocks: int
    block_size: int
    one_hot: bool

    def check(self, mdp: FiniteMDP) -> ActiveFeatures:
        """These features with arrays as kernels need them; an error if they do not fit the model."""
        pairs = mdp.num_states * mdp.num_actions
        starts = np.ascontiguousarray(self.starts, dtype=np.int64)
        columns = np.ascontiguousarray(self.columns, dtype=np.uint32)
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        same_pair = np.ones(max(0, len(columns) - 1), dtype=bool)
        ends = starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(columns))]
        same_pair[ends - 1] = False
        one_hot = np.tile(np.arange(mdp.num_states), (mdp.num_actions, 1)).T.ravel()
        for right, wrong in (
            (starts.shape == (pairs + 1,), f"starts must have {pairs + 1} entries, not {starts.size}"),
            (starts[0] == 0 and starts[-1] == len(columns) == len(values), "starts, columns and values do not fit"),
            ((np.diff(starts) >= 0).all(), "starts must not fall"),
            (len(columns) > 0 and columns.max() < self.block_size, f"columns must lie in 0..{self.block_size - 1}"),
            ((np.diff(columns.astype(np.int64))[same_pair] > 0).all(), "the columns of a pair must ascend"),
            (self.num_blocks in (1, mdp.num_actions), f"num_blocks must be 1 or {mdp.num_actions}"),
            (np.isfinite(values).all(), "values must be finite numbers"),
            (
                not self.one_hot
                or (self.num_features == pairs and np.array_equal(columns, one_hot) and (values == 1.0).all()),
                "one_hot says that every pair has an indicator of its own, and here it has not",
            ),
        ):
            if not right:
                raise InvalidInput(f"these features do not fit the model: {wrong}")
        return self._replace(starts=starts, columns=columns, values=values)

    @property
    def num_features(self) -> int:
        """d, the length of φ(x, a)."""
        return self.num_blocks * self.block_size


class Features(Protocol):
    """A feature map for finite problems: compiled once per experiment."""

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The non-zero features of every pair."""


def per_action(matrix: ArrayLike | Matrix, num_actions: int, *, one_hot: bool = False) -> ActiveFeatures:
    """State features ψ(x), a (states, features) matrix, repeated in a block for each action."""
    rows = scipy.sparse.csr_array(matrix, dtype=np.float64, copy=True)
    rows.sum_duplicates()  # kernels rely on ascending columns
    counts = np.repeat(np.diff(rows.indptr), num_actions)
    starts = np.concatenate([[0], np.cumsum(counts)])
    pairs = np.repeat(np.arange(rows.shape[0]), num_actions)
    entries = np.arange(starts[-1]) - np.repeat(starts[:-1] - rows.indptr[pairs], counts)
    return ActiveFeatures(
        starts.astype(np.int64),
        rows.indices[entries].astype(np.uint32),
        rows.data[entries],
        num_actions,
        int(rows.shape[1]),
        one_hot,
    )
