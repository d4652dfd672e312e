"""Checks of the arrays that a model is made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.sparse

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from aapi.array_types import AnyArray, Array, Arrays, Integers, Mask, Matrix

Names: TypeAlias = "Sequence[str] | NDArray[np.str_]"

ROW_SUM_TOLERANCE = 1e-9  # a row further from one than this is refused
LARGEST = 1e302  # rewards beyond this would overflow as soon as some are added
ROUNDING = float(np.finfo(float).eps)  # a row further from one than half of this for each of its entries is rescaled


def float_array(values: ArrayLike, what: str) -> Array:
    """An array of floats, copied; or an error."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = np.asarray(None)
    check_real(array, what)
    return np.array(array, dtype=np.float64, order="C")


def check_real(array: AnyArray | Matrix, what: str) -> None:
    """Raise unless these are real numbers."""
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"{what} must be a rectangular array of real numbers")


def check_finite(what: str, array: Array, num_actions: int) -> None:
    """Raise unless all numbers are finite, and none would overflow."""
    wrong = np.flatnonzero(~(abs(array) <= LARGEST))
    if wrong.size:
        state, action = divmod(int(wrong[0]), num_actions)
        value = array[state, action]
        why = f"more than {LARGEST:g}" if np.isfinite(value) else "not a finite number"
        raise InvalidInput(f"{what} of state {state}, action {action} is {value}, {why}")


def check_spread(spread: ArrayLike, rewards: Array) -> Array:
    """Standard deviations of the shape of the rewards, from such an array or one number; or an error."""
    array = float_array(spread, "reward_spread")
    if array.ndim != 0 and array.shape != rewards.shape:
        raise InvalidInput(f"reward_spread must have the shape {rewards.shape}, not {array.shape}")
    array = np.array(np.broadcast_to(array, rewards.shape))
    check_finite("reward_spread", array, rewards.shape[1])
    if array.min() < 0.0:
        raise InvalidInput(f"reward_spread must be at least 0, not {array.min()}")
    array.flags.writeable = False
    return array


def check_names(names: Names | None, count: int, what: str) -> tuple[str, ...] | None:
    """One name for each, or an error."""
    if names is None:
        return None
    if np.ndim(names) != 1:
        shown = " ".join(repr(names).split())[:80]
        raise InvalidInput(f"{what} names must be a list of {count} words, not {shown}")
    if len(names) != count:
        raise InvalidInput(f"{len(names)} {what} names for {count} {what}s")
    return tuple(map(str, names))


def check_coordinates(coordinates: ArrayLike, num_states: int) -> Integers:
    """Whole numbers that describe each state, or an error."""
    array = np.asarray(coordinates)
    whole = array.dtype.kind in "iu" and array.size > 0 and array.min() >= 0
    if not whole or array.ndim != 2 or array.shape[0] != num_states:
        raise InvalidInput(
            f"coordinates must be whole numbers ≥ 0 of shape ({num_states}, coordinates), "
            f"not {array.dtype} of shape {array.shape}"
        )
    array = array.astype(np.int64)
    array.flags.writeable = False
    return array


def check_compressed(data: AnyArray, indices: AnyArray, starts: AnyArray, shape: tuple[int, ...]) -> None:
    """Raise unless these are the rows of a sparse matrix: scipy's own check lets through what then corrupts memory.

    starts: row i has the entries starts[i] … starts[i + 1] − 1. shape: (rows, columns).
    """
    rows, columns = shape
    right = (
        all(array.ndim == 1 for array in (data, indices, starts))
        and indices.dtype.kind in "iu"
        and starts.dtype.kind in "iu"
        and len(data) == len(indices)
        and len(starts) == rows + 1
        and starts[0] == 0
        and starts[-1] == len(indices)
        and bool((starts[1:] >= starts[:-1]).all())
        and (len(indices) == 0 or (int(indices.min()) >= 0 and int(indices.max()) < columns))
    )
    if not right:
        raise InvalidInput(
            f"the sparse transitions are not a valid matrix: indptr must rise from 0 to the number of entries, in "
            f"{rows} rows, and indices lie in 0..{columns - 1}"
        )


def stored_transitions(arrays: Arrays) -> Matrix:
    """The transitions that a file holds, or an error."""
    if "transitions" in arrays:
        return arrays["transitions"]
    parts = [arrays.get(f"transitions_{part}", np.array(None)) for part in ("data", "indices", "indptr")]
    data, indices, starts = parts
    if arrays["rewards"].ndim not in (2, 3):
        raise InvalidInput(f"rewards must have the shape (states, actions), not {arrays['rewards'].shape}")
    shape = (math.prod(arrays["rewards"].shape[:2]), arrays["rewards"].shape[0])
    if data.ndim:
        check_real(data, "transitions")
    check_compressed(data, indices, starts, shape)
    return scipy.sparse.csr_array((data, indices, starts), shape=shape)


def pairs_acted_as(allowed: ArrayLike | None, shape: tuple[int, ...]) -> Integers:
    """The pair x · actions + a that each pair acts as, (states, actions): itself, or the first allowed in its state."""
    states, actions = shape
    mask: Mask = np.ones(shape, dtype=bool) if allowed is None else np.asarray(allowed)
    if mask.shape != shape or mask.dtype != np.bool_:
        raise InvalidInput(f"allowed must be true or false for each of {shape}, not {mask.dtype} {mask.shape}")
    if not mask.any(axis=1).all():
        raise InvalidInput(f"no action is allowed in state {int(np.argmin(mask.any(axis=1)))}: allow one")
    chosen = np.where(mask, np.arange(actions), mask.argmax(axis=1)[:, None])
    return np.asarray(np.arange(states)[:, None] * actions + chosen, dtype=np.int64)
