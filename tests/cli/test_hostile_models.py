"""Files that are not what they claim: one line, status 2, whatever they hold; or they are read, and solved."""

import csv
import functools
import io
import zipfile

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from commands import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aapi.cli import main
from aapi.environments import river_swim

CASES = 100  # of each kind
COMMON = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck), "max_examples": CASES}
PARSER = functools.cache(main.parser)
CELLS = st.one_of(
    st.integers(-2, 3).map(str),
    st.sampled_from(["", "nan", "-inf", "1e999", "1e308", "0.5", "1", "1.0", "01", "-0", "x", str(10**12), "9" * 5000]),
    st.sampled_from(["é", "'", '"', "\t", "\0", "a\nb", ",", ";", "😀", " "]),
    st.text(max_size=3),
)  # fmt: skip
MODEL = ["state", "action", "next_state", "probability", "reward"]
LOG = ["state", "action", "reward", "next_state", "done"]
VALUES = st.one_of(
    st.integers(-2, 3), st.floats(), st.sampled_from([10**12, 2**63 - 1, -(2**63), 1e308, float("nan"), 200, 0.5, 1.0])
)


@pytest.fixture(autouse=True)
def _one_parser(monkeypatch):
    """Making the parser takes longer than reading a small file."""
    monkeypatch.setattr(main, "parser", PARSER)


def check(capsys, path, *more):
    """The command says one line and exits with 2, or it solves the file."""
    status, out, err = run(capsys, "solve", str(path), "--json", *more)
    assert status in (0, 2), (out, err)
    if status == 2:
        assert out == ""
        assert err.startswith("aapi solve: ")
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        assert len(err) < 1000
    else:
        assert err == ""


@settings(**COMMON)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=6), max_size=6), st.sampled_from([None, MODEL, LOG, LOG[:4]]))
def test_tables_of_text(capsys, tmp_path_factory, rows, heading):
    text = io.StringIO()
    csv.writer(text).writerows(([heading] if heading else []) + rows)
    path = tmp_path_factory.getbasetemp() / "hostile.csv"
    path.write_bytes(text.getvalue().encode("utf-8", errors="surrogatepass"))
    check(capsys, path)
    check(capsys, path, "--continuing")


@settings(**COMMON)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".npz", ".npy", ".parquet", ".tsv"]))
def test_junk(capsys, tmp_path_factory, junk, ending):
    path = tmp_path_factory.getbasetemp() / f"junkP{ending}"
    for start in (b"", b"PK\x03\x04", b"PAR1", b"\x93NUMPY\x01\x00"):
        path.write_bytes(start + junk)
        check(capsys, path)


@settings(**COMMON)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6),
    st.floats(0.5, 1.0), st.sampled_from(["m.npz", "mP.npy", "m.csv", "l.csv", "l.parquet"]),
)  # fmt: skip
def test_good_files_with_other_bytes(capsys, good_files, changes, share, name):
    contents = bytearray(good_files[name])
    for place, byte in changes:
        contents[place % len(contents)] = byte
    path = good_files["folder"] / name
    path.write_bytes(contents[: max(1, int(share * len(contents)))] if share < 0.9 else contents)
    check(capsys, path)


@pytest.fixture(scope="module")
def good_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    for name in ("m.npz", "mP.npy", "m.csv"):
        river_swim(4).save(folder / name)
    log = {"state": ["a", "b", "a"], "action": [0, 1, 0], "reward": [0.0, 1.0, 2.0], "next_state": ["b", "a", "b"]}
    pyarrow.parquet.write_table(pyarrow.table(log), folder / "l.parquet")
    rows = [",".join(map(str, row)) for row in zip(*log.values(), strict=True)]
    (folder / "l.csv").write_text("\n".join([",".join(log), *rows]))
    return {path.name: path.read_bytes() for path in folder.iterdir()} | {"folder": folder}


@st.composite
def arrays(draw):
    shape = draw(st.lists(st.integers(0, 3), max_size=4))
    kind = draw(st.sampled_from(["f8", "i8", "U2", "?", "c16", "f2", "S3", "V4", "M8[s]"]))
    count = int(np.prod(shape))
    values = draw(st.lists(VALUES, min_size=count, max_size=count))
    with np.errstate(all="ignore"):
        whole = np.array([0 if value != value or abs(value) > 2**62 else int(value) for value in values])
        made = np.array(values, dtype=float) if kind[0] in "fc" else whole
        cast = np.zeros(count, kind) if kind[0] == "V" else made.astype(kind)
    return cast.reshape(shape)


NAMES = st.sampled_from(
    ["transitions", "rewards", "transitions_data", "transitions_indices", "transitions_indptr", "initial_state",
     "P", "R", "state_names", "action_names", "coordinates", "reward_spread", "outcome_starts", "outcome_successors",
     "outcome_probabilities", "outcome_rewards"]
)  # fmt: skip
GOOD = {
    "transitions_data": np.ones(2), "transitions_indices": np.array([0, 1]), "transitions_indptr": np.array([0, 1, 2]),
    "rewards": np.array([[0.0], [1.0]]), "outcome_starts": np.array([0, 1, 2]), "outcome_successors": np.array([0, 1]),
    "outcome_probabilities": np.ones(2), "outcome_rewards": np.array([0.0, 1.0]),
}  # fmt: skip


@settings(**COMMON)
@given(st.dictionaries(NAMES, arrays(), min_size=1, max_size=3), st.booleans())
def test_arrays_by_name(capsys, tmp_path_factory, changes, good):
    path = tmp_path_factory.getbasetemp() / "hostile.npz"
    np.savez(path, **(GOOD if good else {}) | changes)
    check(capsys, path)


@settings(**COMMON)
@given(st.lists(st.integers(-3, 300), min_size=0, max_size=5), st.lists(st.integers(-2, 300), min_size=2, max_size=2))
def test_sparse_matrices_that_are_none(capsys, tmp_path_factory, starts, indices):
    path = tmp_path_factory.getbasetemp() / "sparse.npz"
    np.savez(path, **GOOD | {"transitions_indptr": np.array(starts, int), "transitions_indices": np.array(indices)})
    check(capsys, path)


@settings(**COMMON)
@given(st.fixed_dictionaries({
    name: st.one_of(
        st.lists(st.one_of(st.none(), st.integers(-2, 2)), min_size=3, max_size=3),
        st.lists(st.floats(), min_size=3, max_size=3),
        st.lists(st.text(max_size=2), min_size=3, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3),
        st.just([[1], [2], []]), st.just([{"a": 1}] * 3), st.just([b"\xff"] * 3),
    ) for name in LOG[:4]
}))  # fmt: skip
def test_parquet_of_other_types(capsys, tmp_path_factory, columns):
    path = tmp_path_factory.getbasetemp() / "hostile.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    check(capsys, path)


def test_a_file_of_one_long_line_and_one_of_many_columns(capsys, tmp_path):
    for number, text in enumerate(
        ("x" * 10**6, "0," * 10**5, "state,action,reward,next_state\n" + "0," * 10**5, "\n" * 10**5)
    ):
        path = tmp_path / f"{number}.csv"
        path.write_text(text)
        check(capsys, path)


def test_a_zip_in_which_a_name_occurs_twice(capsys, tmp_path):
    path = tmp_path / "twice.npz"
    river_swim(4).save(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("rewards.npy", b"no array")
    check(capsys, path)
