"""What every feature map is compiled to: for each pair (x, a), its non-zero features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.mdp import FiniteMDP

__all__ = ["ActiveFeatures", "Features", "per_action"]


@dataclass(frozen=True, eq=False)
class ActiveFeatures:
    """φ(x, a), sparse: pair x · actions + a has the entries starts[pair] … starts[pair + 1] − 1.

    Features come in `num_blocks` blocks of `block_size`, and the features of a pair lie in one block: that of its
    action (one block per action, as everywhere in the paper), or the only one. So the Gram matrix has these blocks too.
    one_hot: every pair has a feature of its own, and a regression is an average.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float64]
    num_blocks: int
    block_size: int
    one_hot: bool

    @property
    def num_features(self) -> int:
        """d, the length of φ(x, a)."""
        return self.num_blocks * self.block_size


class Features(Protocol):
    """A feature map for finite problems: compiled once per experiment."""

    def __call__(self, mdp: FiniteMDP) -> ActiveFeatures:
        """The non-zero features of every pair."""


def per_action(matrix: Any, num_actions: int, *, one_hot: bool = False) -> ActiveFeatures:
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
