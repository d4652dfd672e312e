"""A store as CSV or Parquet, for other programs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from aapi.errors import InvalidInput, install_extra
from aapi.files import atomic_write

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from aapi.experiments.store import Store

ExportRow: TypeAlias = dict[str, object]

FORMATS = (".csv", ".parquet")


def export(store: Store, path: str | os.PathLike[str], *, curves: bool = False) -> int:
    """Write a row for each run, or, with `curves`, one for each run and step of its grid. Returns how many.

    The format is that of the ending: .csv or .parquet (extra `parquet`). Settings have a column each.
    """
    ending = Path(path).suffix
    if ending not in FORMATS:
        raise InvalidInput(f"{path} must end in {' or '.join(FORMATS)}, which says the format")
    settings = sorted({name for row in store.rows() for name in cast("ExportRow", row["settings"])})
    rows = _curves(store, settings) if curves else _runs(store, settings)
    return (_write_csv if ending == ".csv" else _write_parquet)(path, rows)


def _runs(store: Store, settings: list[str]) -> Iterator[ExportRow]:
    for row in store.rows():
        given = cast("ExportRow", row.pop("settings"))
        yield row | {f"setting_{name}": given.get(name) for name in settings}


def _curves(store: Store, settings: list[str]) -> Iterator[ExportRow]:
    for row in _runs(store, settings):
        if row["error"] is None:
            run = {name: row[name] for name in ("key", "problem", "reward_scale", "algorithm", "seed", "run")}
            for step, total in zip(*store.curve(str(row["key"])), strict=True):
                yield {**run, "step": int(step), "cumulated_reward": float(total), "average_reward": total / step}


def _write_csv(path: str | os.PathLike[str], rows: Iterator[ExportRow]) -> int:
    count = 0
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(text, list(row))
                writer.writeheader()
            writer.writerow(row)  # floats by repr: every digit
            count += 1
        text.detach()
    return count


def _write_parquet(path: str | os.PathLike[str], rows: Iterator[ExportRow]) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(f"Parquet needs pyarrow: {install_extra('parquet')}") from None
    table = pyarrow.Table.from_pylist(_one_type(list(rows)))
    with atomic_write(path) as file:
        pyarrow.parquet.write_table(table, file)
    return int(table.num_rows)


def _one_type(rows: list[ExportRow]) -> list[ExportRow]:
    """Give each column one type: of numbers and texts, text; of whole numbers and others, float."""
    for name in rows[0] if rows else ():
        kinds = {type(row[name]) for row in rows} - {type(None)}
        if len(kinds) > 1:
            convert = cast("Callable[[object], object]", float if kinds <= {int, float} else str)
            for row in rows:
                row[name] = None if row[name] is None else convert(row[name])
    return rows
