"""Writing files atomically, and reading arrays without running code."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from aapi.array_types import Arrays


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` when the block ends, and is removed when the block raises an error."""
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


@dataclass
class CtrlC:
    """Ctrl-C that waits: whether it was `pressed`. patient: no second one interrupts what takes too long."""

    pressed: bool = False
    patient: bool = True


@contextmanager
def uninterrupted() -> Iterator[CtrlC]:
    """Delay Ctrl-C until the end of this block, or of a function with this decorator.

    For short code that an interrupt would break: a zip file that is closed in the middle of a member raises an error
    that hides the interrupt; an interrupt in a callback from LLVM into Python kills the process. Longer code looks
    whether it was pressed.
    """
    handler, ctrl_c = signal.getsignal(signal.SIGINT), CtrlC()
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield ctrl_c  # only the main thread gets signals, and those that are ignored stay ignored
        return

    def remember(number: int, frame: FrameType | None) -> None:
        if ctrl_c.pressed and not ctrl_c.patient:
            handler(number, frame)
        ctrl_c.pressed = True

    signal.signal(signal.SIGINT, remember)
    try:
        yield ctrl_c
    finally:
        signal.signal(signal.SIGINT, handler)
        if ctrl_c.pressed:
            handler(signal.SIGINT, None)


def read_arrays(path: str | os.PathLike[str], what: str) -> Arrays:
    """The arrays of an .npz file; an error if it is damaged, or holds pickled objects, which are never loaded."""
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
