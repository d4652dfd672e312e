"""The data of a page is what report/page_data.py says it is, name by name."""

import json
import types
from pathlib import Path
from typing import Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import processes
import pytest

from aapi.experiments import Store, summarise
from aapi.report.build_page_data import DETAILS, build_page_data
from aapi.report.page_data import PageData

TOOL = Path(__file__).parents[2] / "tools" / "page_types.py"


def check(value, hint, where="data"):
    """Raise if a value is not of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        optional = {name for name, each in hints.items() if get_origin(each) is NotRequired}
        assert hints.keys() - optional <= value.keys() <= hints.keys(), where
        for name, each in value.items():
            check(each, get_args(hints[name])[0] if name in optional else hints[name], f"{where}.{name}")
    elif origin in (Union, types.UnionType):
        assert any(fits(value, each) for each in arguments), f"{where} is {value!r}"
    elif origin is Literal:
        assert value in arguments, where
    elif origin is list:
        for i, each in enumerate(value):
            check(each, arguments[0], f"{where}[{i}]")
    elif origin is dict:
        for name, each in value.items():
            check(each, arguments[1], f"{where}[{name!r}]")
    else:
        kinds = (int, float) if hint is float else hint
        assert isinstance(value, kinds), f"{where} is {value!r}"
        assert isinstance(value, bool) == (hint is bool), f"{where} is {value!r}"


def fits(value, hint):
    try:
        check(value, hint)
    except (AssertionError, AttributeError, TypeError):
        return False
    return True


@pytest.mark.parametrize("detail", [DETAILS[0], DETAILS[-1]])
def test_real_data_has_the_types_of_the_page(results, detail):
    with Store(results, write=False) as store:
        data = build_page_data(store, summarise(store, store.plans()), detail)
    check(json.loads(json.dumps(data, allow_nan=False)), PageData)
    assert bool(data["traces"]) == bool(detail[1])


def test_the_checker_finds_what_is_wrong(results):
    with Store(results, write=False) as store:
        data = build_page_data(store, summarise(store, store.plans()))
    for wrong in ({"rows": None}, {"detail": {"points": 1.5, "cells": 1, "full": True}}, {"more": 1}, {"status": {}}):
        assert not fits(data | wrong, PageData)


def test_types_for_the_scripts_are_made_of_it(tmp_path):
    processes.python(TOOL, tmp_path / "types.d.ts", check=True)
    text = (tmp_path / "types.d.ts").read_text()
    assert "interface PageData {\n  sentences: string[];" in text
    assert "  status: (StatusData | null);" in text
    assert '  kind: "grid" | "slice" | "states";' in text
    assert "  shape?: number[];" in text
    assert "  cells: (number | string)[][];" in text
