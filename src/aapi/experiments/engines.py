"""Where batches run: in threads, in processes that may die, or on a Dask cluster; all of them are `Executor`s."""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from aapi.checks import at_least, one_of
from aapi.errors import AapiError, InvalidInput, install_extra

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterator

ENGINES = ("threads", "processes", "dask")
MOST_DEATHS = 3  # of the processes of one call, before it is given up
QUEUED_PER_WORKER = 2  # calls handed out for each worker, so that none waits for the next

P = ParamSpec("P")
Returned = TypeVar("Returned")
Item = TypeVar("Item")


class Interrupted(KeyboardInterrupt):
    """Stopped on request, with everything done so far in the store."""


class CrashedBatch(AapiError):
    """A batch whose process died each time it was tried."""


class EngineLost(AapiError):
    """There is nothing left to run batches on."""


@dataclass(frozen=True)
class Engine:
    """An executor, and how many calls it works on at once."""

    executor: Executor
    workers: int

    def completed(
        self, queue: deque[Item], function: Callable[[Item], Returned], stop: threading.Event
    ) -> Iterator[tuple[Item, Future[Returned]]]:
        """Call a function of the items of a queue, a few at a time, and yield each with its future when that is done.

        The queue may grow meanwhile. Once `stop` is set, what is in flight is finished, and the rest stays queued.
        """
        in_flight: dict[Future[Returned], Item] = {}
        while in_flight or (queue and not stop.is_set()):
            while queue and len(in_flight) < QUEUED_PER_WORKER * self.workers and not stop.is_set():
                item = queue.popleft()
                in_flight[self.executor.submit(function, item)] = item
            # With a timeout, so that signals are handled on every platform.
            for future in wait_for(in_flight, timeout=0.5, return_when="FIRST_COMPLETED").done:
                yield in_flight.pop(future), future


def available_processors() -> int:
    """How many processors this process may use."""
    return os.cpu_count() or 1 if sys.platform in ("darwin", "win32") else len(os.sched_getaffinity(0))


@contextmanager
def start_engine(name: str, workers: int | None = None, address: str | None = None) -> Iterator[Engine]:
    """Start an engine, and stop it when the block ends: at once if by an error, after the calls in flight otherwise.

    address: of the scheduler of a running Dask cluster; without one, a cluster is started on this machine.
    """
    one_of(ENGINES, engine=name)
    if workers is not None:
        at_least(1, workers=workers)
    if address is not None and name != "dask":
        raise InvalidInput(f"address is of a Dask cluster: use engine dask with it, not {name}")
    count = workers or available_processors()
    if name == "dask":
        try:
            from aapi.experiments.cluster import start_cluster
        except ImportError:
            raise InvalidInput(f"the engine dask needs Dask: {install_extra('dask')}") from None
        with start_cluster(count, address) as engine:
            yield engine
        return
    executor: Executor = ThreadPoolExecutor(count) if name == "threads" else ResilientProcesses(count)
    try:
        yield Engine(executor, count)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()


class RemoteExecutor(ThreadPoolExecutor):
    """Executes calls elsewhere; a thread waits for each."""

    dumps: Callable[[object], bytes] = staticmethod(pickle.dumps)

    def submit(self, fn: Callable[P, Returned], /, *args: P.args, **kwargs: P.kwargs) -> Future[Returned]:
        """Call a function elsewhere."""
        try:
            call = self.dumps(functools.partial(fn, *args, **kwargs))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InvalidInput(f"{error}: for processes and Dask, algorithms and problems must be picklable") from None
        return cast("Future[Returned]", super().submit(self.execute, call))

    def execute(self, call: bytes) -> object:
        """Have `run_packed` execute a call, and wait for its result."""
        raise NotImplementedError


def run_packed(call: bytes) -> object:
    """Execute a packed call. What cannot be imported here is an error of the call: the process lives on."""
    try:
        function = pickle.loads(call)  # noqa: S301 - from this very program
    except (ImportError, AttributeError) as error:
        raise InvalidInput(f"a worker does not have what the study is made of: {error}") from None
    return function()


class ResilientProcesses(RemoteExecutor):
    """Processes, any of which may be killed: a pool that broke is replaced, and what was in it is tried again.

    When a process dies, its whole pool breaks, and it is not known which call was at fault. So each call that was in
    the pool is tried again in a process of its own, and three deaths in all make it a `CrashedBatch`.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._workers = workers
        self._change = threading.Lock()
        self._pool = _new_pool(workers)
        try:
            _submit(self._pool, os.getpid).result()  # if no process can be started at all, no call is to blame
        except BrokenProcessPool:
            advice = 'in a script, put what starts them below if __name__ == "__main__":'
            raise EngineLost(f"processes cannot be started here: {advice}") from None

    def execute(self, call: bytes) -> object:
        """Try a call in the pool, then alone, until there were too many deaths."""
        pool = self._pool
        with suppress(BrokenProcessPool):
            return _submit(pool, run_packed, call).result()
        with self._change:
            if self._pool is pool:  # another thread may have replaced it already
                self._pool = _new_pool(self._workers)
        for _ in range(MOST_DEATHS - 1):
            with _new_pool(1) as alone, suppress(BrokenProcessPool):
                return _submit(alone, run_packed, call).result()
        raise CrashedBatch(f"its process died {MOST_DEATHS} times")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; wait for those in flight, if asked to."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._pool.shutdown(wait)


def _new_pool(workers: int) -> ProcessPoolExecutor:
    # Fresh interpreters: a fork would copy locks that other threads hold.
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin_process)


def _submit(
    pool: ProcessPoolExecutor, fn: Callable[P, Returned], *args: P.args, **kwargs: P.kwargs
) -> Future[Returned]:
    """Processes that are started here ignore Ctrl-C, even before they can say so themselves."""
    if sys.platform == "win32":
        return pool.submit(fn, *args, **kwargs)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(fn, *args, **kwargs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process() -> None:
    """In a new process: leave Ctrl-C to the parent, and do not outlive it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
