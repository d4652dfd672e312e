"""Diagnostics of stored runs: learner traces and regret decompositions, made when all runs are there."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from aapi.experiments.choice import choose, tuning_groups
from aapi.experiments.decomposition import decomposition_jobs
from aapi.experiments.engines import Interrupted
from aapi.experiments.trace import pack_trace, trace_jobs
from aapi.experiments.worker import describe_error
from aapi.progress import progress_bars

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.engines import Engine
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell
    from aapi.experiments.trace import DiagnosticJob


def run_diagnostics(
    cells: Sequence[Cell], store: Store, engine: Engine, stop: threading.Event, *, progress: bool = False
) -> None:
    """Make the learner traces and regret decompositions that are not in the store yet.

    An error is stored in place of what it prevents, and the job is done again next time: no run is lost by it.
    stop: when it is set, jobs in flight are finished, and `Interrupted` is raised if there are others.
    """
    chosen = list(_chosen(cells, store))
    queue = deque([*trace_jobs(chosen, store), *decomposition_jobs(chosen, store)])
    totals: dict[str, float] = {}
    for job in queue:
        totals[job.kind] = totals.get(job.kind, 0.0) + job.seconds
    with progress_bars(totals, show=progress) as advance:
        for job, future in engine.completed(queue, _submit, stop):
            error = future.exception()
            found = future.result() if error is None else pack_trace({"error": describe_error(error)})
            store.add_trace(job.key, found)
            advance(job.kind, job.seconds, job.kind)
    if queue:
        raise Interrupted(f"all runs are stored in {store.folder}, but {len(queue)} diagnostics of them are left")


def _submit(executor: Executor, job: DiagnosticJob) -> Future[bytes]:
    return executor.submit(job.compute)


def _chosen(cells: Sequence[Cell], store: Store) -> Iterator[tuple[Cell, Configuration]]:
    """Each cell with the candidate that is reported, once that is known."""
    plans = [cell.plan for cell in cells]
    for members in tuning_groups(plans):
        choice = choose(store, [plans[i] for i in members])
        if choice is not None:
            yield from ((cells[i], cells[i].candidates[choice]) for i in members)
