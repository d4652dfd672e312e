"""Logged transitions: from a text file, from Parquet, or from columns in Python, as numbers of states and actions."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least
from aapi.errors import InvalidInput, install_extra
from aapi.files import MOST_BYTES, reading
from aapi.mdp.columns import HEADINGS, LABELS, LOG, TEXTS, WHOLE, Table, numbered, read_table, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from aapi.array_types import AnyArray, Array, Integers, Mask

LARGEST = 1e100  # squares of rewards, and of values many times as large, are added up
PAIRS, MORE = 1_000_000, 10  # pairs of a state and an action that any log may have, and so many for each of its rows
YES, NO = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")


@dataclass(frozen=True, eq=False)
class TransitionLog:
    """The transitions of a log, one a row, in the order of the log.

    states, actions, next_states: numbers; state_names, action_names: what the log calls them, None for 0, 1, …
    dropped: rows left out at ends of the log, since what they lead to is never left.
    """

    states: Integers
    actions: Integers
    rewards: Array
    next_states: Integers
    num_states: int
    num_actions: int
    state_names: tuple[str, ...] | None
    action_names: tuple[str, ...] | None
    dropped: int = 0

    def __repr__(self) -> str:
        return f"TransitionLog({len(self.states)} rows, {self.num_states} states, {self.num_actions} actions)"


def read_log(
    log: str | os.PathLike[str] | Mapping[str, ArrayLike], *, continuing: bool = False,
    num_states: int | None = None, num_actions: int | None = None,
) -> TransitionLog:  # fmt: skip
    """The log in a .csv or .parquet file, or in columns: state, action, reward, next_state; others are not read.

    States and actions are names or whole numbers. A column `terminated` (or done) marks rows that end an episode: then
    `continuing` must say that the next row begins where this one leads to, and rows must be in the order of time.
    num_states, num_actions: if given, labels are the numbers 0, 1, … below them, whether or not they all occur.
    """
    path = log if isinstance(log, str | os.PathLike) else None
    if path is None:
        table, where = _from_columns(dict(log)), "the log"  # type: ignore[arg-type]
    elif Path(path).suffix.lower() in TEXTS:
        table, where = read_table(path, "log"), str(path)
    else:
        table, where = _read_parquet(path), str(path)
    (states, next_states), state_names, states_seen = _numbers(table, "state", num_states, where)
    (actions,), action_names, actions_seen = _numbers(table, "action", num_actions, where)
    rewards = table.numbers["reward"]
    wrong = ~(abs(rewards) <= LARGEST)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(f"{where}, line {table.lines[row]}: the reward {rewards[row]} is not a number to add up")
    made = TransitionLog(
        states, actions, rewards, next_states, states_seen, actions_seen, state_names, action_names
    )  # fmt: skip
    if made.num_states * made.num_actions > max(PAIRS, MORE * len(rewards)):
        raise InvalidInput(
            f"{where}: {len(rewards)} rows are too few for {states_seen} states and {actions_seen} actions: states "
            "must come again and again; are they numbers that should be put into bins?"
        )
    return _without_dead_ends(_without_ends(made, _ends(table, where), where, continuing), num_states is None)


def _numbers(
    table: Table, column: str, count: int | None, where: str
) -> tuple[list[Integers], tuple[str, ...] | None, int]:
    """The numbers of the labels in the columns of states, or of actions; their names, and how many there are."""
    columns = ("state", "next_state") if column == "state" else (column,)
    numbers, names, seen = numbered(table, *columns, by_name=True)
    if count is None:
        return numbers, names, seen
    at_least(1, **{f"num_{column}s": count})
    labels = [str(number) for number in range(seen)] if names is None else names
    wrong = [label for label in labels if not WHOLE.fullmatch(label) or not 0 <= int(label) < count]
    if wrong:
        raise InvalidInput(f"{where}: num_{column}s is {count}, so the {column} {short(wrong[0])} is not one")
    values = np.array([int(label) for label in labels])
    return [values[each] for each in numbers], None, int(count)


def _ends(table: Table, where: str) -> Mask | None:
    """Which rows end an episode."""
    if "terminated" not in table.labels:
        return None
    known = []
    for text in table.texts["terminated"]:
        word = text.strip().lower().removesuffix(".0")
        if word not in YES + NO:
            raise InvalidInput(f"{where}: terminated must be true or false in every row, not {short(text)}")
        known.append(word in YES)
    return np.array(known, dtype=bool)[table.labels["terminated"]]


def _without_ends(log: TransitionLog, ends: Mask | None, where: str, continuing: bool) -> TransitionLog:
    """Rows that end an episode lead to where the next row begins."""
    if ends is None or not ends.any():
        return log
    if not continuing:
        raise InvalidInput(
            f"{where} has episodes, which end in {ends.sum()} of {len(ends)} rows, and a gain is of a task that never "
            "ends: add --continuing (in Python, continuing=True) for the task in which the next one begins there"
        )
    after = np.where(ends, np.append(log.states[1:], log.next_states[-1]), log.next_states)
    stop = len(ends) - int(ends[-1])
    if stop == 0:
        raise InvalidInput(f"{where} has one row, which ends an episode")
    cut = replace(log, next_states=after[:stop], dropped=len(ends) - stop)
    return replace(cut, states=log.states[:stop], actions=log.actions[:stop], rewards=log.rewards[:stop])


def _without_dead_ends(log: TransitionLog, renumber: bool) -> TransitionLog:
    """Without the last row of each piece, where it leads to a state that occurs nowhere else; and unused states."""
    left = np.bincount(log.states, minlength=log.num_states) > 0
    entered = np.bincount(log.next_states, minlength=log.num_states)
    breaks = np.append(log.next_states[:-1] != log.states[1:], True)
    keep = ~(breaks & ~left[log.next_states] & (entered[log.next_states] == 1))
    if keep.all() or not keep.any():
        return log
    used = left | (np.bincount(log.next_states[keep], minlength=log.num_states) > 0)
    used[log.states[~keep]] = True
    used |= not renumber
    number, names = np.cumsum(used) - 1, log.state_names
    if names is None and not used[: used.sum()].all():
        names = tuple(map(str, range(log.num_states)))
    return replace(
        log, states=number[log.states[keep]], actions=log.actions[keep], rewards=log.rewards[keep],
        next_states=number[log.next_states[keep]], num_states=int(used.sum()), dropped=log.dropped + int((~keep).sum()),
        state_names=None if names is None else tuple(name for name, there in zip(names, used, strict=True) if there),
    )  # fmt: skip


def _columns(names: Mapping[str, str], where: str) -> dict[str, str]:
    """The column for each heading. names: those there are, by what they are in lower case."""
    found = {
        column: next(names[word] for word in HEADINGS[column] if word in names)
        for column in (*LOG, "terminated")
        if any(word in names for word in HEADINGS[column])
    }
    lacking = [column for column in LOG if column not in found]
    if lacking:
        held = ", ".join(list(names)[:12]) or "none"
        raise InvalidInput(f"{where} needs the columns {', '.join(LOG)}: it has {held[:200]}")
    return found


def _table(columns: Mapping[str, AnyArray | tuple[Integers, list[str]]], lines: Integers) -> Table:
    labels = {name: column for name, column in columns.items() if isinstance(column, tuple)}
    return Table(
        {name: codes for name, (codes, _) in labels.items()},
        {name: texts for name, (_, texts) in labels.items()},
        {name: column for name, column in columns.items() if not isinstance(column, tuple)},
        lines,
    )


def _from_columns(log: dict[str, ArrayLike]) -> Table:
    found = _columns({str(name).lower(): name for name in log}, "the log")
    columns = {name: np.asarray(log[heading]) for name, heading in found.items()}
    lengths = {array.shape for array in columns.values()}
    if len(lengths) > 1 or len(next(iter(lengths))) != 1 or lengths == {(0,)}:
        raise InvalidInput(f"the columns of a log must be lists of one length, not of the shapes {sorted(lengths)}")
    made: dict[str, AnyArray | tuple[Integers, list[str]]] = {}
    for name, array in columns.items():
        if name in LABELS:
            if array.dtype.kind not in "iubUfO":
                raise InvalidInput(f"the column {name} of a log must hold names or whole numbers, not {array.dtype}")
            values, codes = np.unique(array.astype(str) if array.dtype.kind == "O" else array, return_inverse=True)
            _check_whole(values, name, "the log")
            made[name] = codes.astype(np.int64), [str(value) for value in values.tolist()]
        elif array.dtype.kind not in "iubf":
            raise InvalidInput(f"the column {name} of a log must hold numbers, not {array.dtype}")
        else:
            made[name] = array.astype(np.float64)
    return _table(made, np.arange(len(columns["reward"])))


def _check_whole(values: AnyArray, name: str, where: str) -> None:
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values == np.floor(values))).all():
        wrong = values[~(np.isfinite(values) & (values == np.floor(values)))][0]
        raise InvalidInput(
            f"{where}: the column {name} must hold names or whole numbers, not {wrong}: observations must be put into "
            "bins first"
        )


def _read_parquet(path: str | os.PathLike[str]) -> Table:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(f"{path}: Parquet needs pyarrow: {install_extra('parquet')}") from None
    with reading(path, "a log") as file:
        try:
            with pyarrow.parquet.ParquetFile(file) as opened:
                found = _check_parquet(path, opened, os.fstat(file.fileno()).st_size)
                schema = opened.schema_arrow
            texts = [name for name in found.values() if pyarrow.types.is_string(schema.field(name).type)]
            file.seek(0)
            with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as opened:  # long names are held once
                table = opened.read(columns=list(found.values()), use_threads=False)
            columns = {name: _parquet_column(path, name, table.column(heading)) for name, heading in found.items()}
        except pyarrow.ArrowException as error:
            raise ValueError(str(error)) from None
    return _table(columns, np.arange(1, table.num_rows + 1))


def _check_parquet(path: str | os.PathLike[str], file: Any, size: int) -> dict[str, str]:
    """The heading of each column; an error if there is too much in them."""
    metadata, names = file.metadata, file.schema_arrow.names
    found = _columns({name.lower(): name for name in names}, str(path))
    if metadata.num_columns != len(names):
        raise InvalidInput(f"{path} has columns of lists or records; a log has a number or a name in each")
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    unpacked = sum(
        group.column(names.index(name)).total_uncompressed_size for group in groups for name in found.values()
    )
    if metadata.num_rows > max(PAIRS, 8 * size) or unpacked > max(MOST_BYTES // 4, 8 * size):
        raise InvalidInput(f"{path} claims {metadata.num_rows} rows, {unpacked} bytes, in a file of {size} bytes")
    if metadata.num_rows == 0:
        raise InvalidInput(f"{path} has no rows")
    return found


def _parquet_column(path: str | os.PathLike[str], name: str, column: Any) -> AnyArray | tuple[Integers, list[str]]:
    import pyarrow
    import pyarrow.compute

    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    if column.null_count:
        raise InvalidInput(f"{path}: the column {name} has {column.null_count} rows without a value")
    numeric = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)
    if name not in LABELS:
        if not numeric:
            raise InvalidInput(f"{path}: the column {name} must hold numbers, not {kind}")
        return np.asarray(column.to_numpy()).astype(np.float64)
    if not numeric and not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
        raise InvalidInput(f"{path}: the column {name} must hold names or whole numbers, not {kind}")
    coded = column.unify_dictionaries() if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
    coded = coded.combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pyarrow.ChunkedArray) else coded
    if pyarrow.types.is_floating(kind):
        _check_whole(np.asarray(coded.dictionary), name, str(path))
    codes = np.asarray(coded.indices).astype(np.int64)
    texts = [str(value) for value in coded.dictionary.to_pylist()]
    if any(not text.strip() for text in texts):
        raise InvalidInput(f"{path}: the column {name} has a row with an empty name")
    return codes, texts
