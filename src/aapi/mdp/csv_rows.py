"""Models as rows of text, one for each thing that may happen: state, action, next_state, probability, reward."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from aapi.errors import InvalidInput
from aapi.files import atomic_write
from aapi.mdp.arrays import LARGEST, ROW_SUM_TOLERANCE
from aapi.mdp.columns import MODEL, WHOLE, canonical, numbered, read_table, short

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from aapi.array_types import Array, Integers, Mask
    from aapi.mdp.columns import Table

PAIRS = 1_000_000  # pairs of a state and an action, or rows that stand for them, that any file may ask for
MORE = 20  # … and so many for each of its rows


class ModelRows(TypedDict):
    """The arguments of `FiniteMDP.from_outcomes`."""

    pairs: Integers
    successors: Integers
    probabilities: Array
    rewards: Array
    num_states: int
    num_actions: int
    state_names: tuple[str, ...] | None
    action_names: tuple[str, ...] | None


def read_model_rows(path: str | os.PathLike[str]) -> ModelRows:
    """The rows of a file; the heading may be missing, and states and actions may be names or numbers.

    Where an action has no rows in a state, it acts as the first one that has.
    """
    table = read_table(path, "model")
    (states, successors), state_names, num_states = numbered(table, "state", "next_state")
    (actions,), action_names, num_actions = numbered(table, "action")
    described = np.bincount(states, minlength=num_states) > 0
    called = state_names or range(num_states)
    if not described.all():
        lost = int(np.argmin(described))
        line = table.lines[np.argmax(successors == lost)]
        raise InvalidInput(f"{path}, line {line}: no row begins in the next_state {short(called[lost])}")
    _check_rows(path, table)
    _bounded(path, num_states * num_actions, len(states))
    pairs = states * num_actions + actions
    sums = np.bincount(pairs, table.numbers["probability"], num_states * num_actions)
    there = np.bincount(pairs, minlength=num_states * num_actions) > 0
    off = there & ~(abs(sums - 1.0) <= ROW_SUM_TOLERANCE)
    if off.any():
        pair = int(np.argmax(off))
        x, a = divmod(pair, num_actions)
        named = f"state {short(called[x])}, action {short((action_names or range(num_actions))[a])}"
        line = table.lines[np.argmax(pairs == pair)]
        raise InvalidInput(f"{path}, line {line}: the probabilities of {named} sum to {sums[pair]:.12g}, not to 1")
    rows = _fill(path, pairs, there.reshape(num_states, num_actions))
    return ModelRows(
        pairs=rows[0], successors=successors[rows[1]], probabilities=table.numbers["probability"][rows[1]],
        rewards=table.numbers["reward"][rows[1]], num_states=num_states, num_actions=num_actions,
        state_names=state_names, action_names=action_names,
    )  # fmt: skip


def _check_rows(path: str | os.PathLike[str], table: Table) -> None:
    chances, paid = table.numbers["probability"], table.numbers["reward"]
    bounds = f"a finite number of at most {LARGEST:g}"
    _check(path, table, "probability", (chances >= 0.0) & (chances <= 1.0 + ROW_SUM_TOLERANCE), "between 0 and 1")
    _check(path, table, "reward", abs(paid) <= LARGEST, bounds)


def _check(path: str | os.PathLike[str], table: Table, name: str, right: Mask, bounds: str) -> None:
    if not right.all():
        row = int(np.argmin(right))
        value = table.numbers[name][row]
        raise InvalidInput(f"{path}, line {table.lines[row]}: the {name} must be {bounds}, not {value}")


def _bounded(path: str | os.PathLike[str], count: int, rows: int) -> None:
    if count > max(PAIRS, MORE * rows):
        raise InvalidInput(
            f"{path}: {rows} rows are too few for the {count} pairs of a state and an action that they speak of"
        )


def _fill(path: str | os.PathLike[str], pairs: Integers, there: Mask) -> tuple[Integers, Integers]:
    """A pair and a row for everything that may happen, with the rows of the first action for those that have none."""
    if there.all():
        return pairs, np.arange(len(pairs))
    states, actions = np.indices(there.shape)
    acts_as = (states * there.shape[1] + np.where(there, actions, there.argmax(axis=1)[:, None])).ravel()
    counts = np.bincount(pairs, minlength=there.size)
    lengths = counts[acts_as]
    _bounded(path, int(lengths.sum()), len(pairs))
    order, starts = np.argsort(pairs, kind="stable"), np.cumsum(counts) - counts
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(np.arange(there.size), lengths), order[np.repeat(starts[acts_as], lengths) + within]


def write_model_rows(
    path: str | os.PathLike[str], pairs: Integers, successors: Integers, probabilities: Array, rewards: Array,
    num_actions: int, state_names: Sequence[str] | None, action_names: Sequence[str] | None,
) -> None:  # fmt: skip
    """Write rows, in the order of the pairs x · actions + a; numbers with all their digits."""
    states = _written(state_names)
    actions = _written(action_names)
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(MODEL)
        for pair, y, p, r in zip(
            pairs.tolist(), successors.tolist(), probabilities.tolist(), rewards.tolist(), strict=True
        ):
            x, a = divmod(pair, num_actions)
            writer.writerow(
                (states[x] if states else x, actions[a] if actions else a, states[y] if states else y, p, r)
            )
        text.detach()


def _written(names: Sequence[str] | None) -> Sequence[str] | None:
    """The names, if they would be read as the same names in the same order; else there are numbers."""
    if names is None or len(set(names)) < len(names) or all(WHOLE.fullmatch(name) for name in names):
        return None
    return names if all(name and canonical(name) == name and name.isprintable() for name in names) else None
