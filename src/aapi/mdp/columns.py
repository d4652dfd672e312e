"""Tables in text files: columns of labels and of numbers, by their headings or in order; errors name the line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import InvalidInput
from aapi.files import reading
from aapi.progress import progress_bar

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from aapi.array_types import Array, Integers

# The headings that stand for a column, in lower case.
HEADINGS = {
    "state": ("state", "s", "observation", "obs", "from", "state_from", "idstatefrom"),
    "action": ("action", "a", "idaction"),
    "next_state": (
        "next_state", "s'", "s_next", "next", "successor", "next_observation", "next_obs", "to", "state_to",
        "idstateto",
    ),
    "probability": ("probability", "p", "prob"),
    "reward": ("reward", "r"),
    "terminated": ("terminated", "terminal", "done"),
}  # fmt: skip
MODEL = ("state", "action", "next_state", "probability", "reward")
LOG = ("state", "action", "reward", "next_state")
LABELS = ("state", "action", "next_state", "terminated")  # all other columns are numbers
TEXTS = (".csv", ".tsv", ".txt")
WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,14}))(?:\.0*)?")
FIRST_LINE = 1 << 16  # bytes in which a heading must end
NOT_UTF_8 = "{} is not text in UTF-8: save it in that encoding (Excel calls it CSV UTF-8)"
SHOWN = 10_000  # lines between two steps of the progress bar


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a file. labels: for each column of labels, the place in its list of texts; lines: where rows were."""

    labels: Mapping[str, Integers]
    texts: Mapping[str, Sequence[str]]
    numbers: Mapping[str, Array]
    lines: Integers


@dataclass(frozen=True)
class _Layout:
    """Where the columns of a file are. kind: model or log."""

    kind: str
    delimiter: str
    places: Mapping[str, int]
    has_heading: bool


def canonical(text: str) -> str:
    """A label as it is called: without blanks around it, and 3 for 3.0."""
    text = text.strip()
    match = WHOLE.fullmatch(text)
    return match[1] if match else text


def number_labels(texts: Sequence[str], *, by_name: bool = False) -> tuple[Integers, tuple[str, ...] | None]:
    """The number of each label, and the labels in their order, unless these are 0, 1, … themselves.

    Whole numbers are in the order of numbers, other labels in that of the list, or sorted.
    """
    whole = all(WHOLE.fullmatch(text) for text in texts)
    if not whole and not by_name:
        return np.arange(len(texts)), tuple(texts)
    values = np.array([int(text) for text in texts]) if whole else np.array(texts)
    order = np.argsort(values, kind="stable")
    numbers = np.empty(len(texts), dtype=np.int64)
    numbers[order] = np.arange(len(texts))
    in_order = values[order]
    if whole and (in_order == np.arange(len(texts))).all():
        return numbers, None
    return numbers, tuple(map(str, in_order.tolist()))


def numbered(table: Table, *columns: str, by_name: bool = False) -> tuple[list[Integers], tuple[str, ...] | None, int]:
    """The numbers of the labels in columns that share them, the labels, and how many there are."""
    known: dict[str, int] = {}
    places = []
    for column in columns:
        texts = map(canonical, table.texts[column])
        places.append(np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64))
    numbers, names = number_labels(list(known), by_name=by_name)
    return [numbers[place][table.labels[name]] for place, name in zip(places, columns, strict=True)], names, len(known)


def short(text: object) -> str:
    """A value for a message, cut where it is long."""
    shown = repr(text)
    return shown if len(shown) <= 40 else shown[:36] + "…'"


def text_kind(path: str | os.PathLike[str]) -> str:
    """Whether a text file holds a model, or a log; an error if it is neither."""
    with reading(path, "a table") as file:
        return _layout(path, file.read(FIRST_LINE)).kind


def read_table(path: str | os.PathLike[str], kind: str) -> Table:
    """The columns of a model or of a log."""
    with reading(path, "a table") as file:
        layout = _layout(path, file.read(FIRST_LINE))
        if layout.kind != kind:
            raise InvalidInput(_other_kind(path))
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        with progress_bar(f"reading {path}", size) as advance:
            try:
                return _read(path, layout, csv.reader(_counted(text, advance), delimiter=layout.delimiter))
            except csv.Error as error:
                raise InvalidInput(f"{path} is not a table ({error})") from None
            except UnicodeDecodeError:
                raise InvalidInput(NOT_UTF_8.format(path)) from None
            finally:
                text.detach()


def _other_kind(path: str | os.PathLike[str]) -> str:
    return f"{path} is not a log of transitions, which has the columns {', '.join(LOG)}: it is a model"


def _counted(lines: Iterable[str], advance: object) -> Iterator[str]:
    """The lines, while the progress bar moves."""
    read, number = 0, 0
    for number, line in enumerate(lines, 1):
        read += len(line)
        if number % SHOWN == 0:
            advance(read)  # type: ignore[operator]
            read = 0
        yield line


def _layout(path: str | os.PathLike[str], start: bytes) -> _Layout:
    """What the first line says."""
    if not start.strip():
        raise InvalidInput(f"{path} is empty")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidInput(NOT_UTF_8.format(path))
    if b"\0" in start:
        raise InvalidInput(f"{path} is not a table of text")
    lines = start.decode("utf-8-sig", errors="replace").splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    cells = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
    if len(cells) == len(MODEL) and all(_is_number(cell) for cell in cells[3:]):
        return _Layout("model", delimiter, {name: place for place, name in enumerate(MODEL)}, has_heading=False)
    headings = [cell.lower().replace(" ", "_") for cell in cells]
    places = {
        column: headings.index(word) for column, words in HEADINGS.items() for word in words[::-1] if word in headings
    }
    for kind, columns in (("model", MODEL), ("log", LOG)):
        if all(column in places for column in columns):
            twice = [cells[place] for place in places.values() if headings.count(headings[place]) > 1]
            if twice:
                raise InvalidInput(f"{path} has two columns called {short(twice[0])}: remove or rename one")
            return _Layout(kind, delimiter, places, has_heading=True)
    raise InvalidInput(
        f"{path} needs the columns {', '.join(MODEL)} for a model, or {', '.join(LOG)} for a log of transitions; "
        f"its first line is {short(first)}"
    )


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _number(cell: str) -> float:
    """A number as other programs write it: without Python's underscores."""
    if "_" in cell:
        raise ValueError
    return float(cell)


def _read(path: str | os.PathLike[str], layout: _Layout, rows: Iterator[Sequence[str]]) -> Table:
    wanted = (*MODEL,) if layout.kind == "model" else (*LOG, "terminated")
    places = {name: layout.places[name] for name in wanted if name in layout.places}
    known: dict[str, dict[str, int]] = {name: {} for name in places if name in LABELS}
    labels = {name: array("q") for name in known}
    numbers = {name: array("d") for name in places if name not in LABELS}
    lines, last, skip = array("q"), max(places.values()), layout.has_heading
    for row in rows:
        if not row or (len(row) == 1 and not row[0].strip()):
            continue
        if skip:
            skip = False
            continue
        line = int(rows.line_num)  # type: ignore[attr-defined]
        if len(row) <= last:
            raise InvalidInput(f"{path}, line {line}: {len(row)} columns, where there should be {last + 1}")
        for name, column in labels.items():
            cell = row[places[name]]
            code = known[name].get(cell)
            if code is None:
                if not cell.strip():
                    raise InvalidInput(f"{path}, line {line}: the {name} is empty")
                code = known[name][cell] = len(known[name])
            column.append(code)
        for name, values in numbers.items():
            try:
                values.append(_number(row[places[name]]))
            except ValueError:
                raise InvalidInput(f"{path}, line {line}: the {name} {short(row[places[name]])} is no number") from None
        lines.append(line)
    if not lines:
        raise InvalidInput(f"{path} has no rows")
    return Table(
        {name: np.frombuffer(column, dtype=np.int64) for name, column in labels.items()},
        {name: list(texts) for name, texts in known.items()},
        {name: np.frombuffer(column) for name, column in numbers.items()},
        np.frombuffer(lines, dtype=np.int64),
    )
