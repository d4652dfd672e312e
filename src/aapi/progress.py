"""Progress bars on standard error."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.progress import Progress


LINES = 30.0  # seconds between two lines where there is no terminal

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
    """Yield a function that takes the amount of work just done, and optionally a status text; threads may share it.

    The bar shows the time left and the speed.
    show: whether there is a bar; by default, inside a block with `showing_progress`.
    """
    if not (_SHOWN.get() if show is None else show):
        yield lambda _amount, _text="": None
        return
    with _bars() as progress:
        task = progress.add_task(label, total=total, text="")

        def advance(amount: int, text: str = "") -> None:
            speed = progress.tasks[0].speed
            rate = f", {speed:,.0f} steps a second" if text and speed else ""
            progress.update(task, advance=amount, text=text + rate)

        yield advance


@contextmanager
def progress_bars(totals: Mapping[str, float], *, show: bool) -> Iterator[Callable[[str, float, str], None]]:
    """A bar for all work and one for each part, by name; yields a function of a name, the work done and a status text.

    Where standard error is no terminal, there are lines from time to time instead of bars, for the logs of clusters.
    """
    whole = sum(totals.values())
    if not show or not whole:
        yield lambda _name, _amount, _text: None
        return
    if not sys.stderr.isatty():
        yield _lines(whole)
        return
    from rich.markup import escape

    with _bars() as progress:
        overall = progress.add_task("all", total=whole, text="")
        parts = {name: progress.add_task(escape(name), total=total, text="") for name, total in totals.items() if total}

        def advance(name: str, amount: float, text: str = "") -> None:
            progress.update(overall, advance=amount, text=text)
            progress.update(parts[name], advance=amount)

        yield advance


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), TaskProgressColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[text]}"),
    )  # fmt: skip
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _lines(whole: float) -> Callable[[str, float, str], None]:
    start = last = time.monotonic()
    done = 0.0

    def advance(_name: str, amount: float, text: str) -> None:
        nonlocal last, done
        done += amount
        now = time.monotonic()
        if now - last >= LINES and done < whole:
            last = now
            left = (now - start) * (whole - done) / done
            print(f"{done / whole:.0%} done, {text}, about {left / 60:.1f} minutes left", file=sys.stderr, flush=True)

    return advance
