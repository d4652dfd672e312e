"""Gymnasium environments by id."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    import gymnasium

__all__ = ["make_environment", "read_ending"]


def make_environment(name: str, /, **arguments: Any) -> gymnasium.Env[Any, Any]:
    """The environment of that id; `module:Id-v0` imports the module first."""
    import warnings

    import gymnasium

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old version is the user's choice, and what fails says so itself
            return gymnasium.make(name, **arguments)
    except InvalidInput:
        raise
    except gymnasium.error.DependencyNotInstalled as error:
        raise InvalidInput(f"{name} needs more than Gymnasium itself: {_one_line(error)}") from None
    except (gymnasium.error.Error, ImportError, ValueError) as error:
        raise InvalidInput(f"there is no environment {name!r}: {_one_line(error)}") from None
    except Exception as error:
        raise InvalidInput(f"{name} could not be made: {type(error).__name__}: {_one_line(error)}") from error


def read_ending(text: str) -> str | float:
    """keep, shortfall, or a number."""
    if text in ("keep", "shortfall"):
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"--continuing must be keep, shortfall or a number, not {text!r}")
    return value


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
