"""The one decorator for compiled kernels, and their cache.

A kernel is a pure function of arrays, compiled by numba on first use and free of the GIL. Its compiled form is kept in
a folder of this package's own, named by a hash of every kernel source, so that a change in a function it calls can
never serve stale code. A folder that cannot be written, or an entry that cannot be read, costs a compilation, no more.

AAPI_CACHE_DIR=… puts the cache elsewhere; AAPI_INTERPRETED=1 runs the same source in plain Python, with the same bits.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import platform
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from aapi.files import atomic_write, uninterrupted

__all__ = ["INTERPRETED", "cache_folder", "kernel", "kernel_version"]

Function = TypeVar("Function", bound=Any)

INTERPRETED = any(os.environ.get(name, "") not in ("", "0") for name in ("AAPI_INTERPRETED", "NUMBA_DISABLE_JIT"))
DIGEST_BYTES = hashlib.sha256().digest_size


def kernel(function: Function) -> Function:
    """Compile `function` on first use; or leave it in Python where AAPI_INTERPRETED is set."""
    if INTERPRETED:
        return _interpreted(function)
    import numba

    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    compiled.compile = uninterrupted()(compiled.compile)
    names = [f"{part.__module__}.{part.__qualname__}" for part in (function, *_kernels_within(function))]
    if all(name.startswith("aapi.") for name in names):  # the folder's name speaks for this package's sources only
        compiled._cache = KernelCache("-".join(names).replace("<locals>.", ""))
    return compiled  # type: ignore[no-any-return]


def _kernels_within(function: Any) -> list[Any]:
    """The kernels that a function made within another function was given, such as the dynamics of a step loop."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [cell for cell in cells if callable(cell)]


def _interpreted(function: Function) -> Function:
    @functools.wraps(function)
    def quiet(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # integers wrap and floats overflow, as they do when compiled
            return function(*arguments)

    return quiet  # type: ignore[return-value]


@functools.cache
def kernel_version() -> str:
    """A hash of all sources that hold kernels: equal versions compute equal bits."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(str(path.relative_to(package)).encode() + b"\0" + source)
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or nothing if there can be no such folder."""
    import llvmlite
    import numba

    home = os.environ.get("AAPI_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "aapi")
    python = f"{platform.python_implementation()}-{platform.python_version()}"
    try:
        folder = (
            Path(home).expanduser() / f"{kernel_version()}-{python}-numba-{numba.__version__}-{llvmlite.__version__}"
        )
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder
    except (OSError, RuntimeError):
        return None


class KernelCache:
    """One file per kernel, signature and processor, with a checksum; what is wrong with a file makes it absent.

    This is the interface that numba's dispatcher expects of its own cache.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel, or None."""
        try:
            path = self._path(signature, target_context.codegen())
            if path is None:
                return None
            contents = path.read_bytes()
            digest, payload = contents[:DIGEST_BYTES], contents[DIGEST_BYTES:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            from numba.core.compiler import CompileResult

            target_context.refresh()
            rebuild: Any = CompileResult._rebuild
            return rebuild(target_context, *pickle.loads(payload))  # noqa: S301 - our own folder
        except Exception:  # noqa: BLE001 - whatever is wrong with the file, compiling afresh is right
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the compiled kernel, if the folder allows."""
        from numba.core import serialize

        dump: Any = serialize.dumps
        path = self._path(signature, compiled.codegen)
        if path is None:
            return
        with contextlib.suppress(Exception):  # a full disk, a folder that has gone or is read-only: go without
            payload = dump(compiled._reduce())
            with atomic_write(path) as file:
                file.write(hashlib.sha256(payload).digest() + payload)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = cache_folder()
        key = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:16]
        return folder and folder / f"{self._name}-{key}.kernel"
