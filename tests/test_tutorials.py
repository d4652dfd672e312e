"""Tutorials run, with fewer steps, and their pages have the text of their templates."""

import contextlib
import importlib.util
import io
import sys
from pathlib import Path

import gymnasium
import pytest

from aapi.cli.main import main

DOCS = Path(__file__).parent.parent / "docs"
SPEC = importlib.util.spec_from_file_location("tutorials", DOCS / "tutorials.py")
tutorials = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tutorials)
NAMES = ["queue", "stock", "machine"]


@pytest.fixture
def clean(tmp_path, monkeypatch):
    """The tutorial's folder, whose modules and environments are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = {*sys.modules}, {*gymnasium.registry}
    yield tmp_path
    for name in {*sys.modules} - before[0]:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]
    for name in {*gymnasium.registry} - before[1]:
        del gymnasium.registry[name]


def here(arguments, folder):
    """What Python prints, in this process, which has compiled the step loops already."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if arguments[0] == "-c":
            exec(compile(arguments[1], "tutorial", "exec"), {"__name__": "tutorial"})  # noqa: S102
        else:
            with contextlib.suppress(SystemExit):
                assert not main(arguments[2:])
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_runs(name, clean, capsys):
    template = (DOCS / "tutorials" / f"{name}.template.md").read_text()
    page = tutorials.played(template, clean, here, shorter=50)
    assert "worse" in page or "better" in page or "± 95 %" in page
    for picture in clean.glob("*.png"):
        assert f"]({picture.name})" in page
    assert "error" not in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_its_template_runs(name):
    page = (DOCS / "tutorials" / f"{name}.md").read_text()
    template = (DOCS / "tutorials" / f"{name}.template.md").read_text()
    for text in tutorials.BLOCK.split(template)[::4]:
        assert text in page, "make tutorials"
    for code in tutorials.BLOCK.split(template)[3::4]:
        for line in code.splitlines():
            assert line in page, "make tutorials"
