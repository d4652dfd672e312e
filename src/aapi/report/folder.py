"""Both pages about a folder: report.html, with plots, and results.md, the same tables as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.errors import InvalidInput
from aapi.experiments.store import Store
from aapi.experiments.summary import summarise
from aapi.report.markdown import write_markdown
from aapi.report.page import write_page
from aapi.report.stored import decompositions

if TYPE_CHECKING:
    import os
    from pathlib import Path


def write_pages(folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write the pages about all studies of a folder into it, and return their paths."""
    with Store(folder, write=False) as store:
        plans = store.plans()
        if not plans:
            raise InvalidInput(f"nothing was planned in {folder} yet: aapi reproduce and aapi sweep do")
        commands = [session["command"] for session in store.sessions()]
        summary = summarise(store, plans)
        found = list(decompositions(store, summary.rows))
        return write_page(store, summary, folder), write_markdown(summary, folder, commands, found)
