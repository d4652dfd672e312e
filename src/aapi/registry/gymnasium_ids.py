"""Gymnasium environments by id."""

from __future__ import annotations

import math
import multiprocessing
import signal
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from aapi.errors import InvalidInput
from aapi.registry.user_code import import_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymnasium.envs.registration import EnvSpec

    from aapi.gymnasium_types import AnyVectorEnv, Env


_modules: dict[str, str] = {}  # which module was named with an id; Gymnasium forgets it


def make_environment(name: str, /, **arguments: object) -> Env:
    """The environment of that id; `module:Id-v0` imports the module first, also from the folder one stands in."""
    import warnings

    import gymnasium

    module, colon, plain = name.partition(":")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old version is the user's choice, and what fails says so itself
            if module and colon:
                import_module(module)
                _modules[plain] = module
            return gymnasium.make(name, **cast("dict[str, Any]", arguments))
    except InvalidInput:
        raise
    except gymnasium.error.DependencyNotInstalled as error:
        raise InvalidInput(f"{name} needs more than Gymnasium itself: {_one_line(error)}") from None
    except (gymnasium.error.Error, ImportError, ValueError) as error:
        raise InvalidInput(f"there is no environment {name!r}: {_one_line(error)}") from None
    except Exception as error:
        raise InvalidInput(f"{name} could not be made: {type(error).__name__}: {_one_line(error)}") from error


def module_of(spec: EnvSpec) -> str | None:
    """The module to import before its id is known; None if that is not needed, or the module is a script."""
    entry = spec.entry_point
    if spec.id in _modules:
        module = _modules[spec.id]
    elif isinstance(entry, str):
        module = entry.partition(":")[0]
    elif isinstance(entry, type | FunctionType):
        module = entry.__module__
    else:
        return None
    return None if module.split(".")[0] in ("gymnasium", "aapi", "__main__") else module


def make_continuing(
    name: str, ending: str | float | None = None, limit: int | None = None, /, **arguments: object
) -> Env:
    """The environment of that id, with the ending rule given; as it is, for the agent to choose one, if none is."""
    from aapi.environments import Continuing
    from aapi.environments.env_defaults import env_defaults

    env = make_environment(name, **arguments)
    if ending is None and limit is None:
        return env
    given = env_defaults(env)
    limit = given.limit if ending in (None, given.ending) and limit is None else limit
    return Continuing(env, given.ending if ending is None else ending, limit)


def make_copies(make: Callable[[], Env], copies: int, processes: bool) -> AnyVectorEnv:
    """So many environments without ends, in this process or each in one of its own, which leave Ctrl-C to this one."""
    from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

    from aapi.environments.copies import continuing

    def make_copy() -> Env:
        if multiprocessing.parent_process() is not None:  # one is made here, too, to see what it is like
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return continuing(make())

    return (AsyncVectorEnv if processes else SyncVectorEnv)([make_copy] * copies)


def check_ending(value: object, word: str) -> str | float:
    """keep, shortfall, or a number, which may be a text."""
    if value in ("keep", "shortfall"):
        return str(value)
    try:
        number = float(cast("str", value))
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"{word} must be keep, shortfall or a number, not {value!r}")
    return number


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
