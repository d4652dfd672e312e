"""A Dask cluster as an executor (extra `dask`)."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from concurrent.futures import CancelledError, Executor, Future
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import cloudpickle
import distributed

from aapi.errors import InvalidInput
from aapi.experiments.description import source_version
from aapi.experiments.work import EngineLost, Poison, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["start_cluster"]

SAFE = "all runs stored before are safe: give the same command again to go on"
PATIENCE = 30  # seconds to wait for a scheduler or a worker


@contextmanager
def start_cluster(workers: int, address: str | None) -> Iterator[tuple[Executor, int]]:
    """An executor and how many tasks it works on at once. Without an address, `workers` are started on this machine."""
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if address is None:
            here = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
            )  # fmt: skip
            stack.enter_context(here)
        else:
            _knock(address)
        client = distributed.Client(address or here, timeout=PATIENCE, set_as_default=False)
        stack.enter_context(client)
        if address is None:
            client.register_plugin(_Deaf())
        _check_workers(client, address)
        yield _DaskExecutor(client), sum(client.nthreads().values())


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask logs each death of a worker at length; what matters is said by errors of our own."""
    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=False):
            handler.setLevel(level)


def _knock(address: str) -> None:
    """Raise an error if nobody is there: a client that could not connect is not to be got rid of."""

    async def knock() -> None:
        comm = await distributed.comm.connect(address, timeout=PATIENCE)
        await comm.close()

    try:
        asyncio.run(knock())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {_first_line(error)}") from None


def _check_workers(client: Any, address: str | None) -> None:
    """There must be some, and they must compute the same bits."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InvalidInput(f"the Dask cluster at {address} has no workers: start some") from None
    mine = source_version()
    for worker, theirs in client.run(_version).items():
        if theirs != mine:
            has = f"sources {theirs}" if theirs else "no aapi"
            raise InvalidInput(
                f"the worker {worker} has {has}, and this machine sources {mine}: install the same version on both"
            )


def _version() -> str | None:
    try:
        from aapi.experiments.description import source_version
    except ImportError:
        return None
    return source_version()


class _DaskExecutor(Executor):
    """Dask's client as an executor that tells the loss of workers from errors of tasks."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do this on a worker; on another one, if that dies."""
        outer: Future[Any] = Future()
        outer.set_running_or_notify_cancel()
        inner = self._client.submit(unpacked, packed(cloudpickle.dumps, fn, *args, **kwargs), pure=False)
        inner.add_done_callback(lambda done: _settle(outer, done))
        return outer


def _settle(outer: Future[Any], inner: Any) -> None:
    try:
        outer.set_result(inner.result())
    except distributed.KilledWorker:
        outer.set_exception(Poison("its worker died each time it was tried"))
    except (CancelledError, asyncio.CancelledError, OSError) as error:
        outer.set_exception(EngineLost(f"the Dask cluster is gone ({_first_line(error)}); {SAFE}"))
    except BaseException as error:  # noqa: BLE001 - it is the caller's
        outer.set_exception(error)


class _Deaf(distributed.WorkerPlugin):  # type: ignore[misc]
    """Workers on this machine leave Ctrl-C to the process that started them."""

    def setup(self, worker: Any) -> None:  # noqa: ARG002 - Dask's interface
        """Called when a worker starts."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
