"""The store: one SQLite file in the output folder, a row for each run. What is in it need not be done again."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sqlite3
import sys
import time
import zlib
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import aapi
from aapi.errors import AapiError, InvalidInput
from aapi.experiments.description import source_version
from aapi.experiments.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.work import Outcome

__all__ = ["FILE", "Run", "Store", "StoreError", "locked_folder"]

FORMAT = 1
FILE = "results.db"
LOCK = ".lock"
INSIDES = "CREATE TABLE insides (run TEXT PRIMARY KEY, contents BLOB NOT NULL, checksum INTEGER NOT NULL)"
SCHEMA = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE grids (key TEXT PRIMARY KEY, steps BLOB NOT NULL);
CREATE TABLE configurations (
    key TEXT PRIMARY KEY, problem TEXT NOT NULL, algorithm TEXT NOT NULL, reward_scale REAL NOT NULL,
    steps INTEGER NOT NULL, settings TEXT NOT NULL, description TEXT NOT NULL
);
CREATE TABLE runs (
    key TEXT PRIMARY KEY, configuration TEXT NOT NULL REFERENCES configurations, seed INTEGER NOT NULL,
    run INTEGER NOT NULL, average_reward REAL, seconds REAL NOT NULL, error TEXT, grid TEXT REFERENCES grids,
    cumulated BLOB, checksum INTEGER
);
CREATE INDEX runs_of_a_configuration ON runs (configuration, seed, run);
{INSIDES};
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, command TEXT NOT NULL, plan TEXT NOT NULL, machine TEXT NOT NULL, began REAL NOT NULL,
    ended REAL, seconds REAL
);
"""


class StoreError(AapiError):
    """The store cannot be read or written; it says what is safe."""


@dataclass(frozen=True)
class Run:
    """A run in the store: its average reward, or what went wrong."""

    key: str
    number: int
    average_reward: float | None
    seconds: float
    error: str | None


class Store:
    """Results in a folder. One process at a time may write; any number may read while it does.

    Writing is in transactions, in WAL mode: a process killed at any moment leaves all transactions before it.
    """

    def __init__(self, folder: str | os.PathLike[str], *, write: bool = True) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        self._lock = locked_folder(self.folder) if write else None
        if not write and not self.path.is_file():
            raise InvalidInput(f"there are no results in {self.folder}: it has no {FILE}")
        with self._told("opened"):
            self._database = _connection(self.path) if write else _reader(self.path)
            empty = not self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not (write and empty):
                self._check()  # before anything is written
            if write:
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = NORMAL")
            if write and empty:
                self._create()
            elif write:  # a store that was made before there was this table
                self._database.execute(INSIDES.replace("TABLE", "TABLE IF NOT EXISTS"))

    def _create(self) -> None:
        about = {"format": FORMAT, "aapi": aapi.__version__, "sources": source_version()}
        with self._transaction() as database:
            for statement in SCHEMA.split(";\n"):
                if statement.strip():
                    database.execute(statement)
            database.executemany("INSERT INTO about VALUES (?, ?)", [(k, str(v)) for k, v in about.items()])

    def _check(self) -> None:
        """Another version's store, or a damaged one, is left as it is."""
        try:
            about = dict(self._database.execute("SELECT name, value FROM about"))
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
        if damage := [row[0] for row in self._database.execute("PRAGMA quick_check(1)") if row[0] != "ok"]:
            raise sqlite3.DatabaseError(damage[0])

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say in one line what happened to the file, and what is safe."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, json.JSONDecodeError) as error:
            self.close()
            raise StoreError(_explained(self.path, what, error)) from error
        except StoreError:
            self.close()
            raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it is stored, or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
            self._database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Let go of the file."""
        for name in ("_database", "_lock"):
            connection = getattr(self, name, None)
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, plans: Sequence[Plan], left: float = 0.0) -> int:
        """Note a session: what is to be done, where, by which command. left: about how many seconds of work."""
        plan = {"lines": [line.facts() for line in plans], "left": left}
        machine = {
            "system": platform.platform(), "processors": os.cpu_count(), "python": platform.python_version(),
            "numpy": np.__version__, "aapi": aapi.__version__, "sources": source_version(),
        }  # fmt: skip
        row = (shlex.join(["aapi", *sys.argv[1:]]), json.dumps(plan, default=str), json.dumps(machine), time.time())
        with self._told("written to"), self._transaction() as database:
            cursor = database.execute("INSERT INTO sessions (command, plan, machine, began) VALUES (?, ?, ?, ?)", row)
            return int(cursor.lastrowid or 0)

    def end(self, session: int, seconds: float) -> None:
        """Note that a session came to its end."""
        with self._told("written to"), self._transaction() as database:
            row = (time.time(), seconds, session)
            database.execute("UPDATE sessions SET ended = ?, seconds = ? WHERE id = ?", row)

    def add(self, configuration: Configuration, label: str, outcomes: Sequence[Outcome]) -> None:
        """Keep some runs of a configuration, all or none; those that are there already stay as they are."""
        problem = configuration.problem
        described = (
            configuration.key, problem.label, label, problem.reward_scale, configuration.steps,
            json.dumps(dict(configuration.settings), default=str), json.dumps(configuration.description),
        )  # fmt: skip
        with self._told("written to"), self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO configurations VALUES (?, ?, ?, ?, ?, ?, ?)", described)
            for outcome in outcomes:
                database.execute("DELETE FROM runs WHERE key = ? AND error IS NOT NULL", (outcome.key,))
                database.execute(
                    "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._row(database, outcome)
                )

    @staticmethod
    def _row(database: sqlite3.Connection, outcome: Outcome) -> tuple[Any, ...]:
        whose = (outcome.key, outcome.configuration, outcome.seed, outcome.run)
        if outcome.cumulated is None or outcome.grid is None:
            return *whose, None, outcome.seconds, outcome.error, None, None, None
        steps = outcome.grid.astype("<i8").tobytes()
        curve = outcome.cumulated.astype("<f8").tobytes()
        grid = _grid_key(steps)
        database.execute("INSERT OR IGNORE INTO grids VALUES (?, ?)", (grid, steps))
        average = float(outcome.cumulated[-1] / outcome.grid[-1])
        return *whose, average, outcome.seconds, None, grid, curve, zlib.crc32(curve)

    def known(self, keys: Iterable[str], *, failed: bool = True) -> set[str]:
        """Which of these runs are in the store. failed: count those that failed, too."""
        wanted = list(keys)
        found: set[str] = set()
        extra = "" if failed else " AND error IS NULL"
        with self._told("read"):
            for i in range(0, len(wanted), 500):
                part = wanted[i : i + 500]
                marks = ",".join("?" * len(part))
                rows = self._database.execute(f"SELECT key FROM runs WHERE key IN ({marks}){extra}", part)  # noqa: S608
                found.update(key for (key,) in rows)
        return found

    def runs(self, configuration: str, seed: int, numbers: Iterable[int]) -> list[Run]:
        """The runs of a configuration that are there, by number."""
        wanted = set(numbers)
        columns = "key, run, average_reward, seconds, error"
        query = f"SELECT {columns} FROM runs WHERE configuration = ? AND seed = ? ORDER BY run"  # noqa: S608
        with self._told("read"):
            rows = self._database.execute(query, (configuration, seed)).fetchall()
        return [Run(*row) for row in rows if row[1] in wanted]

    def curve(self, key: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The steps of a run's grid, and the sum of rewards up to each, as they were written."""
        query = (
            "SELECT grid, steps, cumulated, checksum, error FROM runs LEFT JOIN grids ON grid = grids.key "
            "WHERE runs.key = ?"
        )
        with self._told("read"):
            row = self._database.execute(query, (key,)).fetchone()
        if row is None:
            raise InvalidInput(f"{self.path} has no run {key}")
        grid, steps, cumulated, checksum, error = row
        if error is not None:
            raise InvalidInput(f"the run {key} failed and has no curve: {error}")
        blobs = isinstance(steps, bytes) and isinstance(cumulated, bytes)
        if not blobs or zlib.crc32(cumulated) != checksum or _grid_key(steps) != grid or len(steps) != len(cumulated):
            raise StoreError(f"{self.path} is damaged (the curve of run {key} is not what was written): {RECOVERY}")
        return np.frombuffer(steps, dtype="<i8"), np.frombuffer(cumulated, dtype="<f8")

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions, the first one first."""
        with self._told("read"):
            cursor = self._database.execute("SELECT * FROM sessions ORDER BY id")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        return [row | {name: json.loads(row[name]) for name in ("plan", "machine")} for row in rows]

    def plans(self) -> list[Plan]:
        """What was planned in this folder: of each study, the latest plan."""
        found: dict[str, list[Plan]] = {}
        sessions = self.sessions()
        for session in sessions:
            lines = session["plan"]["lines"] if isinstance(session["plan"], dict) else [None]
            try:
                read = [Plan.read(line) for line in lines]
            except InvalidInput:
                continue
            for study in {plan.study for plan in read}:
                found.pop(study, None)
            for plan in read:
                found.setdefault(plan.study, []).append(plan)
        if not found and sessions:
            raise StoreError(
                f"the plans in {self.path} are another version's: give the command again that made it: "
                f"{sessions[-1]['command']}"
            )
        return [plan for plans in found.values() for plan in plans]

    def add_inside(self, run: str, contents: bytes) -> None:
        """Keep what a run looks like inside."""
        with self._told("written to"), self._transaction() as database:
            row = (run, contents, zlib.crc32(contents))
            database.execute("INSERT OR REPLACE INTO insides VALUES (?, ?, ?)", row)

    def inside(self, run: str) -> bytes | None:
        """What a run looks like inside, if that was kept."""
        if not self._has_insides:
            return None
        with self._told("read"):
            row = self._database.execute("SELECT contents, checksum FROM insides WHERE run = ?", (run,)).fetchone()
        if row is None:
            return None
        if not isinstance(row[0], bytes) or zlib.crc32(row[0]) != row[1]:
            raise StoreError(f"{self.path} is damaged (the inside of run {run} is not what was written): {RECOVERY}")
        return row[0]

    @property
    def _has_insides(self) -> bool:
        """Older stores that are only read have none."""
        with self._told("read"):
            query = "SELECT count(*) FROM sqlite_master WHERE name = 'insides'"
            return bool(self._database.execute(query).fetchone()[0])

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every run with its configuration, for export."""
        query = (
            "SELECT runs.key, problem, reward_scale, algorithm, settings, steps, seed, run, average_reward, seconds, "
            "error FROM runs JOIN configurations ON configuration = configurations.key "
            "ORDER BY problem, reward_scale, algorithm, settings, configuration, seed, run"
        )
        with self._told("read"):
            cursor = self._database.execute(query)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                found = dict(zip(names, row, strict=True))
                yield found | {"settings": json.loads(found["settings"])}

    def others(self, used: set[str]) -> int:
        """How many runs there are of another version, and of no configuration that is used."""
        query = (
            "SELECT configurations.key, count(*) FROM runs JOIN configurations ON configuration = configurations.key "
            "WHERE coalesce(json_extract(description, '$.sources'), '') != ? OR json_extract(description, '$.aapi') != "
            "? GROUP BY configurations.key"
        )
        with self._told("read"):
            found = self._database.execute(query, (source_version(), aapi.__version__)).fetchall()
        return sum(count for key, count in found if key not in used)

    def version(self) -> str:
        """A word that changes with what is stored, and with whether somebody is writing."""
        parts = ["SELECT count(*) || '.' || coalesce(max(rowid), 0) FROM runs",
                 "SELECT count(ended) || '.' || coalesce(max(began), 0) FROM sessions"]  # fmt: skip
        parts += ["SELECT count(*) FROM insides"] if self._has_insides else []
        with self._told("read"):
            found = [str(self._database.execute(query).fetchone()[0]) for query in parts]
        return "-".join([*found, str(int(self.is_being_written()))])

    def is_being_written(self) -> bool:
        """Whether some process holds the folder."""
        path = self.folder / LOCK
        if not path.exists():
            return False
        try:
            with closing(_connection(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.0)) as lock:
                lock.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            return "locked" in str(error)
        return False


RECOVERY = "nothing was changed; move it away and start anew, or save what is left with: sqlite3 results.db .recover"


def locked_folder(folder: Path) -> sqlite3.Connection:
    """Hold a folder until this process ends, however it ends: by a transaction in a database of its own."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}; nothing was started") from None
    lock = None
    try:
        lock = _connection(folder / LOCK, timeout=1.0)  # longer than anybody looks whether it is held
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if lock is not None:
            lock.close()
        if "locked" in str(error):
            raise StoreError(
                f"another process is writing to {folder}: wait for it to end, or choose another folder; nothing was "
                "started, and reading (aapi export) is fine meanwhile"
            ) from None
        raise StoreError(_explained(folder, "written to", error)) from None
    return lock


def _grid_key(steps: bytes) -> str:
    return f"{len(steps) // 8}-{zlib.crc32(steps):08x}"


def _connection(path: str | Path, *, uri: bool = False, timeout: float = 30.0) -> sqlite3.Connection:
    return sqlite3.connect(path, uri=uri, isolation_level=None, timeout=timeout, check_same_thread=False)


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing; where even SQLite's own files beside it may not be made, without them."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    database = _connection(uri, uri=True)
    try:
        database.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:  # there are runs in it that would be missed
            raise
        database.close()
        database = _connection(f"{uri}&immutable=1", uri=True)
    return database


def _explained(path: Path, what: str, error: Exception) -> str:
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
