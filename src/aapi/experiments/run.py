"""Run studies into a folder, or go on where they were left."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING

from aapi.errors import InvalidInput
from aapi.experiments.afterwards import look_back
from aapi.experiments.engines import start_engine
from aapi.experiments.runner import requests_to_stop, run_cells
from aapi.experiments.standing import work_left
from aapi.experiments.store import Store
from aapi.experiments.study import Study
from aapi.experiments.summary import Summary, summarise

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["run_studies"]


def run_studies(
    studies: Study | Sequence[Study],
    out: str | os.PathLike[str],
    *,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    progress: bool = False,
    retry_failed: bool = False,
) -> Summary:
    """Do all runs of some studies that are not yet in the folder `out`, and summarise all of them.

    engine: threads, processes or dask; by default processes if there are Gymnasium environments, else threads. The
        results are the same. workers: by default one for each processor. address: of a Dask scheduler.
    retry_failed: do runs again that failed before.
    Ctrl-C, or a request to end, lets the tasks in flight finish and raises `Interrupted`; a second one stops at once.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # a new process is reading the caller's script
        raise InvalidInput('put what runs studies in processes below if __name__ == "__main__":')
    listed = [studies] if isinstance(studies, Study) else studies
    if len({study.name for study in listed}) < len(listed):
        raise InvalidInput(f"studies must have different names, not {', '.join(study.name for study in listed)}")
    cells = [cell for study in listed for cell in study.cells()]
    foreign = any(cell.problem.is_foreign for cell in cells)
    start = time.perf_counter()
    with Store(out) as store:
        plans = [cell.plan for cell in cells]
        session = store.begin(plans, work_left(store, plans)[0])
        with (
            requests_to_stop() as stop,  # from the start: processes that begin do not like to be interrupted
            start_engine(engine or ("processes" if foreign else "threads"), workers, address) as started,
        ):
            run_cells(cells, store, started, stop, progress=progress, retry_failed=retry_failed)
            look_back(cells, store, started, stop, progress=progress)
        store.end(session, time.perf_counter() - start)
        return summarise(store, plans)
