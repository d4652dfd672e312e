"""The scripts of the page: unit tests of their pure functions, by Node's own test runner."""

import shutil
from pathlib import Path

import processes
import pytest

from aapi.report import page

ASSETS = Path(page.__file__).parent / "assets"
TESTS = Path(__file__).parent / "javascript"


def test_pure_functions():
    node = shutil.which("node")
    if node is None:
        pytest.skip(
            "no Node is installed (Debian: apt install nodejs), so the page's functions are tested in pages only"
        )
    done = processes.run([node, "--test", *sorted(TESTS.glob("*.test.js"))])
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_script_is_in_the_page_after_those_it_imports():
    assert {path.name for path in ASSETS.glob("*.js")} == set(page.SCRIPTS)
    for i, name in enumerate(page.SCRIPTS):
        text = (ASSETS / name).read_text()
        for other in page.SCRIPTS[i:]:
            assert f'from "./{other}"' not in text, f"{name} imports {other}, which comes later"
    assert "\nimport " not in page._script()
    assert "\nexport " not in page._script()
