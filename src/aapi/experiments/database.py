"""The SQLite file behind a store: opening and checking it, transactions, the lock of its folder, and error messages.

Writing is in transactions, in WAL mode: a process killed at any moment leaves all transactions before it.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import aapi
from aapi.errors import AapiError, InvalidInput
from aapi.experiments.sources import source_version

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

FORMAT = 1
FILE = "results.db"
LOCK = ".lock"
RECOVERY = "nothing was changed; move it away and start anew, or save what is left with: sqlite3 results.db .recover"
# In `insides` are learner traces and regret decompositions; the first versions had no such table.
TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS grids (key TEXT PRIMARY KEY, steps BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS configurations (
    key TEXT PRIMARY KEY, problem TEXT NOT NULL, algorithm TEXT NOT NULL, reward_scale REAL NOT NULL,
    steps INTEGER NOT NULL, settings TEXT NOT NULL, description TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY, configuration TEXT NOT NULL REFERENCES configurations, seed INTEGER NOT NULL,
    run INTEGER NOT NULL, average_reward REAL, seconds REAL NOT NULL, error TEXT, grid TEXT REFERENCES grids,
    cumulated BLOB, checksum INTEGER
);
CREATE INDEX IF NOT EXISTS runs_of_a_configuration ON runs (configuration, seed, run);
CREATE TABLE IF NOT EXISTS insides (run TEXT PRIMARY KEY, contents BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    id INTEGER PRIMARY KEY, command TEXT NOT NULL, plan TEXT NOT NULL, machine TEXT NOT NULL, began REAL NOT NULL,
    ended REAL, seconds REAL
);
"""
SqlValue = None | int | float | str | bytes


class StoreError(AapiError):
    """The store cannot be read or written; the message says what is safe."""


class Database:
    """The file `results.db` of a folder. One process at a time may write; any number may read while it does."""

    def __init__(self, folder: str | os.PathLike[str], *, write: bool = True) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        self._open: list[sqlite3.Connection] = [locked_folder(self.folder)] if write else []
        if not write and not self.path.is_file():
            raise InvalidInput(f"there are no results in {self.folder}: it has no {FILE}")
        with self.errors_explained("opened"):
            self.connection = _connect(self.path) if write else _connect_reader(self.path)
            self._open.insert(0, self.connection)
            empty = not self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not (write and empty):
                self._check()  # before anything is written
            if write:
                self.connection.execute("PRAGMA journal_mode = WAL")
                self.connection.execute("PRAGMA synchronous = NORMAL")
                self._create_tables()

    def _create_tables(self) -> None:
        """Those that are not there; who began the store stays noted."""
        about = {"format": FORMAT, "aapi": aapi.__version__, "sources": source_version()}
        with self.writing() as connection:
            for statement in TABLES.split(";\n"):
                connection.execute(statement)
            connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", [(k, str(v)) for k, v in about.items()])

    def _check(self) -> None:
        """Another version's store, or a damaged one, is left as it is."""
        try:
            about = dict(self.connection.execute("SELECT name, value FROM about"))
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            about = {}
        if "format" not in about:
            raise StoreError(f"{self.path} is a database of something else: nothing was changed; choose another folder")
        if about["format"] != str(FORMAT):
            raise StoreError(
                f"{self.path} was made by aapi {about.get('aapi')} in format {about['format']}, and this is aapi "
                f"{aapi.__version__} with format {FORMAT}: nothing was changed; choose another folder, or that version"
            )
        if damage := [row[0] for row in self.connection.execute("PRAGMA quick_check(1)") if row[0] != "ok"]:
            raise sqlite3.DatabaseError(damage[0])

    @contextmanager
    def errors_explained(self, what: str) -> Iterator[None]:
        """Errors in this block become one line: what happened to the file, and what is safe. The file is closed."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, json.JSONDecodeError) as error:
            self.close()
            raise StoreError(_explain(self.path, what, error)) from error
        except StoreError:
            self.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is stored, or nothing; errors are explained."""
        with self.errors_explained("written to"):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")
                raise

    def query(self, statement: str, values: Sequence[SqlValue] = ()) -> list[sqlite3.Row]:
        """All rows of a query; errors are explained."""
        with self.errors_explained("read"):
            return self.connection.execute(statement, values).fetchall()

    def damaged(self, what: str) -> StoreError:
        """The error for contents that are not what was written."""
        return StoreError(f"{self.path} is damaged ({what} is not what was written): {RECOVERY}")

    def close(self) -> None:
        """Let go of the file, and of the folder."""
        for connection in self._open:
            with suppress(sqlite3.Error):
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_being_written(self) -> bool:
        """Whether some process writes to the folder."""
        path = self.folder / LOCK
        if not path.exists():
            return False
        try:
            with closing(_connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.0)) as lock:
                lock.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            return "locked" in str(error)
        return False


def locked_folder(folder: Path) -> sqlite3.Connection:
    """Hold a folder until this process ends, however it ends: by a transaction in a database of its own."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}; nothing was started") from None
    lock = None
    try:
        lock = _connect(folder / LOCK, timeout=1.0)  # longer than `is_being_written` holds it
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if lock is not None:
            lock.close()
        if "locked" in str(error):
            raise StoreError(
                f"another process is writing to {folder}: wait for it to end, or choose another folder; nothing was "
                "started, and reading (aapi export) is fine meanwhile"
            ) from None
        raise StoreError(_explain(folder, "written to", error)) from None
    return lock


def _connect(path: str | Path, *, uri: bool = False, timeout: float = 30.0) -> sqlite3.Connection:
    connection = sqlite3.connect(path, uri=uri, isolation_level=None, timeout=timeout, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing; where even SQLite's own files beside it may not be made, without them."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    database = _connect(uri, uri=True)
    try:
        database.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:  # there are runs in it that would be missed
            raise
        database.close()
        database = _connect(f"{uri}&immutable=1", uri=True)
    return database


def _explain(path: Path, what: str, error: Exception) -> str:
    text = " ".join(str(error).split())
    if "full" in text or "disk I/O" in text:
        return (
            f"{path} could not be {what}: {text}; all runs stored before are safe: make room, and give the same "
            "command again to go on"
        )
    if "readonly" in text or "unable to open" in text or "permission" in text:
        return f"{path} could not be {what}: {text}; nothing was changed: choose a folder that may be written to"
    if "locked" in text:
        return f"{path} could not be {what}: {text}; all runs stored before are safe: try again when it is free"
    return f"{path} is damaged ({text}): {RECOVERY}"
