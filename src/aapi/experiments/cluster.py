"""A Dask cluster as an executor (extra `dask`)."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import cloudpickle
import distributed

from aapi.errors import InvalidInput
from aapi.experiments.engines import QUEUED_PER_WORKER, CrashedBatch, Engine, EngineLost, RemoteExecutor, run_packed
from aapi.experiments.sources import source_version

if TYPE_CHECKING:
    from collections.abc import Iterator

RESUME = "all runs stored before are safe: give the same command again to go on"
TIMEOUT = 30  # seconds to wait for a scheduler or a worker


@contextmanager
def start_cluster(workers: int, address: str | None) -> Iterator[Engine]:
    """The cluster at an address; without one, `workers` are started on this machine."""
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if address is None:
            local = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
            )  # fmt: skip
            stack.enter_context(local)
        else:
            _check_scheduler(address)
        client = distributed.Client(address or local, timeout=TIMEOUT, set_as_default=False)
        stack.enter_context(client)
        if address is None:
            client.register_plugin(_IgnoreInterrupts())
        _check_workers(client, address)
        workers = sum(client.nthreads().values())
        executor = _DaskExecutor(client, QUEUED_PER_WORKER * workers)
        stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        yield Engine(executor, workers)


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask logs each death of a worker at length; the errors of this module say what matters."""
    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=False):
            handler.setLevel(level)


def _check_scheduler(address: str) -> None:
    """Raise an error if no scheduler answers: a client that could not connect would go on trying."""

    async def connect() -> None:
        comm = await distributed.comm.connect(address, timeout=TIMEOUT)
        await comm.close()

    try:
        asyncio.run(connect())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {_first_line(error)}") from None


def _check_workers(client: distributed.Client, address: str | None) -> None:
    """There must be some, and they must compute the same bits."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
    except TimeoutError:
        raise InvalidInput(f"the Dask cluster at {address} has no workers: start some") from None
    mine = source_version()
    for worker, theirs in client.run(_version).items():
        if theirs != mine:
            has = f"sources {theirs}" if theirs else "no aapi"
            differs = f"the worker {worker} has {has}, and this machine sources {mine}"
            raise InvalidInput(f"{differs}: install the same version on both")


def _version() -> str | None:
    try:
        from aapi.experiments.sources import source_version
    except ImportError:
        return None
    return source_version()


class _DaskExecutor(RemoteExecutor):
    """Dask's client as an executor that tells the loss of workers from errors of calls."""

    dumps = staticmethod(cloudpickle.dumps)

    def __init__(self, client: distributed.Client, calls: int) -> None:
        super().__init__(calls)
        self._client = client

    def execute(self, call: bytes) -> object:
        """Execute a call on a worker; on another one, if that dies."""
        try:
            return self._client.submit(run_packed, call, pure=False).result()
        except distributed.KilledWorker:
            raise CrashedBatch("its worker died each time it was tried") from None
        except (CancelledError, asyncio.CancelledError, OSError) as error:
            raise EngineLost(f"the Dask cluster is gone ({_first_line(error)}); {RESUME}") from None


class _IgnoreInterrupts(distributed.WorkerPlugin):  # type: ignore[misc]
    """Workers on this machine leave Ctrl-C to the process that started them."""

    def setup(self, worker: object) -> None:  # noqa: ARG002 - Dask's interface
        """Called when a worker starts."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
