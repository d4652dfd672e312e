import csv

import numpy as np
import pyarrow.parquet
import pytest
from commands import run

from aapi.experiments import Store, Study, run_studies

STUDY = Study(
    name="exported",
    problems=[{"name": "ergodic", "states": 5, "settings": {"phase_length": 500}}],
    algorithms=[{"name": "aapi-paper", "eta": [0.1, 1]}, {"name": "uniform"}],
    steps=2000,
    runs=3,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    run_studies(STUDY, out)
    return out


def test_csv_has_every_run_with_every_digit(folder, tmp_path, capsys):
    path = tmp_path / "runs.csv"
    assert run(capsys, "export", str(folder), str(path)) == (0, f"{path}: 9 rows\n", "")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    with Store(folder, write=False) as store:
        stored = {row["key"]: row for row in store.rows()}
    assert {row["key"] for row in rows} == stored.keys()
    for row in rows:
        assert float(row["average_reward"]) == stored[row["key"]]["average_reward"]
    assert sorted({row["setting_eta"] for row in rows}) == ["", "0.1", "1"]
    assert {row["setting_phase_length"] for row in rows} == {"500"}


def test_parquet_has_the_curves(folder, tmp_path, capsys):
    path = tmp_path / "curves.parquet"
    status, out, _ = run(capsys, "export", str(folder), str(path), "--curves", "--json")
    table = pyarrow.parquet.read_table(path)
    assert (status, f'"rows": {table.num_rows}' in out) == (0, True)
    columns = table.to_pydict()
    with Store(folder, write=False) as store:
        key = next(store.rows())["key"]
        grid, cumulated = store.curve(key)
    mine = np.array(columns["key"]) == key
    assert np.array_equal(np.array(columns["step"])[mine], grid)
    assert np.array_equal(np.array(columns["cumulated_reward"])[mine], cumulated)
    plain = tmp_path / "runs.parquet"
    run(capsys, "export", str(folder), str(plain))
    assert pyarrow.parquet.read_table(plain).column("setting_eta").to_pylist().count(0.1) == 3


def test_mistakes_are_one_line(folder, tmp_path, capsys, monkeypatch):
    for arguments, message in (
        ((str(folder), "runs.xls"), "runs.xls must end in .csv or .parquet"),
        ((str(tmp_path / "nothing"), "runs.csv"), "there are no results in"),
        ((str(folder), str(tmp_path / "no" / "runs.csv")), "does not exist"),
    ):
        status, out, err = run(capsys, "export", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    status, _, err = run(capsys, "export", str(folder), str(tmp_path / "runs.parquet"))
    assert (status, err) == (
        2,
        "aapi export: Parquet needs pyarrow: pip install -e '.[parquet]' in the clone\n",
    )
