"""Writing files so that a reader sees the old contents or the new, never half of them; and reading arrays safely."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["atomic_write", "read_arrays", "uninterrupted"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a binary file that becomes `path` when the block ends, and leaves no trace when it fails."""
    path = Path(path)
    if not path.parent.is_dir():
        raise InvalidInput(f"cannot write {path}: the folder {path.parent} does not exist")
    name = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with name.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        name.replace(path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within this block, or a function with this decorator, Ctrl-C waits until its end.

    For short things that go wrong in other ways when they break off: a zip file that is closed in the middle of a
    member raises an error of its own, which takes the place of the interrupt; LLVM that calls back into Python gets
    no answer, and the process dies.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's business, and what is ignored stays so
        return
    came = False

    def wait(number: int, frame: Any) -> None:  # noqa: ARG001 - the interface of signals
        nonlocal came
        came = True

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if came:
            usual(signal.SIGINT, None)


def read_arrays(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The arrays of an .npz file. Never runs code from it: anything but plain arrays is refused, as is damage."""
    import numpy as np

    path = Path(path)
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder, not {what}")
    try:
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                raise InvalidInput(f"{path} is not {what} (nor is anything else, a pickle for one, ever loaded)")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                arrays = {key: np.asarray(archive[key]) for key in archive.files}
    except InvalidInput:
        raise
    except FileNotFoundError:
        raise InvalidInput(f"{path} does not exist") from None
    except PermissionError:
        raise InvalidInput(f"{path} may not be read: permission denied") from None
    except MemoryError:
        raise InvalidInput(f"{path} claims arrays that do not fit into memory") from None
    except (
        OSError, EOFError, KeyError, NotImplementedError, RuntimeError, SyntaxError, ValueError, zipfile.BadZipFile,
        zlib.error,
    ) as error:  # fmt: skip
        if "Object arrays" in str(error):
            raise InvalidInput(f"{path} holds pickled objects, which are never loaded") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInput(f"{path} is truncated or damaged ({reason})") from None
    return arrays
