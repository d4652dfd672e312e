"""A thing to be done once runs are there, whose outcome is kept in the store under a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Job"]


@dataclass(frozen=True)
class Job:
    """function(*arguments) makes the bytes; seconds: about how long that takes."""

    key: str
    seconds: float
    function: Callable[..., bytes]
    arguments: tuple[Any, ...]
