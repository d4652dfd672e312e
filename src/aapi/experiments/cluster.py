"""A Dask cluster as an executor (extra `dask`)."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import distributed

from aapi.errors import InvalidInput
from aapi.experiments.work import EngineLost, Poison
from aapi.simulation.jit import kernel_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["start_cluster"]

PATIENCE = 30  # seconds to wait for a scheduler or a worker


@contextmanager
def start_cluster(workers: int, address: str | None) -> Iterator[tuple[Executor, int]]:
    """An executor and how many tasks it works on at once. Without an address, `workers` are started on this machine."""
    cluster = None
    if address is None:
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        )
    try:
        client = distributed.Client(cluster or address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no Dask scheduler answers at {address!r}: {_first_line(error)}") from None
    try:
        if cluster is not None:
            client.register_plugin(_Deaf())
        _check_workers(client, address)
        yield _DaskExecutor(client), sum(client.nthreads().values())
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _check_workers(client: Any, address: str | None) -> None:
    """There must be some, and they must compute the same bits."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise InvalidInput(f"the Dask cluster at {address} has no workers: start some") from None
    mine = kernel_version()
    for worker, theirs in client.run(_version).items():
        if theirs != mine:
            has = f"kernels {theirs}" if theirs else "no aapi"
            raise InvalidInput(
                f"the worker {worker} has {has}, and this machine kernels {mine}: install the same version on both"
            )


def _version() -> str | None:
    try:
        from aapi.simulation.jit import kernel_version
    except ImportError:
        return None
    return kernel_version()


class _DaskExecutor(Executor):
    """Dask's client as an executor that tells the loss of workers from errors of tasks."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do this on a worker; on another one, if that dies."""
        outer: Future[Any] = Future()
        outer.set_running_or_notify_cancel()
        inner = self._client.submit(fn, *args, **kwargs, pure=False)
        inner.add_done_callback(lambda done: _settle(outer, done))
        return outer


def _settle(outer: Future[Any], inner: Any) -> None:
    try:
        outer.set_result(inner.result())
    except distributed.KilledWorker:
        outer.set_exception(Poison("its worker died each time it was tried"))
    except (CancelledError, asyncio.CancelledError, OSError) as error:
        outer.set_exception(EngineLost(f"the Dask cluster is gone ({_first_line(error)})"))
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
