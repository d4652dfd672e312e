"""The one decorator for compiled kernels, and their cache.

A kernel is a pure function of arrays that numba compiles on first use, and that releases the GIL. Compiled kernels are
cached in a folder whose name has a hash of all kernel sources, so that a change in a function that a kernel calls never
leaves stale code. Where the folder cannot be written, or a file cannot be read, the kernel is compiled again.

AAPI_CACHE_DIR=… puts the cache elsewhere; AAPI_INTERPRETED=1 runs the same source in plain Python, with the same bits.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import pickle
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from aapi.files import atomic_write, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType


Function = TypeVar("Function", bound="Callable[..., object]")
NumbaObject: TypeAlias = Any  # dispatchers, signatures, contexts: numba is typed in part only

INTERPRETED = any(os.environ.get(name, "") not in ("", "0") for name in ("AAPI_INTERPRETED", "NUMBA_DISABLE_JIT"))
DIGEST_BYTES = hashlib.sha256().digest_size


def kernel(function: Function) -> Function:
    """Compile `function` on first use; or leave it in Python where AAPI_INTERPRETED is set."""
    return _compiled(function)


def step_kernel(function: Function) -> Function:
    """The same for what a step loop calls in each step: it makes no arrays, so references to arrays need no counting,
    which would take longer than the step.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: Function, **options: bool) -> Function:
    if INTERPRETED:
        return _interpreted(function)
    import numba

    njit: NumbaObject = numba.njit
    compiled = njit(nogil=True, error_model="numpy", **options)(function)
    compiled.compile = uninterrupted()(compiled.compile)
    names = [
        f"{part.__module__}.{part.__qualname__}" for part in (function, *_kernels_in(cast("FunctionType", function)))
    ]
    if all(name.startswith("aapi.") for name in names):  # the hash covers the sources of this package only
        compiled._cache = KernelCache("-".join(names).replace("<locals>.", ""))
    return cast("Function", compiled)


def _kernels_in(function: FunctionType) -> list[NumbaObject]:
    """The kernels in the closure of a function, such as the dynamics of a step loop, and those in their closures."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    own = [cell for cell in cells if callable(cell)]
    return [each for part in own for each in (part, *_kernels_in(inspect.unwrap(part)))]


def _interpreted(function: Function) -> Function:
    @functools.wraps(function)
    def quiet(*arguments: object) -> object:
        with np.errstate(all="ignore"):  # integers wrap and floats overflow, as they do when compiled
            return function(*arguments)

    return cast("Function", quiet)


@functools.cache
def kernel_version() -> str:
    """A hash of all sources with kernels: equal versions compute identical results."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source or b"@step_kernel" in source:
            digest.update(str(path.relative_to(package)).encode() + b"\0" + source)
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are cached, or None if the folder cannot be made."""
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
    """One file per kernel, signature and processor, with a checksum; damaged files are ignored.

    It has the interface of the cache of numba's dispatchers.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def load_overload(self, signature: NumbaObject, target_context: NumbaObject) -> NumbaObject | None:
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
            rebuild: NumbaObject = CompileResult._rebuild
            return rebuild(target_context, *pickle.loads(payload))  # noqa: S301 - our own folder
        except Exception:  # noqa: BLE001 - whatever is wrong with the file, the kernel is compiled again
            return None

    def save_overload(self, signature: NumbaObject, compiled: NumbaObject) -> None:
        """Write the compiled kernel, if that is possible."""
        from numba.core import serialize

        dump: NumbaObject = serialize.dumps
        path = self._path(signature, compiled.codegen)
        if path is None:
            return
        with contextlib.suppress(Exception):  # a full disk, a folder that was removed or is read-only
            payload = dump(compiled._reduce())
            with atomic_write(path) as file:
                file.write(hashlib.sha256(payload).digest() + payload)

    def _path(self, signature: NumbaObject, codegen: NumbaObject) -> Path | None:
        folder = cache_folder()
        key = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:16]
        return folder and folder / f"{self._name}-{key}.kernel"
