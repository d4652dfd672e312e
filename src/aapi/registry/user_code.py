"""Code of the user's: a module in the folder one stands in, or an installed one."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from aapi.errors import InvalidInput, one_line

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


def import_module(name: str) -> Any:
    """The module of that name; what is installed comes before the folder one stands in."""
    here = _search_here()
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        where = f"no {name}.py in {Path.cwd().name}/, and none is installed" if error.name == name else str(error)
        raise InvalidInput(f"could not import {name!r}: {where}") from None
    except Exception as error:
        raise InvalidInput(f"could not import {name!r}: {one_line(error)}") from error
    own, found = Path(here, *name.split(".")).with_suffix(".py"), getattr(module, "__file__", None)
    if own.is_file() and (found is None or (_is_installed(Path(found)) and not own.samefile(found))):
        raise InvalidInput(f"{own.name} has the name of an installed module: give it another name")
    return module


def named_in_file(module: object, path: str | os.PathLike[str]) -> str:
    """The name of a module that a file has, an environment's or a rule's; an error if it is a part of Python."""
    parts = module.split(".") if isinstance(module, str) else [""]
    if not all(part.isidentifier() for part in parts) or parts[0] in sys.stdlib_module_names | {"test"}:
        raise InvalidInput(f"{path} names {module!r} as its module, which has no environment or rule: it was altered")
    return ".".join(parts)


def is_own(module: str) -> bool:
    """Whether it is code of the folder one stands in, or of another that is searched: no installed package."""
    _search_here()
    spec = importlib.util.find_spec(module.partition(".")[0])
    return spec is not None and spec.origin is not None and not _is_installed(Path(spec.origin))


def _is_installed(file: Path) -> bool:
    """Whether it belongs to Python or to an installed package."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(file.is_relative_to(place) for place in places)


def _search_here() -> str:
    """The folder one stands in, in which modules are found from now on."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # at the end: a file random.py must not take the place of Python's own
    return here


def load_function(name: str) -> Callable[..., Any]:
    """What `module:function` stands for."""
    module_name, _, function = name.partition(":")
    if not (module_name and function):
        raise InvalidInput(f"give module:function, such as shop:threshold for threshold in shop.py, not {name!r}")
    module = import_module(module_name)
    found = getattr(module, function, None)
    if not callable(found):
        names = sorted(
            each for each, value in vars(module).items()
            if callable(value) and not each.startswith("_") and getattr(value, "__module__", None) == module.__name__
        )  # fmt: skip
        have = f"it has {', '.join(names)}" if names else "it defines none"
        raise InvalidInput(f"{module_name} has no function {function!r}: {have}")
    return cast("Callable[..., Any]", found)
