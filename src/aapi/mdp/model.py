"""A finite Markov decision process: transition probabilities and rewards."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np
import scipy.sparse

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.files import atomic_write, read_arrays
from aapi.mdp.linear_systems import is_sparse, row_sums

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from aapi.array_types import AnyArray, Array, Arrays, Integers, Matrix

    Names = Sequence[str] | NDArray[np.str_]


ROW_SUM_TOLERANCE = 1e-9  # a row further from one than this is refused
LARGEST = 1e302  # rewards beyond this would overflow as soon as some are added
ROUNDING = float(np.finfo(float).eps)  # a row further from one than half of this for each of its entries is rescaled


class FiniteMDP:
    """P(x'|x, a) and r(x, a), checked when it is made, and immutable.

    transitions: dense, of shape (states, actions, states); or sparse, of shape (states · actions, states), where row
        x · actions + a holds P(·|x, a). Rows must be probability vectors within 1e-9; they are rescaled to sum to one.
    rewards: (states, actions).
    state_names, action_names: optional, one for each.
    initial_state: where a simulation starts.
    coordinates: optional whole numbers ≥ 0 that describe each state, (states, coordinates): DeepSea's row and column.
    """

    reward_sequence: ClassVar[None] = None  # rewards stay; those of `aapi.environments.ChangingRewards` do not

    def __init__(
        self,
        transitions: ArrayLike | Matrix,
        rewards: ArrayLike,
        *,
        state_names: Names | None = None,
        action_names: Names | None = None,
        initial_state: int = 0,
        coordinates: ArrayLike | None = None,
    ) -> None:
        self.rewards: Array = _float_array(rewards, "rewards")
        if self.rewards.ndim != 2:
            raise InvalidInput(f"rewards must have the shape (states, actions), not {self.rewards.shape}")
        if 0 in self.rewards.shape:
            raise InvalidInput(
                f"a model needs at least one state and one action; rewards have shape {self.rewards.shape}"
            )
        self.num_states, self.num_actions = map(int, self.rewards.shape)
        self._rows: Matrix = self._as_rows(transitions)
        self._check_probabilities()
        _check_finite("rewards", self.rewards, self.num_actions)
        self.rewards.flags.writeable = False
        self.state_names = _names(state_names, self.num_states, "state")
        self.action_names = _names(action_names, self.num_actions, "action")
        at_least(0, initial_state=initial_state)
        if initial_state >= self.num_states:
            raise InvalidInput(f"initial_state must lie in 0..{self.num_states - 1}, not {initial_state}")
        self.initial_state = int(initial_state)
        self.coordinates = None if coordinates is None else _coordinates(coordinates, self.num_states)

    def __repr__(self) -> str:
        kind = f"sparse, {self._rows.nnz} transitions" if self.is_sparse else "dense"
        return f"FiniteMDP({self.num_states} states, {self.num_actions} actions, {kind})"

    @property
    def dynamics(self) -> FiniteMDP:
        """Itself; of problems whose rewards change, what stays."""
        return self

    @property
    def is_sparse(self) -> bool:
        """Whether the transitions are stored as a sparse matrix."""
        return is_sparse(self._rows)

    @property
    def transitions(self) -> Matrix:
        """P, as it is stored: dense (states, actions, states) or sparse (states · actions, states)."""
        return self._rows if self.is_sparse else self._rows.reshape(self.num_states, self.num_actions, self.num_states)

    @property
    def most_successors(self) -> int:
        """The largest number of successors of a pair; for dense transitions, its upper bound, the number of states."""
        return int(np.diff(self._rows.indptr).max()) if self.is_sparse else self.num_states

    @property
    def grid_shape(self) -> tuple[int, int] | None:
        """Rows and columns, if the states are the cells of a grid, numbered row by row."""
        if self.coordinates is None or self.coordinates.shape[1] != 2:
            return None
        rows, columns = (int(largest) + 1 for largest in self.coordinates.max(axis=0))
        if rows * columns != self.num_states:
            return None
        in_order = (self.coordinates @ [columns, 1] == np.arange(self.num_states)).all()
        return (rows, columns) if in_order else None

    def scaled(self, factor: float) -> FiniteMDP:
        """The same model with all rewards multiplied by a number."""
        finite(0.0, strictly=True, factor=factor)
        return self.with_rewards(self.rewards * factor)

    def with_rewards(self, rewards: ArrayLike) -> FiniteMDP:
        """The same dynamics with other rewards, (states, actions)."""
        return FiniteMDP(
            self.transitions, rewards, state_names=self.state_names, action_names=self.action_names,
            initial_state=self.initial_state, coordinates=self.coordinates,
        )  # fmt: skip

    def expected(self, values: Array) -> Array:
        """Σ_x' P(x'|x, a) values(x'), of shape (states, actions)."""
        return np.asarray(self._rows @ values).reshape(self.num_states, self.num_actions)

    def backup(self, values: Array) -> Array:
        """r(x, a) + Σ_x' P(x'|x, a) values(x'), of shape (states, actions)."""
        return self.rewards + self.expected(values)

    def under(self, policy: ArrayLike) -> tuple[Matrix, Array]:
        """P_π and r_π: the chain of states under a stationary policy, and its expected rewards.

        policy: the probabilities π(a|x), of shape (states, actions); or one action per state.
        """
        policy = self.check_policy(policy)
        if policy.ndim == 1:
            return self.pairs(np.arange(self.num_states), policy.astype(np.int64, copy=False))
        rewards = np.einsum("xa,xa->x", policy, self.rewards)
        if not self.is_sparse:
            return (policy[:, None, :] @ self.transitions)[:, 0, :], rewards
        rows, actions = np.nonzero(policy)
        columns = rows * self.num_actions + actions
        shape = (self.num_states, self.num_states * self.num_actions)
        return scipy.sparse.csr_array((policy[rows, actions], (rows, columns)), shape=shape) @ self._rows, rewards

    def pairs(self, states: Integers, actions: Integers) -> tuple[Matrix, Array]:
        """P(·|x, a), one row for each pair of a state and an action, and r(x, a)."""
        return self._rows[states * self.num_actions + actions], self.rewards[states, actions]

    def check_policy(self, policy: ArrayLike) -> Array | Integers:
        """The policy as an array: (states,) of actions, or (states, actions) of probabilities; or an error."""
        array = np.asarray(policy)
        if array.shape == (self.num_states,) and np.issubdtype(array.dtype, np.integer):
            bad = np.flatnonzero((array < 0) | (array >= self.num_actions))
            if bad.size:
                raise InvalidInput(
                    f"the policy takes action {array[bad[0]]} in state {bad[0]}; actions are 0..{self.num_actions - 1}"
                )
            return array.astype(np.int64)
        if array.shape != self.rewards.shape:
            raise InvalidInput(
                f"a policy is one integer action per state, or probabilities of shape {self.rewards.shape}; "
                f"got {array.dtype} of shape {array.shape}"
            )
        array = _float_array(array, "policy")
        _check_finite("policy", array, self.num_actions)
        sums = array.sum(axis=1, keepdims=True)
        bad = np.flatnonzero((array < 0).any(axis=1) | (abs(sums[:, 0] - 1) > ROW_SUM_TOLERANCE))
        if bad.size:
            raise InvalidInput(f"the policy's row of state {bad[0]} is not a probability vector: {array[bad[0]]}")
        return array / np.where(abs(sums - 1) > 0.5 * ROUNDING * (self.num_actions + 4), sums, 1.0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file (arrays only, no pickle); the file appears whole or not at all."""
        arrays: dict[str, Matrix] = {"rewards": self.rewards, "initial_state": np.array(self.initial_state)}
        if self.is_sparse:
            arrays |= {
                "transitions_data": self._rows.data,
                "transitions_indices": self._rows.indices,
                "transitions_indptr": self._rows.indptr,
            }
        else:
            arrays["transitions"] = self.transitions
        optional = {name: vars(self)[name] for name in ("coordinates", "state_names", "action_names")}
        arrays |= {name: np.array(value) for name, value in optional.items() if value is not None}
        with atomic_write(path) as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FiniteMDP:
        """Read what `save`, or numpy's `savez(transitions=…, rewards=…)`, wrote. Never runs code from the file."""
        arrays = read_arrays(path, "an .npz file")
        if "rewards" not in arrays or not {"transitions", "transitions_data"} & arrays.keys():
            raise InvalidInput(
                f"{path} must hold the arrays transitions and rewards; it holds {', '.join(arrays) or 'nothing'}"
            )
        start = arrays.get("initial_state", np.array(0))
        if start.size != 1 or not np.issubdtype(start.dtype, np.integer):
            raise InvalidInput(f"{path}: initial_state must be one integer, not {start!r}")
        try:
            return cls(
                _stored_transitions(arrays), arrays["rewards"], state_names=arrays.get("state_names"),
                action_names=arrays.get("action_names"), initial_state=int(start.item()),
                coordinates=arrays.get("coordinates"),
            )  # fmt: skip
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from None

    def _as_rows(self, transitions: Matrix) -> Matrix:
        states, actions = self.num_states, self.num_actions
        if is_sparse(transitions):
            if transitions.shape != (states * actions, states):
                raise InvalidInput(
                    f"sparse transitions must have the shape (states · actions, states) = "
                    f"{(states * actions, states)} to fit the rewards, not {transitions.shape}"
                )
            _check_real(transitions, "transitions")
            rows = scipy.sparse.csr_array(transitions, dtype=np.float64, copy=True)
            rows.sum_duplicates()
            return rows
        dense = _float_array(transitions, "transitions")
        if dense.shape != (states, actions, states):
            raise InvalidInput(
                f"transitions must have the shape (states, actions, states) = {(states, actions, states)} "
                f"to fit the rewards, not {dense.shape}"
            )
        return dense.reshape(states * actions, states)

    def _check_probabilities(self) -> None:
        rows = self._rows
        entries = rows.data if self.is_sparse else rows.reshape(-1)
        lengths = np.diff(rows.indptr) if self.is_sparse else np.full(len(rows), self.num_states)
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is about to be refused
            sums = row_sums(rows)
        off = abs(sums - 1.0)
        if not (off.max() <= ROW_SUM_TOLERANCE and entries.min() >= 0.0):  # also where there is a NaN
            self._refuse(entries, lengths, sums)
        rough = off > 0.5 * ROUNDING * (lengths + 4)
        if rough.any():
            entries *= np.repeat(np.where(rough, 1.0 / sums, 1.0), lengths)
        if self.is_sparse:
            rows.eliminate_zeros()
        for array in (rows.data, rows.indices, rows.indptr) if self.is_sparse else (rows,):
            array.flags.writeable = False

    def _refuse(self, entries: Array, lengths: Integers, sums: Array) -> NoReturn:
        row = int(np.argmax(abs(sums - 1.0) > ROW_SUM_TOLERANCE))
        what = f"sum to {sums[row]:.12g}, not to 1"
        for wrong, name in ((entries < 0, "the negative probability {}"), (~np.isfinite(entries), "{}, not a number")):
            if wrong.any():
                first = int(np.argmax(wrong))
                row = int(np.repeat(np.arange(len(sums)), lengths)[first])
                what = f"hold {name.format(entries[first])}"
        raise InvalidInput(f"transitions of state {row // self.num_actions}, action {row % self.num_actions} {what}")


def _float_array(values: ArrayLike, what: str) -> Array:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = np.asarray(None)
    _check_real(array, what)
    return np.array(array, dtype=np.float64, order="C")


def _check_real(array: AnyArray | Matrix, what: str) -> None:
    if array.dtype.kind not in "fiub":
        raise InvalidInput(f"{what} must be a rectangular array of real numbers")


def _check_finite(what: str, array: Array, num_actions: int) -> None:
    wrong = np.flatnonzero(~(abs(array) <= LARGEST))
    if wrong.size:
        state, action = divmod(int(wrong[0]), num_actions)
        value = array[state, action]
        why = f"more than {LARGEST:g}" if np.isfinite(value) else "not a finite number"
        raise InvalidInput(f"{what} of state {state}, action {action} is {value}, {why}")


def _names(names: Names | None, count: int, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    if np.ndim(names) != 1:
        raise InvalidInput(f"{what} names must be a list of {count} words, not {names!r}")
    if len(names) != count:
        raise InvalidInput(f"{len(names)} {what} names for {count} {what}s")
    return tuple(map(str, names))


def _coordinates(coordinates: ArrayLike, num_states: int) -> Integers:
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


def _stored_transitions(arrays: Arrays) -> Matrix:
    if "transitions" in arrays:
        return arrays["transitions"]
    try:
        parts = tuple(arrays[f"transitions_{part}"] for part in ("data", "indices", "indptr"))
        matrix = scipy.sparse.csr_array(parts, shape=(math.prod(arrays["rewards"].shape), arrays["rewards"].shape[0]))
        matrix.check_format(full_check=True)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise InvalidInput(f"the sparse transitions are not a valid matrix ({error})") from None
    return matrix
