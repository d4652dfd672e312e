"""When all runs are there: what one of each was like inside, and where the regret of some came from."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING

from aapi.experiments.choice import choose, groups
from aapi.experiments.decomposed import decomposition_jobs
from aapi.experiments.inside import inside_jobs, packed_inside
from aapi.experiments.runner import AHEAD, Interrupted
from aapi.experiments.work import told
from aapi.progress import progress_bars

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.engines import Engine
    from aapi.experiments.jobs import Job
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell

__all__ = ["look_back"]


def look_back(
    cells: Sequence[Cell], store: Store, engine: Engine, stop: threading.Event, *, progress: bool = False
) -> None:
    """Keep the insides of runs, and the parts of regret, that are not in the store yet.

    What goes wrong is kept in place of it, and tried again next time: no results are lost for want of a picture.
    stop: when it is set, what is under way is finished, and `Interrupted` is raised.
    """
    chosen = list(_chosen(cells, store))
    names = {
        "looking inside": list(inside_jobs(chosen, store)),
        "taking regret apart": list(decomposition_jobs(chosen, store)),
    }
    totals = {name: sum(job.seconds for job in jobs) for name, jobs in names.items()}
    wanted = deque((name, job) for name, jobs in names.items() for job in jobs)
    flying: dict[Future[bytes], tuple[str, Job]] = {}
    with progress_bars(totals, show=progress) as advance:
        while flying or (wanted and not stop.is_set()):
            while wanted and len(flying) < AHEAD * engine.workers and not stop.is_set():
                name, job = wanted.popleft()
                flying[engine.executor.submit(job.function, *job.arguments)] = name, job
            for future in wait(flying, timeout=0.5, return_when=FIRST_COMPLETED).done:
                name, job = flying.pop(future)
                error = future.exception()
                store.add_inside(
                    job.key, packed_inside({"error": told(error)}) if error is not None else future.result()
                )
                advance(name, job.seconds, name)
    if wanted:
        raise Interrupted(f"all runs are stored in {store.folder}, but {len(wanted)} looks inside them are left")


def _chosen(cells: Sequence[Cell], store: Store) -> Iterator[tuple[Cell, Configuration]]:
    """Each cell with the candidate that is reported, once that is known."""
    plans = [cell.plan for cell in cells]
    for members in groups(plans):
        choice = choose(store, [plans[i] for i in members])
        if choice is not None:
            yield from ((cells[i], cells[i].candidates[choice]) for i in members)
