"""report.html: one file with everything in it, which loads nothing from a network."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
from importlib import resources
from typing import TYPE_CHECKING

from aapi.errors import InvalidInput
from aapi.report.build_page_data import DETAILS, build_page_data

if TYPE_CHECKING:
    from aapi.experiments.store import Store
    from aapi.experiments.summary import Summary

LARGEST = 3_000_000  # bytes of a page; detail is given up to stay below
SCRIPTS = (  # each after those that it imports
    "format.js", "dom.js", "state.js", "plots.js", "tables.js", "results.js", "ablation.js", "theory.js", "growth.js",
    "curves.js", "sensitivity.js", "traces.js", "maps.js", "diagnostics.js", "main.js",
)  # fmt: skip
IMPORT_OR_EXPORT = re.compile(r"^(import [^;]*;\n|export )", re.MULTILINE)


def page(store: Store, summary: Summary) -> bytes:
    """The page, with as much detail as its size allows."""
    for detail in DETAILS:
        made = _filled(data=_packed(json.dumps(build_page_data(store, summary, detail), allow_nan=False).encode()))
        if len(made) <= LARGEST:
            break
    return made


def live_page() -> bytes:
    """The same page without its data, which it gets from its server."""
    return _filled(data="").replace(b'<html lang="en"', b'<html lang="en" data-live', 1)


def _filled(data: str) -> bytes:
    (bundle, packed), script = _bundle(), _script()
    # Nothing but these two scripts may run, whatever names and messages the data holds.
    sources = " ".join(f"'sha256-{_digest(text)}'" for text in (script, bundle))
    policy = (
        f"default-src 'none'; script-src {sources}; style-src 'unsafe-inline'; img-src data: blob:; "
        f"connect-src '{'none' if data else 'self'}'; base-uri 'none'; form-action 'none'"
    )
    made, style = _asset("page.html"), _asset("style.css")
    parts = {"policy": policy, "style": style, "bundle": packed, "data": data, "script": script}
    for name, text in parts.items():
        made = made.replace(f"<!-- {name} -->", text, 1)
    return made.encode()


def _script() -> str:
    """All modules as one script: in one block, where each sees the names of the others, and no name is there twice."""
    inner = "\n".join(IMPORT_OR_EXPORT.sub("", _asset(name)) for name in SCRIPTS)
    return f'"use strict";\n{{\n{inner}}}\n'


def _asset(name: str) -> str:
    return resources.files("aapi.report").joinpath("assets", name).read_text(encoding="utf-8")


@functools.cache
def _bundle() -> tuple[str, str]:
    """Plotly's script, from the installed package, as it is and packed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise InvalidInput("report.html needs Plotly: pip install plotly") from None
    script = str(get_plotlyjs())
    return script, _packed(script.encode())


def _packed(text: bytes) -> str:
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
