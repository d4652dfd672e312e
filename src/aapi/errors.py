"""The errors that a user can cause; the command turns each into one line and exit status 2."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class AapiError(ValueError):
    """Base of the library's own errors: one line that names the value and the fix."""


class InvalidInput(AapiError):
    """An argument or a file is not what it has to be."""


class DoesNotExist(AapiError):
    """The quantity asked for is not defined for this model, or not to be had in double precision; it says why."""


class TooLarge(AapiError):
    """The quantity asked for exists, but is not computed for models of this size."""


def one_line(error: BaseException) -> str:
    """An error of somebody else's code in one line: its kind, and the first line of what it says."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The hint (did you mean lstd?) for the end of a message about an unknown word; empty if no known one is close."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {close[0]}?)" if close and close[0] != word else ""


def install_extra(extra: str) -> str:
    """How to install an optional dependency: aapi itself is installed from a clone of its repository."""
    return f"pip install -e '.[{extra}]' in the clone"
