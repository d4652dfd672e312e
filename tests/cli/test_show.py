import csv
import json
from pathlib import Path

import pytest
from commands import run

import aapi


@pytest.fixture
def lake(capsys, tmp_path, monkeypatch):
    """An agent for FrozenLake, in lake.aapi."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "train", "FrozenLake-v1", "--steps", "600", "--save", "lake.aapi")[0] == 0


def show(capsys, arguments):
    return run(capsys, "show", *arguments.split())


def test_a_table_is_printed_and_files_are_written(capsys, lake):
    status, out, err = show(capsys, "lake.aapi --rows 3 --csv lake.csv --picture lake.png --observations cell")
    assert (status, err) == (0, "")
    table = aapi.load("lake.aapi").policy_table({"observations": ["cell"]})
    first, blank, *rest = out.splitlines()
    assert first == f"FrozenLake-v1 after 600 steps: {len(table)} observations"
    assert blank == ""
    assert "\n".join(rest[:5]).startswith(table.text(3))
    assert len(list(csv.reader(Path("lake.csv").read_text().splitlines()))) == len(table) + 1
    assert Path("lake.png").stat().st_size > 5000
    facts = json.loads(show(capsys, "lake.aapi --json --all --rows 99")[1])
    assert facts["actions"] == ["left", "down", "right", "up"]
    assert len(facts["rows"]) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("no.aapi", "no.aapi does not exist"),
        ("lake.aapi --rows 0", "--rows must be at least 1, not 0"),
        ("lake.aapi --csv nowhere/a.csv", "--csv nowhere/a.csv: the folder nowhere does not exist"),
        ("lake.aapi --picture a.gif", "a picture is a .png, .pdf or .svg file, not 'a.gif'"),
        ("lake.aapi --actions a,b", "there are 4 actions to name, and 2 names: a, b"),
        ("lake.aapi --over 0", "over is for observations on a grid"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, lake, arguments, message):
    status, out, err = show(capsys, arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
