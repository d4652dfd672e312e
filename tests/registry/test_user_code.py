"""Modules of the user's are found in the folder one stands in."""

import sys

import pytest

from aapi.errors import InvalidInput
from aapi.registry.user_code import import_module, load_function


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "corner_shop.py").write_text("import math\nlevel = 4\ndef restock(stock): return stock < level\n")
    yield tmp_path
    for name in ("corner_shop", "broken_shop"):
        sys.modules.pop(name, None)


def test_a_function_is_found_in_the_folder_one_stands_in(folder):
    restock = load_function("corner_shop:restock")
    assert restock(3)
    assert not restock(4)


def test_a_file_never_takes_the_place_of_an_installed_module(folder):
    (folder / "colorsys.py").write_text("raise SystemExit('was run')\n")
    with pytest.raises(InvalidInput, match=r"colorsys\.py has the name of an installed module"):
        import_module("colorsys")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("restock", "give module:function"),
        (":restock", "give module:function"),
        ("corner_shop:", "give module:function"),
        ("corner_shop:reorder", "corner_shop has no function 'reorder': it has restock"),
        ("corner_shop:level", "corner_shop has no function 'level'"),
        ("no_shop:restock", "could not import 'no_shop': no no_shop.py in"),
        ("broken_shop:restock", "could not import 'broken_shop': ZeroDivisionError"),
    ],
)
def test_what_cannot_be_found_is_said(folder, name, message):
    (folder / "broken_shop.py").write_text("1 / 0\n")
    with pytest.raises(InvalidInput, match=message):
        load_function(name)
