"""Writing files so that a reader sees the old contents or the new, never half of them."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["atomic_write"]


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
