"""Progress bars for people, on standard error, so that output stays clean."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["progress_bar", "showing_progress"]

_SHOWN = ContextVar("_SHOWN", default=False)


@contextmanager
def showing_progress(show: bool = True) -> Iterator[None]:
    """Within this block, long computations show their progress."""
    token = _SHOWN.set(show)
    try:
        yield
    finally:
        _SHOWN.reset(token)


@contextmanager
def progress_bar(label: str, total: int, *, show: bool | None = None) -> Iterator[Callable[..., None]]:
    """Yield a function that takes the amount of work just done; threads may share it. Shows the time left and speed.

    It may be given a text as well, which says how things stand.
    show: whether to; by default, if the block around it is `showing_progress`.
    """
    if not (_SHOWN.get() if show is None else show):
        yield lambda _amount, _text="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), TaskProgressColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[text]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total, text="")

        def advance(amount: int, text: str = "") -> None:
            speed = progress.tasks[0].speed
            rate = f", {speed:,.0f} steps a second" if text and speed else ""
            progress.update(task, advance=amount, text=text + rate)

        yield advance
