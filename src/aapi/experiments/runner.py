"""Doing what cells ask for and the store does not have: tuning runs, the choice, and the runs that are reported."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aapi.experiments.choice import check_together, choose, groups
from aapi.experiments.work import Outcome, Poison, Task, expected_seconds, failed, perform, run_key
from aapi.progress import progress_bars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.engines import Engine
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell

__all__ = ["Interrupted", "requests_to_stop", "run_cells"]

TASK_SECONDS = 2.0  # long enough that handing out tasks costs nothing, short enough that all processors end together
AHEAD = 2  # tasks handed out for each worker, so that none waits for the next


class Interrupted(KeyboardInterrupt):
    """Stopped on request, with everything done so far in the store."""


@dataclass
class Group:
    """Cells that choose together, and the tuning runs that they wait for."""

    cells: list[Cell]
    missing: set[str]


def run_cells(
    cells: Sequence[Cell], store: Store, engine: Engine, stop: threading.Event, *, progress: bool = False,
    retry_failed: bool = False,
) -> None:  # fmt: skip
    """Do all runs that the cells need and the store does not have.

    stop: when it is set, the tasks in flight finish, and `Interrupted` is raised.
    retry_failed: do those again that are in the store as failed.
    """
    check_together([cell.plan for cell in cells])
    work = _Work(cells, store, retry_failed)
    with progress_bars(work.totals, show=progress) as advance:
        flying: dict[Future[list[Outcome]], tuple[Task, str, str]] = {}
        while flying or (work.queue and not stop.is_set()):
            while work.queue and len(flying) < AHEAD * engine.workers and not stop.is_set():
                task, label, study = work.queue.popleft()
                flying[engine.executor.submit(perform, task)] = task, label, study
            done, _ = wait(flying, timeout=0.5, return_when=FIRST_COMPLETED)  # so that signals are seen everywhere
            for future in done:
                task, label, study = flying.pop(future)
                outcomes = _outcomes(task, future)
                if outcomes is None:  # somebody in it is poison: the others shall not suffer
                    each = task.seconds / len(task.runs)
                    alone = [replace(task, runs=(number,), seconds=each) for number in task.runs]
                    work.queue.extendleft((part, label, study) for part in alone)
                    continue
                store.add(task.configuration, label, outcomes)
                work.arrived({outcome.key for outcome in outcomes})
                advance(study, task.seconds, f"{work.stored} of about {work.needed} runs")
        if stop.is_set() and work.queue:
            raise Interrupted(f"{work.stored} of about {work.needed} runs are stored in {store.folder}")


def _outcomes(task: Task, future: Future[list[Outcome]]) -> list[Outcome] | None:
    """What came of a task; nothing, if its runs have to be tried one by one."""
    try:
        return future.result()
    except Poison as error:
        return failed(task, str(error)) if len(task.runs) == 1 else None


class _Work:
    """What is left to do."""

    def __init__(self, cells: Sequence[Cell], store: Store, retry_failed: bool) -> None:
        self.store = store
        self.queue: deque[tuple[Task, str, str]] = deque()
        self.totals = dict.fromkeys((cell.study for cell in cells), 0.0)
        tuning = {key for cell in cells for key in _tuning_keys(cell)}
        reported = {run_key(c.key, cell.seed, i) for cell in cells for c in cell.candidates for i in range(cell.runs)}
        stored = store.known(tuning | reported, failed=not retry_failed)
        self.taken = set(stored)  # in the store, or in the queue
        self.stored = len(stored)
        self.needed = len(tuning) + sum(cell.runs for cell in cells)
        self.groups = [
            Group([cells[i] for i in members], {key for i in members for key in _tuning_keys(cells[i])} - stored)
            for members in groups([cell.plan for cell in cells])
        ]
        # Long ones first: what depends on them can then begin while others are still tuning.
        for group in sorted(self.groups, key=_cost, reverse=True):
            for cell in group.cells:
                for candidate in cell.candidates if len(cell.candidates) > 1 else ():
                    self._add(candidate, cell, cell.tuning_seed, cell.tuning_runs)
        for group in self.groups:
            if group.missing:  # known roughly now, so that the bars can show the time left
                for cell in group.cells:
                    self.totals[cell.study] += cell.runs * expected_seconds(cell.candidates[0])
            else:
                self._report(group)

    def arrived(self, arrived: set[str]) -> None:
        """These runs are in the store now; a group that has all its tuning runs goes on to those it reports."""
        self.stored += len(arrived)
        for group in self.groups:
            if group.missing & arrived:
                group.missing -= arrived
                if not group.missing:
                    self._report(group, counted=True)

    def _report(self, group: Group, *, counted: bool = False) -> None:
        chosen = choose(self.store, [cell.plan for cell in group.cells])
        if chosen is None:
            return  # cannot be: nobody reports before all tuning runs are there
        for cell in group.cells:
            self._add(cell.candidates[chosen], cell, cell.seed, cell.runs, counted=counted)

    def _add(self, configuration: Configuration, cell: Cell, seed: int, runs: int, *, counted: bool = False) -> None:
        """Queue the runs that nobody has done or queued, in tasks of sensible length."""
        keys = {run_key(configuration.key, seed, number): number for number in range(runs)}
        numbers = sorted(number for key, number in keys.items() if key not in self.taken)
        self.taken |= keys.keys()
        each = expected_seconds(configuration)
        size = max(1, int(TASK_SECONDS / each))
        for i in range(0, len(numbers), size):
            part = tuple(numbers[i : i + size])
            task = Task(configuration, seed, part, seconds=each * len(part))
            self.queue.append((task, cell.algorithm, cell.study))
            if not counted:
                self.totals[cell.study] += task.seconds


def _tuning_keys(cell: Cell) -> list[str]:
    candidates = cell.candidates if len(cell.candidates) > 1 else ()
    return [run_key(c.key, cell.tuning_seed, number) for c in candidates for number in range(cell.tuning_runs)]


def _cost(group: Group) -> float:
    return sum(cell.tuning_runs * expected_seconds(c) for cell in group.cells for c in cell.candidates)


@contextmanager
def requests_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; the second Ctrl-C is as usual. What the caller ignores stays ignored."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals are the main thread's business
        return

    def request(number: int, frame: Any) -> None:  # noqa: ARG001 - the interface of signals
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
