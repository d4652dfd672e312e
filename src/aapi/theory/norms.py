"""Roots of sums of squares that neither over- nor underflow where the result does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["root_of_squares"]


def root_of_squares(
    values: NDArray[np.float64], axis: int | tuple[int, ...], weights: NDArray[np.float64] | float = 1.0
) -> NDArray[np.float64]:
    """(Σ weights · values²)^½ over some axes."""
    largest = np.abs(values).max(axis=axis, keepdims=True, initial=0.0)
    unit = np.where(np.isfinite(largest), 2.0 ** np.frexp(largest)[1].clip(-1000, 1000), 1.0)  # no digit is touched
    return np.asarray(np.squeeze(unit, axis) * np.sqrt((weights * (values / unit) ** 2).sum(axis=axis)))
