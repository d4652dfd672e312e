"""Where tasks run: in threads, in processes that may die, or on a Dask cluster; all of them `Executor`s."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aapi.checks import at_least, one_of
from aapi.errors import InvalidInput
from aapi.experiments.work import EngineLost, Poison, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ENGINES", "Engine", "SturdyProcesses", "available_processors", "start_engine"]

ENGINES = ("threads", "processes", "dask")
MOST_DEATHS = 3  # of the processes of one task, before it is given up


@dataclass(frozen=True)
class Engine:
    """An executor, and how many tasks it works on at once."""

    executor: Executor
    workers: int


def available_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def start_engine(name: str, workers: int | None = None, address: str | None = None) -> Iterator[Engine]:
    """Start an engine, and stop it when the block ends: at once if by an error, after the tasks under way otherwise.

    address: of the scheduler of a running Dask cluster; without one, a cluster is started on this machine.
    """
    one_of(ENGINES, engine=name)
    if workers is not None:
        at_least(1, workers=workers)
    if address is not None and name != "dask":
        raise InvalidInput(f"address is of a Dask cluster: use engine dask with it, not {name}")
    if name == "dask":
        try:
            from aapi.experiments.cluster import start_cluster
        except ImportError:
            raise InvalidInput("the engine dask needs Dask: pip install 'aapi[dask]'") from None
        with start_cluster(workers or available_processors(), address) as started:
            yield Engine(*started)
        return
    count = workers or available_processors()
    executor: Executor = ThreadPoolExecutor(count) if name == "threads" else SturdyProcesses(count)
    try:
        if isinstance(executor, SturdyProcesses):
            executor.probe()
        yield Engine(executor, count)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()


class SturdyProcesses(Executor):
    """Processes, any of which may be killed: a pool that broke is built anew, and what was in it is tried again.

    When a process dies, its pool breaks, and nobody knows whose fault it was. So each task that was in it is tried
    again alone, in a process of its own, and three deaths in all make it `Poison`.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._change = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._alone = ThreadPoolExecutor(workers)
        self._open: set[Future[Any]] = set()
        self._closed = self._abandoned = False

    def probe(self) -> None:
        """Raise an error if no process can be started at all: then no task is to blame."""
        try:
            with _deaf():
                first = self._current().submit(os.getpid)
            first.result()
        except BrokenProcessPool:
            raise EngineLost(
                'processes cannot be started here: in a script, put what starts them below if __name__ == "__main__":'
            ) from None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do this in a process."""
        outer: Future[Any] = Future()
        outer.set_running_or_notify_cancel()
        call = packed(pickle.dumps, fn, *args, **kwargs)
        while True:
            pool = self._current()
            try:
                with _deaf():
                    inner = pool.submit(unpacked, call)
                break
            except BrokenProcessPool:
                self._drop(pool)
        self._open.add(outer)
        outer.add_done_callback(self._open.discard)
        inner.add_done_callback(lambda done: self._settle(outer, done, call))
        return outer

    def _current(self) -> ProcessPoolExecutor:
        with self._change:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if self._pool is None:
                self._pool = _processes(self._workers)
            return self._pool

    def _drop(self, broken: ProcessPoolExecutor) -> None:
        with self._change:
            if self._pool is broken:  # another thread may have built a new one already
                self._pool = None
        broken.shutdown(wait=False)

    def _settle(self, outer: Future[Any], inner: Future[Any], call: bytes) -> None:
        """Hand on what came of a task; if its pool broke, try it alone."""
        if inner.cancelled():
            outer.set_exception(CancelledError())
        elif isinstance(inner.exception(), BrokenProcessPool):
            if self._abandoned:
                outer.set_exception(CancelledError())
            else:
                again = self._alone.submit(self._try_alone, outer, call)
                again.add_done_callback(lambda done: _cancel(outer) if done.cancelled() else None)
        elif (error := inner.exception()) is not None:
            outer.set_exception(error)
        else:
            outer.set_result(inner.result())

    def _try_alone(self, outer: Future[Any], call: bytes) -> None:
        for _ in range(MOST_DEATHS - 1):
            try:
                with _processes(1) as pool:
                    with _deaf():
                        inner = pool.submit(unpacked, call)
                    outer.set_result(inner.result())
                return
            except BrokenProcessPool:
                continue
            except BaseException as error:  # noqa: BLE001 - it is the caller's
                outer.set_exception(error)
                return
        outer.set_exception(Poison(f"its process died {MOST_DEATHS} times"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks; wait for those under way, if asked to."""
        with self._change:
            self._closed = True
            self._abandoned = self._abandoned or not wait
            pool, self._pool = self._pool, None
        if wait and not cancel_futures:  # for those, too, whose process dies now: they are tried again
            wait_for(list(self._open))
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            wait_for(list(self._open))
        self._alone.shutdown(wait=wait, cancel_futures=cancel_futures)


def _cancel(outer: Future[Any]) -> None:
    outer.set_exception(CancelledError())


def _processes(workers: int) -> ProcessPoolExecutor:
    # Fresh interpreters: a fork would copy locks that other threads hold.
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin_process)


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C, even before they can say so themselves."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process() -> None:
    """In a new process: leave Ctrl-C to the parent, and do not outlive it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
