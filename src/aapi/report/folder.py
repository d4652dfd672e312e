"""Both pages about a folder: report.html, with plots, and results.md, the same tables as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aapi.errors import InvalidInput
from aapi.experiments.store import Store
from aapi.experiments.summary import summarise
from aapi.files import atomic_write
from aapi.report.markdown import markdown_page
from aapi.report.page import page
from aapi.report.stored import decompositions, growths

if TYPE_CHECKING:
    import os


def write_pages(folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write the pages about all studies of a folder into it, and return their paths."""
    with Store(folder, write=False) as store:
        plans = store.plans()
        if not plans:
            raise InvalidInput(f"nothing was planned in {folder} yet: aapi reproduce and aapi sweep do")
        commands = [session["command"] for session in store.sessions()]
        summary = summarise(store, plans)
        parts, grown = list(decompositions(store, summary.rows)), list(growths(store, summary.rows))
        text = markdown_page(summary, commands, parts, grown)
        made = {"report.html": page(store, summary), "results.md": text.encode()}
    for name, content in made.items():
        with atomic_write(Path(folder) / name) as file:
            file.write(content)
    return Path(folder) / "report.html", Path(folder) / "results.md"
