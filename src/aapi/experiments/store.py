"""The store: one SQLite file in the output folder, a row for each run. What is in it need not be run again."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

import aapi
from aapi.errors import InvalidInput
from aapi.experiments.database import Database, SqlValue, StoreError
from aapi.experiments.description import modules_in
from aapi.experiments.plan import Plan, group_by, run_key
from aapi.experiments.sources import source_version

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.worker import RunBatch, RunOutcome


@dataclass(frozen=True)
class Run:
    """A run in the store: its average reward, or the error if it failed. seconds: how long it took."""

    key: str
    number: int
    average_reward: float | None
    seconds: float
    error: str | None


class Session(TypedDict):
    """One call of the command. began, ended: seconds since 1970.

    plans: what it was to do; nothing, if another version of aapi wrote it. left: about how many seconds of work.
    """

    id: int
    command: str
    plans: list[Plan]
    left: float
    machine: dict[str, str | int]
    began: float
    ended: float | None
    seconds: float | None


class Store(Database):
    """Results in a folder. One process at a time may write; any number may read while it does."""

    def begin(self, plans: Sequence[Plan], left: float = 0.0) -> int:
        """Note a session: what is to be done, where, by which command. left: about how many seconds of work."""
        plan = {"lines": [line.to_dict() for line in plans], "left": left}
        machine = {
            "system": platform.platform(), "processors": os.cpu_count(), "python": platform.python_version(),
            "numpy": np.__version__, "aapi": aapi.__version__, "sources": source_version(),
        }  # fmt: skip
        row = (shlex.join(["aapi", *sys.argv[1:]]), json.dumps(plan, default=str), json.dumps(machine), time.time())
        with self.writing() as database:
            cursor = database.execute("INSERT INTO sessions (command, plan, machine, began) VALUES (?, ?, ?, ?)", row)
            return int(cursor.lastrowid or 0)

    def end(self, session: int, seconds: float) -> None:
        """Note that a session came to its end."""
        with self.writing() as database:
            query = "UPDATE sessions SET ended = ?, seconds = ? WHERE id = ?"
            database.execute(query, (time.time(), seconds, session))

    def add(self, batch: RunBatch, outcomes: Sequence[RunOutcome]) -> None:
        """Store the runs of a batch, all or none; those that are there already stay as they are."""
        configuration, problem = batch.configuration, batch.configuration.problem
        described = (
            configuration.key, problem.label, batch.label, problem.reward_scale, configuration.steps,
            json.dumps(dict(configuration.settings), default=str), json.dumps(configuration.description),
        )  # fmt: skip
        with self.writing() as database:
            database.execute("INSERT OR IGNORE INTO configurations VALUES (?, ?, ?, ?, ?, ?, ?)", described)
            for outcome in outcomes:
                key = run_key(configuration.key, batch.seed, outcome.number)
                row = (key, configuration.key, batch.seed, outcome.number, *_result_columns(database, outcome))
                database.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def known(self, keys: Iterable[str]) -> set[str]:
        """Which of these runs are in the store, those that failed among them."""
        query = "SELECT key FROM runs WHERE key IN (SELECT value FROM json_each(?))"
        return {key for (key,) in self.query(query, (json.dumps(list(keys)),))}

    def forget_failed(self, keys: Iterable[str]) -> None:
        """Remove those of these runs that failed, so that they are done again."""
        query = "DELETE FROM runs WHERE error IS NOT NULL AND key IN (SELECT value FROM json_each(?))"
        with self.writing() as database:
            database.execute(query, (json.dumps(list(keys)),))

    def runs(self, configuration: str, seed: int, count: int) -> list[Run]:
        """Those of the first `count` runs of a configuration that are there, by number."""
        query = (
            "SELECT key, run, average_reward, seconds, error FROM runs "
            "WHERE configuration = ? AND seed = ? AND run < ? ORDER BY run"
        )
        return [Run(*row) for row in self.query(query, (configuration, seed, count))]

    def curve(self, key: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The steps of a run's grid, and the sum of rewards up to each, both (grid,), as they were written."""
        rows = self.query(
            "SELECT grid, steps, cumulated, checksum, error FROM runs LEFT JOIN grids ON grid = grids.key "
            "WHERE runs.key = ?",
            (key,),
        )
        if not rows:
            raise InvalidInput(f"{self.path} has no run {key}")
        grid, steps, cumulated, checksum, error = rows[0]
        if error is not None:
            raise InvalidInput(f"the run {key} failed and has no curve: {error}")
        blobs = isinstance(steps, bytes) and isinstance(cumulated, bytes)
        if not blobs or zlib.crc32(cumulated) != checksum or _grid_key(steps) != grid or len(steps) != len(cumulated):
            raise self.damaged(f"the curve of run {key}")
        return np.frombuffer(steps, dtype="<i8"), np.frombuffer(cumulated, dtype="<f8")

    def sessions(self) -> list[Session]:
        """The sessions, the first one first."""
        with self.errors_explained("read"):
            return [_session(dict(row)) for row in self.query("SELECT * FROM sessions ORDER BY id")]

    def plans(self) -> list[Plan]:
        """What was planned in this folder: of each study, the latest plan."""
        found: dict[str, list[Plan]] = {}
        sessions = self.sessions()
        for session in sessions:
            for study, plans in group_by(session["plans"], lambda plan: plan.study).items():
                found.pop(study, None)  # the latest come last
                found[study] = plans
        if not found and sessions:
            raise StoreError(
                f"the plans in {self.path} are another version's: give the command again that made it: "
                f"{sessions[-1]['command']}"
            )
        return [plan for plans in found.values() for plan in plans]

    def add_trace(self, key: str, contents: bytes) -> None:
        """Store what a diagnostic found: a learner trace, or a regret decomposition."""
        with self.writing() as database:
            row = (key, contents, zlib.crc32(contents))
            database.execute("INSERT OR REPLACE INTO insides VALUES (?, ?, ?)", row)

    def trace(self, key: str) -> bytes | None:
        """What a diagnostic found, if it was stored."""
        if not self._has_traces:
            return None
        rows = self.query("SELECT contents, checksum FROM insides WHERE run = ?", (key,))
        if not rows:
            return None
        contents, checksum = rows[0]
        if not isinstance(contents, bytes) or zlib.crc32(contents) != checksum:
            raise self.damaged(f"the trace {key}")
        return contents

    @property
    def _has_traces(self) -> bool:
        """The first stores have none, if they are only read."""
        return bool(self.query("SELECT count(*) FROM sqlite_master WHERE name = 'insides'")[0][0])

    def rows(self) -> Iterator[dict[str, object]]:
        """Every run with its configuration, for export; `settings` are a dictionary."""
        query = (
            "SELECT runs.key, problem, reward_scale, algorithm, settings, steps, seed, run, average_reward, seconds, "
            "error FROM runs JOIN configurations ON configuration = configurations.key "
            "ORDER BY problem, reward_scale, algorithm, settings, configuration, seed, run"
        )
        with self.errors_explained("read"):
            for row in self.connection.execute(query):
                yield {**dict(row), "settings": json.loads(row["settings"])}

    def others(self, used: set[str]) -> int:
        """How many runs there are of configurations that are not used, and whose code has changed since."""
        query = (
            "SELECT configurations.key, description, count(*) FROM runs JOIN configurations "
            "ON configuration = configurations.key GROUP BY configurations.key"
        )
        with self.errors_explained("read"):
            rows = [row for row in self.query(query) if row[0] not in used]
            described = [(json.loads(description), count) for _, description, count in rows]
            return sum(n for each, n in described if each.get("sources") != source_version(modules_in(each)))

    def version(self) -> str:
        """A word that changes with what is stored, and with whether a process is writing."""
        queries = ["SELECT count(*) || '.' || coalesce(max(rowid), 0) FROM runs",
                   "SELECT count(ended) || '.' || coalesce(max(began), 0) FROM sessions"]  # fmt: skip
        queries += ["SELECT count(*) FROM insides"] if self._has_traces else []
        found = [str(self.query(query)[0][0]) for query in queries]
        return "-".join([*found, str(int(self.is_being_written()))])


def _session(row: dict[str, object]) -> Session:
    plan = json.loads(str(row.pop("plan")))
    try:
        found = {"plans": [Plan.from_dict(line) for line in plan["lines"]], "left": plan["left"]}
    except (InvalidInput, TypeError, KeyError):
        found = {"plans": [], "left": 0.0}
    return cast("Session", row | found | {"machine": json.loads(str(row["machine"]))})


def _result_columns(database: sqlite3.Connection, outcome: RunOutcome) -> tuple[SqlValue, ...]:
    """What came of a run, in the order of its columns; its grid is stored, unless it is there already."""
    if outcome.cumulated is None or outcome.grid is None:
        return None, outcome.seconds, outcome.error, None, None, None
    steps, curve = outcome.grid.astype("<i8").tobytes(), outcome.cumulated.astype("<f8").tobytes()
    database.execute("INSERT OR IGNORE INTO grids VALUES (?, ?)", (_grid_key(steps), steps))
    average = float(outcome.cumulated[-1] / outcome.grid[-1])
    return average, outcome.seconds, None, _grid_key(steps), curve, zlib.crc32(curve)


def _grid_key(steps: bytes) -> str:
    return f"{len(steps) // 8}-{zlib.crc32(steps):08x}"
