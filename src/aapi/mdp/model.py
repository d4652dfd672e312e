"""A finite Markov decision process: transition probabilities and rewards."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypedDict, Unpack

import numpy as np
import scipy.sparse

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.mdp.arrays import (
    ROUNDING,
    ROW_SUM_TOLERANCE,
    check_compressed,
    check_coordinates,
    check_finite,
    check_names,
    check_real,
    check_spread,
    float_array,
    pairs_acted_as,
    stored_transitions,
)
from aapi.mdp.columns import TEXTS
from aapi.mdp.csv_rows import read_model_rows, write_model_rows
from aapi.mdp.linear_systems import is_sparse, row_sums
from aapi.mdp.outcomes import (
    Outcomes,
    check_outcomes,
    independent_outcomes,
    outcomes_by_successor,
    outcomes_of,
    stored_outcomes,
)
from aapi.mdp.storage import read_model_arrays, refuse_log, write_arrays, write_pair
from aapi.mdp.toolbox import from_arrays, to_arrays

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike

    from aapi.array_types import AnyArray, Array, Arrays, Integers, Mask, Matrix
    from aapi.mdp.arrays import Names


class Labels(TypedDict, total=False):
    """What a model may be told besides transitions and rewards."""

    reward_spread: ArrayLike | None
    state_names: Names | None
    action_names: Names | None
    initial_state: int
    coordinates: ArrayLike | None


class FiniteMDP:
    """P(x'|x, a) and r(x, a), checked when it is made, and immutable. Rewards may be random: r is then their mean.

    transitions: dense, of shape (states, actions, states); or sparse, of shape (states · actions, states), where row
        x · actions + a holds P(·|x, a). Rows must be probability vectors within 1e-9; they are rescaled to sum to one.
    rewards: (states, actions), the means; or (states, actions, states), where they depend on the successor.
    outcomes: the distribution of successor and reward together, if rewards are random; see `from_outcomes`.
    reward_spread: the standard deviations of normal noise that rewards have besides, (states, actions), or one number.
    state_names, action_names: optional, one for each.
    initial_state: where a simulation starts.
    coordinates: optional whole numbers ≥ 0 that describe each state, (states, coordinates): DeepSea's row and column.
    allowed: which actions may be taken, (states, actions); None for all. A forbidden action acts as the first that is
        allowed in the state, so that all that works on models works on these, and nothing forbidden is ever done.
    """

    reward_sequence: ClassVar[None] = None  # rewards stay; those of `aapi.environments.ChangingRewards` do not

    def __init__(
        self,
        transitions: ArrayLike | Matrix,
        rewards: ArrayLike,
        *,
        outcomes: Outcomes | None = None,
        reward_spread: ArrayLike | None = None,
        state_names: Names | None = None,
        action_names: Names | None = None,
        initial_state: int = 0,
        coordinates: ArrayLike | None = None,
        allowed: ArrayLike | None = None,
    ) -> None:
        given = float_array(rewards, "rewards")
        if given.ndim not in (2, 3):
            raise InvalidInput(f"rewards must have the shape (states, actions), not {given.shape}")
        if 0 in given.shape:
            raise InvalidInput(f"a model needs at least one state and one action; rewards have shape {given.shape}")
        self.num_states, self.num_actions = map(int, given.shape[:2])
        self._rows: Matrix = self._as_rows(transitions)
        self.allowed: Mask | None = None
        if allowed is not None:
            acts_as = pairs_acted_as(allowed, given.shape[:2])
            self.allowed = np.array(allowed)
            self.allowed.flags.writeable = False
            self._rows = self._rows[acts_as.ravel()]
            given = given.reshape(-1, *given.shape[2:])[acts_as]
            outcomes = None if outcomes is None else outcomes.of_pairs(acts_as.ravel())
            if reward_spread is not None:
                reward_spread = check_spread(reward_spread, given).ravel()[acts_as]
        self._check_probabilities()
        if given.ndim == 3:
            outcomes = outcomes_by_successor(self._rows, given)
            given = outcomes.means.reshape(self.num_states, self.num_actions)
        check_finite("rewards", given, self.num_actions)
        self.rewards: Array = given
        self.outcomes = None if outcomes is None or outcomes.certain else check_outcomes(outcomes, self._rows, given)
        self.reward_spread = None if reward_spread is None else check_spread(reward_spread, given)
        self.rewards.flags.writeable = False
        self.state_names = check_names(state_names, self.num_states, "state")
        self.action_names = check_names(action_names, self.num_actions, "action")
        at_least(0, initial_state=initial_state)
        if initial_state >= self.num_states:
            raise InvalidInput(f"initial_state must lie in 0..{self.num_states - 1}, not {initial_state}")
        self.initial_state = int(initial_state)
        self.coordinates = None if coordinates is None else check_coordinates(coordinates, self.num_states)

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
    def has_random_rewards(self) -> bool:
        """Whether rewards are drawn; else they are r(x, a)."""
        return self.outcomes is not None or self.reward_spread is not None

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward; of normal noise, eight standard deviations: more is one step in 10¹⁵."""
        paid = self.rewards if self.outcomes is None else self.outcomes.rewards
        noise = 0.0 if self.reward_spread is None else 8.0 * float(self.reward_spread.max())
        return float(paid.min()) - noise, float(paid.max()) + noise

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

    @classmethod
    def from_outcomes(
        cls, pairs: ArrayLike, successors: ArrayLike, probabilities: ArrayLike, rewards: ArrayLike, num_states: int,
        num_actions: int, *, allowed: ArrayLike | None = None, **more: Unpack[Labels],
    ) -> FiniteMDP:  # fmt: skip
        """A model from rows: pair x · actions + a leads to `successors` and pays `rewards` with `probabilities`.

        Rows of one pair and successor may pay differently. more: the other arguments of a model.
        """
        at_least(1, num_states=num_states, num_actions=num_actions)
        shape = num_states, num_actions
        outcomes = Outcomes.from_rows(pairs, successors, probabilities, rewards, num_states * num_actions, num_states)
        return cls(
            outcomes.transitions(num_states), outcomes.means.reshape(shape), outcomes=outcomes, allowed=allowed, **more
        )

    def scaled(self, factor: float) -> FiniteMDP:
        """The same model with all rewards multiplied by a number."""
        finite(0.0, strictly=True, factor=factor)
        return self._replaced(
            self.rewards * factor, outcomes=None if self.outcomes is None else self.outcomes.scaled(factor),
            reward_spread=None if self.reward_spread is None else self.reward_spread * factor,
        )  # fmt: skip

    def with_rewards(self, rewards: ArrayLike) -> FiniteMDP:
        """The same dynamics with other rewards, (states, actions), which are certain; or (states, actions, states)."""
        return self._replaced(rewards)

    def with_noise(self, reward_spread: ArrayLike) -> FiniteMDP:
        """The same model whose rewards have normal noise of these standard deviations, (states, actions), or one."""
        return self._replaced(self.rewards, outcomes=self.outcomes, reward_spread=reward_spread)

    def with_random_rewards(self, values: ArrayLike, probabilities: ArrayLike) -> FiniteMDP:
        """The same dynamics; every pair pays one of `values` with `probabilities`, whatever its successor is.

        Both of shape (states, actions, values), or one that stands for it, such as (values,).
        """
        outcomes = independent_outcomes(self._rows, values, probabilities, self.rewards.shape)
        means = outcomes.means.reshape(self.rewards.shape)
        return self._replaced(means, outcomes=outcomes, reward_spread=self.reward_spread)

    def _replaced(
        self, rewards: ArrayLike, outcomes: Outcomes | None = None, reward_spread: ArrayLike | None = None
    ) -> FiniteMDP:
        return FiniteMDP(
            self.transitions, rewards, outcomes=outcomes, reward_spread=reward_spread, state_names=self.state_names,
            action_names=self.action_names, initial_state=self.initial_state, coordinates=self.coordinates,
            allowed=self.allowed,
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
        array = float_array(array, "policy")
        check_finite("policy", array, self.num_actions)
        sums = array.sum(axis=1, keepdims=True)
        bad = np.flatnonzero((array < 0).any(axis=1) | (abs(sums[:, 0] - 1) > ROW_SUM_TOLERANCE))
        if bad.size:
            raise InvalidInput(f"the policy's row of state {bad[0]} is not a probability vector: {array[bad[0]]}")
        return array / np.where(abs(sums - 1) > 0.5 * ROUNDING * (self.num_actions + 4), sums, 1.0)

    def as_allowed(self, policy: AnyArray) -> AnyArray:
        """The policy with what a forbidden action acts as in its place: (states,) actions, or (…, states, actions)."""
        if self.allowed is None:
            return policy
        states, first = np.arange(self.num_states), self.allowed.argmax(axis=1)
        if policy.ndim == 1:
            return np.where(self.allowed[states, policy], policy, first)
        done = np.where(self.allowed, policy, 0.0)
        done[..., states, first] += np.where(self.allowed, 0.0, policy).sum(axis=-1)
        return done

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, which appears whole or not at all; its ending says the format.

        .npz: arrays only, no pickle; keeps all there is, to the bit. .csv: rows of state, action, next_state,
        probability, reward; keeps these to the bit, and names. P.npy: the arrays of the MDP toolboxes, with R.npy.
        """
        ending = Path(path).suffix.lower()
        if ending in (".npy", *TEXTS) and self.reward_spread is not None:
            raise InvalidInput(f"{path}: only an .npz file has a place for the normal noise of rewards")
        if ending == ".npy":
            write_pair(path, *self.to_mdptoolbox())
        elif ending in TEXTS:
            outcomes = self.outcomes or outcomes_of(self._rows, self.rewards)
            write_model_rows(
                path, outcomes.pairs, outcomes.successors, outcomes.probabilities, outcomes.rewards, self.num_actions,
                self.state_names, self.action_names,
            )  # fmt: skip
        else:
            write_arrays(path, self._arrays())

    def _arrays(self) -> Arrays:
        arrays: Arrays = {"rewards": self.rewards, "initial_state": np.array(self.initial_state)}
        if self.is_sparse:
            arrays |= {f"transitions_{name}": vars(self._rows)[name] for name in ("data", "indices", "indptr")}
        else:
            arrays["transitions"] = self.transitions
        if self.outcomes is not None:
            arrays |= {f"outcome_{name}": array for name, array in vars(self.outcomes).items()}
        names = ("coordinates", "state_names", "action_names", "reward_spread", "allowed")
        optional = {name: vars(self)[name] for name in names}
        return arrays | {name: np.array(value) for name, value in optional.items() if value is not None}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FiniteMDP:
        """Read what `save` wrote, or numpy's `savez(transitions=…, rewards=…)`, or `savez(P=…, R=…)` as toolboxes have.

        Or P.npy, with R.npy beside it, or a .csv file. Never runs code from the file.
        """
        refuse_log(path)
        try:
            if Path(path).suffix.lower() in TEXTS:
                return cls.from_outcomes(**read_model_rows(path))
            arrays = read_model_arrays(path)
            labels: Labels = {
                "state_names": arrays.get("state_names"), "action_names": arrays.get("action_names"),
                "coordinates": arrays.get("coordinates"), "initial_state": _one_integer(arrays.get("initial_state")),
                "reward_spread": arrays.get("reward_spread"),
            }  # fmt: skip
            if "rewards" not in arrays:
                return cls.from_mdptoolbox(arrays["P"], arrays["R"], **labels)
            return cls(
                stored_transitions(arrays), arrays["rewards"], outcomes=stored_outcomes(arrays),
                allowed=arrays.get("allowed"), **labels,
            )  # fmt: skip
        except InvalidInput as error:
            raise InvalidInput(str(error) if str(path) in str(error) else f"{path}: {error}") from None

    @classmethod
    def from_mdptoolbox(cls, transitions: object, rewards: object, **labels: Unpack[Labels]) -> FiniteMDP:
        """The model of the MDP toolboxes' P, (actions, states, states), and R, (states,), (states, actions) or like P.

        P, and R like it, may also be lists with one sparse matrix for each action.
        """
        rows, paid, outcomes = from_arrays(transitions, rewards)
        return cls(rows, paid, outcomes=outcomes, **labels)

    def to_mdptoolbox(self) -> tuple[Array, Array]:
        """P, (actions, states, states), and R, (states, actions), or like P where rewards depend on successors.

        Where rewards are random besides, R has their means, (states, actions).
        """
        return to_arrays(self._rows, self.rewards, self.outcomes)

    def _as_rows(self, transitions: Matrix) -> Matrix:
        states, actions = self.num_states, self.num_actions
        if is_sparse(transitions):
            if transitions.shape != (states * actions, states):
                raise InvalidInput(
                    f"sparse transitions must have the shape (states · actions, states) = "
                    f"{(states * actions, states)} to fit the rewards, not {transitions.shape}"
                )
            check_real(transitions, "transitions")
            if transitions.format == "csr":
                check_compressed(transitions.data, transitions.indices, transitions.indptr, transitions.shape)
            rows = scipy.sparse.csr_array(transitions, dtype=np.float64, copy=True)
            rows.sum_duplicates()
            return rows
        dense = float_array(transitions, "transitions")
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


def _one_integer(value: AnyArray | None) -> int:
    """The initial state that a file holds; 0 if it holds none."""
    if value is None:
        return 0
    if value.size != 1 or not np.issubdtype(value.dtype, np.integer):
        raise InvalidInput(f"initial_state must be one integer, not {value.dtype} of shape {value.shape}")
    return int(value.item())
