"""Writing files atomically, and reading arrays without running code."""

from __future__ import annotations

import lzma
import math
import os
import secrets
import signal
import stat
import struct
import threading
import tokenize
import warnings
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import FrameType

    from aapi.array_types import AnyArray, Arrays


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a binary file that replaces `path` when the block ends, and is removed when the block raises an error."""
    path = Path(path)
    if path.is_dir():
        raise InvalidInput(f"cannot write {path}: it is a folder, give a file in it")
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


MOST_BYTES = 1 << 30  # what a compressed file may unpack to, if it is not as large itself


FLOAT = 8  # bytes that a number takes in the end, also one of a byte


@contextmanager
def reading(path: str | os.PathLike[str], what: str) -> Iterator[IO[bytes]]:
    """Yield an open file; whatever goes wrong with it, also inside the block, is an error of one line."""
    path = Path(path)
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder, not {what}")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidInput(f"{path} is not a file")
        with path.open("rb") as file:
            yield file
    except InvalidInput:
        raise
    except FileNotFoundError:
        raise InvalidInput(f"{path} does not exist") from None
    except PermissionError:
        raise InvalidInput(f"{path} may not be read: permission denied") from None
    except MemoryError:
        raise InvalidInput(f"{path} claims more than fits into memory") from None
    except (
        OSError, EOFError, AttributeError, LookupError, NotImplementedError, OverflowError, RuntimeError, SyntaxError,
        TypeError, ValueError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError,
    ) as error:  # fmt: skip
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise InvalidInput(f"{path} is truncated or damaged ({reason})") from None


def read_arrays(
    path: str | os.PathLike[str], what: str, names: Collection[str] | None = None, most_bytes: int | None = None
) -> Arrays:
    """The arrays of an .npz file; an error if it is damaged, or holds pickled objects, which are never loaded.

    Sizes are checked before anything is unpacked. names: those to read, if they are there; all, by default.
    most_bytes: how much they may take in memory where that is more than the file takes on the disk.
    """
    with reading(path, what) as file:
        if file.read(2) != b"PK":
            raise InvalidInput(f"{path} is not {what} (nor is anything else, a pickle for one, ever loaded)")
        with zipfile.ZipFile(file) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            found = {name: info for name, info in members.items() if names is None or name in names}
            if names is not None and not found:
                held = ", ".join(list(members)[:8])[:200] or "nothing"
                raise InvalidInput(f"{path} must hold the arrays {' and '.join(list(names)[:2])}; it holds {held}")
            unpacked = sum(info.file_size for info in found.values())
            if most_bytes is not None and unpacked > max(most_bytes, 2 * os.fstat(file.fileno()).st_size):
                raise InvalidInput(f"{path} would unpack to {unpacked / 2**30:.1f} GiB, from a file much smaller")
            floats = 0
            for info in found.values():
                with archive.open(info) as member:
                    floats += FLOAT * _check_header(path, member, info.file_size)
            if most_bytes is not None and floats > max(most_bytes, FLOAT * os.fstat(file.fileno()).st_size):
                raise InvalidInput(f"{path} would take {floats / 2**30:.1f} GiB as floats, from a file much smaller")
            arrays = {}
            for name, info in found.items():
                with archive.open(info) as member:
                    arrays[name] = _read_array(member)
    return arrays


def read_one_array(path: str | os.PathLike[str], what: str) -> AnyArray:
    """The array of an .npy file, whose size is checked first; or an error."""
    with reading(path, what) as file:
        _check_header(path, file, os.fstat(file.fileno()).st_size)
        file.seek(0)
        return _read_array(file)


def _read_array(file: IO[bytes]) -> AnyArray:
    import numpy as np
    from numpy.lib import format as npy

    start = file.read(npy.MAGIC_LEN)
    file.seek(0)
    if not start.startswith(npy.MAGIC_PREFIX):
        return np.asarray(file.read())  # a member that is no array; its name decides whether that matters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python 2's headers
        return np.asarray(npy.read_array(file, allow_pickle=False))


def _check_header(path: str | os.PathLike[str], file: IO[bytes], num_bytes: int) -> int:
    """How many numbers an array has, 0 of anything else; an error if it claims to take more than so many bytes."""
    from numpy.lib import format as npy

    start = file.read(npy.MAGIC_LEN)
    if not start.startswith(npy.MAGIC_PREFIX):
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = start[len(npy.MAGIC_PREFIX) :] == b"\x01\x00"
        shape, _, dtype = (npy.read_array_header_1_0 if one else npy.read_array_header_2_0)(file)
    if dtype.hasobject:
        raise InvalidInput(f"{path} holds pickled objects, which are never loaded")
    if min(shape, default=0) < 0 or math.prod(shape) * (dtype.itemsize or math.inf) > num_bytes:
        raise ValueError(f"an array claims the shape {shape}")
    return math.prod(shape) if dtype.kind in "fiub" else 0
