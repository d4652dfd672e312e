"""Run studies into a folder: find the runs that the store does not have, hand them out in batches, store them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aapi.errors import InvalidInput
from aapi.experiments.diagnostics import run_diagnostics
from aapi.experiments.engines import CrashedBatch, Engine, Interrupted, start_engine
from aapi.experiments.plan import check_shared_tuning, choose, run_keys, tuning_groups, work_left
from aapi.experiments.store import Store
from aapi.experiments.study import Cell, Study
from aapi.experiments.summary import Summary, summarise
from aapi.experiments.worker import RunBatch, RunOutcome, run_batch
from aapi.progress import progress_bars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from aapi.experiments.configuration import Configuration

BATCH_SECONDS = 2.0  # long enough that handing out batches costs nothing, short enough that all processors end together


def run_studies(
    studies: Study | Sequence[Study], out: str | os.PathLike[str], *, engine: str | None = None,
    workers: int | None = None, address: str | None = None, progress: bool = False, retry_failed: bool = False,
) -> Summary:  # fmt: skip
    """Do all runs of some studies that are not yet in the folder `out`, and summarise all of them.

    engine: threads, processes or dask; by default processes if there are Gymnasium environments, else threads. The
        results are the same. workers: by default one for each processor. address: of a Dask scheduler.
    retry_failed: do runs again that failed before.
    Ctrl-C, or SIGTERM, lets the batches in flight finish and raises `Interrupted`; a second one stops at once.
    """
    studies = [studies] if isinstance(studies, Study) else studies
    if vars(multiprocessing.current_process()).get("_inheriting"):  # a new process is reading the caller's script
        raise InvalidInput('put what runs studies in processes below if __name__ == "__main__":')
    if len({study.name for study in studies}) < len(studies):
        raise InvalidInput(f"studies must have different names, not {', '.join(study.name for study in studies)}")
    cells = [cell for study in studies for cell in study.cells()]
    name = engine or ("processes" if any(cell.problem.is_gymnasium for cell in cells) else "threads")
    start = time.perf_counter()
    with Store(out) as store:
        plans = [cell.plan for cell in cells]
        session = store.begin(plans, work_left(store, plans)[0])
        with (
            requests_to_stop() as stop,  # from the start: processes that begin do not like to be interrupted
            start_engine(name, workers, address) as started,
        ):
            run_cells(cells, store, started, stop, progress=progress, retry_failed=retry_failed)
            run_diagnostics([cell for cell in cells if cell.study.diagnostics], store, started, stop, progress=progress)
        store.end(session, time.perf_counter() - start)
        return summarise(store, plans)


def run_cells(
    cells: Sequence[Cell], store: Store, engine: Engine, stop: threading.Event, *, progress: bool = False,
    retry_failed: bool = False,
) -> None:  # fmt: skip
    """Do all runs that the cells need and the store does not have.

    stop: when it is set, the batches in flight finish, and `Interrupted` is raised.
    retry_failed: do those again that are in the store as failed.
    """
    plans = [cell.plan for cell in cells]
    check_shared_tuning(plans)
    if retry_failed:
        store.forget_failed(key for plan in plans for key in plan.possible_keys)
    work = _Work(cells, store)
    with progress_bars(work.totals, show=progress) as advance:
        for batch, future in engine.completed(work.queue, run_batch, stop):
            try:
                outcomes = future.result()
            except CrashedBatch as error:
                if len(batch.runs) > 1:  # one of its runs crashes: try each alone, so that the others are done
                    work.queue.extendleft(batch.each())
                    continue
                outcomes = [RunOutcome(batch.runs[0], 0.0, error=str(error))]
            store.add(batch, outcomes)
            work.arrived(batch)
            advance(batch.study, batch.seconds, f"{work.stored} of about {work.needed} runs")
    if work.queue:
        raise Interrupted(f"{work.stored} of about {work.needed} runs are stored in {store.folder}")


class _Work:
    """What is left to do: a queue that grows when cells that are tuned, alone or together, have made their choice.

    totals: about how many seconds of work each study has; stored, needed: runs.
    """

    def __init__(self, cells: Sequence[Cell], store: Store) -> None:
        self.store = store
        self.queue: deque[RunBatch] = deque()
        plans = [cell.plan for cell in cells]
        self.totals = {plan.study: 0.0 for plan in plans}
        self.taken = store.known(key for plan in plans for key in plan.possible_keys)  # in the store, or in the queue
        self.stored = len(self.taken)
        self.needed = len({key for plan in plans for key in plan.tuning_keys}) + sum(plan.runs for plan in plans)
        groups = [[cells[i] for i in members] for members in tuning_groups(plans)]
        # All tuning runs, and the reported runs of those groups whose choice is known. Long ones first: what depends on
        # them can then begin while others are still tuning.
        for group in sorted(groups, key=_tuning_seconds, reverse=True):
            for cell in group:
                for candidate in cell.candidates if cell.plan.is_tuned else ():
                    self._add(candidate, cell, cell.plan.tuning_seed, cell.plan.tuning_runs)
        self.waiting = [group for group in groups if not self._report(group)]
        for cell in itertools.chain(*self.waiting):  # about how much there will be, for the time left
            self.totals[cell.plan.study] += cell.plan.runs * cell.plan.seconds

    def arrived(self, batch: RunBatch) -> None:
        """The runs of a batch are stored; a group that has all its tuning runs goes on to those it reports."""
        self.stored += len(batch.runs)
        concerned = [g for g in self.waiting if any(batch.configuration.key in cell.plan.candidates for cell in g)]
        for group in concerned:
            if self._report(group, counted=True):
                self.waiting.remove(group)

    def _report(self, group: Sequence[Cell], *, counted: bool = False) -> bool:
        """Queue the reported runs of cells that share a choice; False if tuning runs are missing."""
        chosen = choose(self.store, [cell.plan for cell in group])
        if chosen is None:
            return False
        for cell in group:
            self._add(cell.candidates[chosen], cell, cell.plan.seed, cell.plan.runs, counted=counted)
        return True

    def _add(self, configuration: Configuration, cell: Cell, seed: int, runs: int, *, counted: bool = False) -> None:
        """Queue the runs that are neither stored nor queued. counted: the totals have them already."""
        keys = run_keys(configuration.key, seed, runs)
        numbers = [number for number, key in enumerate(keys) if key not in self.taken]
        self.taken.update(keys)
        seconds = configuration.expected_seconds
        size = max(1, int(BATCH_SECONDS / seconds))
        for i in range(0, len(numbers), size):
            part = tuple(numbers[i : i + size])
            batch = RunBatch(configuration, seed, part, seconds * len(part), cell.algorithm, cell.plan.study)
            self.queue.append(batch)
            self.totals[batch.study] += 0.0 if counted else batch.seconds


def _tuning_seconds(group: Sequence[Cell]) -> float:
    return sum(len(cell.plan.tuning_keys) * cell.plan.seconds for cell in group)


@contextmanager
def requests_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; the second Ctrl-C is as usual. What the caller ignores stays ignored."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread may handle signals
        return

    def request(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        # Not print: the signal may have come in the middle of one.
        os.write(2, b"\nfinishing the tasks in flight; Ctrl-C again stops at once\n")

    heard = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, request) for number in heard}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
