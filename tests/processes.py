"""Child processes of tests: signals as a terminal gives them, a time limit, and an end to all of them in any case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AAPI = (sys.executable, "-m", "aapi")
LIMIT = 120.0  # seconds, many times what any of them takes
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def start(command: Sequence[Any], *, seconds: float = LIMIT, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that leads a session of its own; whatever is left of the session when the block ends is killed.

    Its streams are pipes of text unless told otherwise. After `seconds` all of it is killed, and the test fails.
    """
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    with _default_signals():
        process = subprocess.Popen(list(map(str, command)), start_new_session=True, **options)
    late = threading.Event()

    def expire() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, expire)
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        _end(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait()
        assert not late.is_set(), f"after {seconds:g} seconds it had not ended: {process.args}"


def run(
    command: Sequence[Any], *, seconds: float = LIMIT, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What comes of a process that is let do. check: it must end with status 0."""
    with start(command, seconds=seconds, **options) as process:
        out, err = process.communicate()
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    assert not check or done.returncode == 0, err
    return done


def python(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """The same for this Python."""
    return run([sys.executable, *arguments], **options)


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C, as a terminal gives it: to all processes of the session at once."""
    os.killpg(process.pid, signal.SIGINT)


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended and was not waited for does not."""
    try:
        return _facts(pid)[0] != "Z"
    except OSError:
        return False


def offspring(pid: int) -> list[int]:
    """The processes that a process started, and those that these did."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if int(_facts(int(entry.name))[1]) == pid:
                    found += [int(entry.name), *offspring(int(entry.name))]
    return found


def worked(pid: int) -> float:
    """Seconds of work that a process has done, in all its threads."""
    return sum(map(int, _facts(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def _facts(pid: int) -> list[str]:
    """State, parent and so on of a process, as the kernel has them."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _default_signals() -> Iterator[None]:
    """What is ignored here (SIGINT in a background job, SIGHUP below nohup) a child would ignore as well.

    A signal with a handler has its default action in a new program, so that handlers for a moment are enough; to change
    signals in the child, between fork and exec, is not safe where other threads run.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    ignored = [number for number, handler in before.items() if handler is signal.SIG_IGN]
    try:
        for number in ignored:
            signal.signal(number, lambda *_: None)
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
