"""Models given by a function instead of matrices, and their optimal gain with a certificate, for millions of states.

In state x under action a, one of a few events happens: with probability p_e(x, a), it leads to the state s_e(x, a) and
pays r_e(x, a). A queue has arrivals and services, whatever its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse

from aapi.checks import at_least, check_indices, finite
from aapi.errors import DoesNotExist, InvalidInput
from aapi.kernels.jit import kernel
from aapi.kernels.krylov import solve_sparse, sort_entries
from aapi.mdp.arrays import ROW_SUM_TOLERANCE
from aapi.mdp.model import FiniteMDP
from aapi.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from aapi.array_types import Array, Integers

    # Of states and an action: probabilities, successors and rewards, each (events, states) or broadcast to that.
    Events: TypeAlias = Callable[[Integers, int], tuple[ArrayLike, ArrayLike, ArrayLike]]

MOST_STATES = 1 << 31  # numbers of states take 32 bits
MOST_POLICIES = 200
MOST_ROUNDS = 4000  # in the evaluation of each
SWEEPS = 30  # of value iteration after each evaluation: near a corner, a policy improves state by state
LESS, TIGHT = 0.1, 0.1  # the error of an evaluation, as a share of the last one's, and of the accuracy asked for
TIE = 1e-12  # an action must be better by this share of the values to replace another
ROUNDING = float(np.finfo(float).eps)


class EventModel:
    """A finite model as a function of states: `solve_events` finds its optimal gain without ever making matrices.

    events: called as events(states, action), with an array of numbers of states; it returns the probabilities of the
        events, the states they lead to and their rewards, each of shape (events, states) or something that broadcasts
        to it, such as probabilities (events, 1) that are the same everywhere. An event that cannot happen in a state
        leads from the state to itself, or has probability 0.
    """

    def __init__(self, num_states: int, num_actions: int, events: Events, *, initial_state: int = 0) -> None:
        at_least(1, num_states=num_states, num_actions=num_actions)
        at_least(0, initial_state=initial_state)
        if num_states > MOST_STATES or initial_state >= num_states:
            raise InvalidInput(
                f"a model has at most {MOST_STATES} states, and starts in one of them, not {num_states} states with "
                f"initial_state {initial_state}: take smaller caps or sizes"
            )
        self.num_states, self.num_actions, self.initial_state = int(num_states), int(num_actions), int(initial_state)
        self.events = events

    def __repr__(self) -> str:
        return f"EventModel({self.num_states} states, {self.num_actions} actions)"

    @classmethod
    def from_model(cls, mdp: FiniteMDP) -> EventModel:
        """A finite model as a function: its successors, one after the other, are the events."""
        rows = scipy.sparse.csr_array(mdp.transitions.reshape(-1, mdp.num_states))
        most = int(np.diff(rows.indptr).max())

        def events(states: Integers, action: int) -> tuple[Array, Integers, Array]:
            pairs = states * mdp.num_actions + action
            places = rows.indptr[pairs] + np.arange(most)[:, None]
            there = places < rows.indptr[pairs + 1]
            places = np.where(there, places, 0)
            successors = np.where(there, rows.indices[places], states)
            return np.where(there, rows.data[places], 0.0), successors, mdp.rewards[states, action]

        return cls(mdp.num_states, mdp.num_actions, events, initial_state=mdp.initial_state)

    def to_model(self) -> FiniteMDP:
        """The same as matrices, for all else that there is for finite models."""
        tables = _tables(self)
        n, each = self.num_states, tables.successors.shape[1]
        rows = np.arange(n)[None, :] * self.num_actions + np.arange(self.num_actions)[:, None]
        places = np.broadcast_to(rows[:, None, :], (self.num_actions, each, n))
        probabilities = np.broadcast_to(tables.probabilities, places.shape)
        transitions = scipy.sparse.coo_array(
            (probabilities.ravel(), (places.ravel(), tables.successors.ravel())), shape=(n * self.num_actions, n)
        ).tocsr()
        transitions.eliminate_zeros()
        return FiniteMDP(transitions, tables.rewards.T, initial_state=self.initial_state)


@dataclass(frozen=True, eq=False)
class EventSolution:
    """The optimal gain of an `EventModel`, and what proves it.

    policy: one action per state. lower ≤ λ_* ≤ upper, from every state, rounding included: the lower bound is earned by
        the policy, no policy earns more than the upper one.
    bias: V_*(x) up to a constant, 0 in the initial state. evaluations: how many policies were evaluated.
    """

    model: EventModel
    policy: NDArray[np.int32]
    lower: float
    upper: float
    bias: Array
    evaluations: int

    @property
    def gain(self) -> float:
        """λ_*, the middle of the certificate."""
        return 0.5 * (self.lower + self.upper)

    def __repr__(self) -> str:
        return (
            f"EventSolution(gain {self.gain:.9g}, certified within {0.5 * (self.upper - self.lower):.1g}, "
            f"{self.model.num_states} states, {self.evaluations} policies evaluated)"
        )


@dataclass(frozen=True, eq=False)
class _Tables:
    """probabilities and successors: (actions, events, states), or probabilities (actions, events, 1).

    rewards: (actions, states), expected ones.
    """

    probabilities: Array
    successors: NDArray[np.int32]
    rewards: Array


def solve_events(model: EventModel, accuracy: float = 1e-6, policy: ArrayLike | None = None) -> EventSolution:
    """The optimal gain up to ± accuracy, in the unit of the rewards, with a certificate; or an error.

    Policy iteration: a policy is evaluated by BiCGSTAB, from the last solution on, and some sweeps of value iteration
    follow. For models whose optimal gain is the same from every state. policy: where to begin, one action per state.
    """
    finite(0.0, strictly=True, accuracy=accuracy)
    tables = _tables(model)
    n = model.num_states
    values, updated = np.zeros(n), np.empty(n)
    chosen = np.zeros(n, dtype=np.int32)
    if policy is not None:
        given = np.broadcast_to(np.asarray(policy), (n,))
        check_indices(given, model.num_actions, "policy")
        chosen[:] = given
    else:
        _sweep(tables.probabilities, tables.successors, tables.rewards, values, updated, chosen, 0.0)
    lower, upper = tables.rewards.max(axis=0).min(), tables.rewards.max()
    with progress_bar("solving", 100) as advance:
        first = error = max(upper - lower, accuracy)
        for round_ in range(1, MOST_POLICIES + 1):
            error = max(LESS * error, TIGHT * accuracy)
            _evaluate(tables, chosen, model.initial_state, error, values)
            before = upper - lower
            for _ in range(SWEEPS):
                tie = TIE * (1.0 + np.abs(values).max())
                low, high = _sweep(
                    tables.probabilities, tables.successors, tables.rewards, values, updated, chosen, tie
                )
                slack = (len(tables.rewards) + tables.successors.shape[1] + 4) * ROUNDING * np.abs(values).max()
                if slack > accuracy:
                    raise DoesNotExist(
                        f"values of {np.abs(values).max():.0e} are rounded too much to certify {accuracy:g}: ask for "
                        f"an accuracy of {2.0 * slack:.0e}, or leave out states that hardly matter"
                    )
                lower, upper = max(lower, low - slack), min(upper, high + slack)
                values, updated = updated - updated[model.initial_state], values
                if upper - lower <= 2.0 * accuracy:
                    return EventSolution(model, chosen, float(lower), float(upper), values, round_)
            done = np.log(before / (upper - lower)) / np.log(first / accuracy) if first > accuracy else 0.0
            advance(int(100 * done), f"between {lower:.6g} and {upper:.6g}")
    raise DoesNotExist(
        f"the optimal gain could not be certified: it lies between {lower:.9g} and {upper:.9g}. "
        "Is it the same from every state? Else solve(model.to_model()) is for it"
    )


def _tables(model: EventModel) -> _Tables:
    """What happens in every state, asked for once."""
    states = np.arange(model.num_states)
    probabilities, successors, rewards = [], [], []
    for action in range(model.num_actions):
        chances, after, paid = (np.atleast_2d(np.asarray(part)) for part in model.events(states, action))
        try:
            shape = np.broadcast_shapes((1, model.num_states), chances.shape, after.shape, paid.shape)
            if shape[1:] != (model.num_states,):
                raise ValueError(shape)
        except ValueError:
            raise InvalidInput(
                f"events must return arrays of shape (events, {model.num_states}), or that broadcast to it, not "
                f"{chances.shape}, {after.shape} and {paid.shape}"
            ) from None
        chances = np.asarray(chances, dtype=np.float64)
        sums = np.broadcast_to(chances, (shape[0], chances.shape[1])).sum(axis=0)
        if not (chances.min() >= 0.0 and np.abs(sums - 1.0).max() <= ROW_SUM_TOLERANCE):
            x = int(np.abs(sums - 1.0).argmax())
            raise InvalidInput(f"the probabilities of the events of action {action} in state {x} sum to {sums[x]:.9g}")
        if not np.isfinite(paid).all():
            raise InvalidInput(f"a reward of action {action} is not a finite number")
        check_indices(after, model.num_states, f"the successors of action {action}")
        probabilities.append(np.broadcast_to(chances / sums, (shape[0], chances.shape[1])))
        successors.append(np.broadcast_to(after, shape).astype(np.int32))
        rewards.append(np.broadcast_to((chances / sums * paid).sum(axis=0), (model.num_states,)))
    each = max(len(part) for part in successors)
    width = max(part.shape[1] for part in probabilities)
    chances = np.zeros((model.num_actions, each, width))
    after = np.empty((model.num_actions, each, model.num_states), dtype=np.int32)
    after[:] = states
    for action in range(model.num_actions):
        chances[action, : len(probabilities[action])] = probabilities[action]
        after[action, : len(successors[action])] = successors[action]
    return _Tables(chances, after, np.array(rewards, dtype=np.float64))


def _evaluate(tables: _Tables, policy: NDArray[np.int32], start: int, error: float, values: Array) -> None:
    """Solve (I − P_π) V = r_π − λ, V(start) = 0, from the V given, up to a root mean square error."""
    n = len(policy)
    rows, columns, entries, rewards = _policy_rows(
        tables.probabilities, tables.successors, tables.rewards, policy, start
    )
    begins, columns, entries = sort_entries(rows, columns, entries, n)
    unit = np.zeros(n)
    unit[start] = 1.0
    # With W = V + λ: (I − P_π + 1 e_sᵀ) W = r_π. The diagonal's part of 1 e_sᵀ makes the rest invertible.
    values += rewards.mean() - values[start]
    solve_sparse(begins, columns, entries, 1.0 - unit, unit, rewards, error, MOST_ROUNDS, values)
    values -= values[start]


@kernel
def _policy_rows(probabilities: Any, successors: Any, rewards: Any, policy: Any, start: Any) -> Any:
    """I − P_π + e_s e_sᵀ, entry by entry, and r_π."""
    each, n = successors.shape[1:]
    size = (each + 1) * n
    rows, columns, entries = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32), np.empty(size)
    earned = np.empty(n)
    place = 0
    for x in range(n):
        a = policy[x]
        earned[x] = rewards[a, x]
        rows[place], columns[place], entries[place] = x, x, 2.0 if x == start else 1.0
        place += 1
        for e in range(each):
            rows[place], columns[place] = x, successors[a, e, x]
            entries[place] = -probabilities[a, e, x if probabilities.shape[2] > 1 else 0]
            place += 1
    return rows, columns, entries, earned


@kernel
def _sweep(
    probabilities: Any, successors: Any, rewards: Any, values: Any, updated: Any, policy: Any, tie: Any
) -> Any:  # fmt: skip
    """updated = max_a r + P V, and the policy that attains it; the least and the largest change of a value."""
    num_actions, each, n = successors.shape
    low, high = np.inf, -np.inf
    for x in range(n):
        best = -np.inf
        kept = policy[x]
        for i in range(num_actions):
            a = kept if i == 0 else i - 1 if i <= kept else i  # the policy's own action first
            total = rewards[a, x]
            for e in range(each):
                chance = probabilities[a, e, x if probabilities.shape[2] > 1 else 0]
                total += chance * values[successors[a, e, x]]
            if i == 0 or total > best + tie:
                policy[x] = a
            best = max(best, total)
        updated[x] = best
        low, high = min(low, best - values[x]), max(high, best - values[x])
    return low, high
