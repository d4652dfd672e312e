"""Looking into stores, also while other processes write to them."""

import sqlite3
import time
from contextlib import closing

from aapi.experiments import Store


def contents(folder):
    """Every run of a store, with all its bits."""
    with Store(folder, write=False) as store:
        return {
            row["key"]: (row["error"], row["average_reward"], *(part.tobytes() for part in store.curve(row["key"])))
            for row in store.rows()
        }


def count(folder, table="runs"):
    """The rows of a table in a store that another process may be writing."""
    if not (folder / "results.db").exists():
        return 0
    with closing(sqlite3.connect(f"{(folder / 'results.db').as_uri()}?mode=ro", uri=True, timeout=10)) as database:
        try:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
        except sqlite3.OperationalError:  # not yet made
            return 0


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)
