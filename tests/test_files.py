import os

import numpy as np
import pytest

from aapi.errors import InvalidInput
from aapi.files import atomic_write, read_arrays


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]  # noqa: PTH208


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_fails_leaves_no_trace(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write():
        with atomic_write(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]  # noqa: PTH208


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"the folder .* does not exist"), atomic_write(tmp_path / "no" / "file"):
        pass


def test_arrays_come_back_as_they_were(tmp_path):
    path = tmp_path / "arrays.npz"
    arrays = {"a": np.arange(3), "b": np.zeros((2, 0)), "c": np.array(1.5), "d": np.array(["text"])}
    np.savez(path, **arrays)
    found = read_arrays(path, "arrays")
    assert found.keys() == arrays.keys()
    assert all(found[name].dtype == arrays[name].dtype and (found[name] == arrays[name]).all() for name in arrays)


def test_unreadable_files_say_why(tmp_path):
    path = tmp_path / "arrays.npz"
    with pytest.raises(InvalidInput, match="does not exist"):
        read_arrays(path, "arrays")
    with pytest.raises(InvalidInput, match="is a folder, not a model"):
        read_arrays(tmp_path, "a model")
    for contents in (b"", b"P", b"\x93NUMPY", b"hello"):
        path.write_bytes(contents)
        with pytest.raises(InvalidInput, match="is not a model"):
            read_arrays(path, "a model")
    path.write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(InvalidInput, match="is truncated or damaged"):
        read_arrays(path, "a model")
    np.savez(path, a=np.array([object()]))
    with pytest.raises(InvalidInput, match="holds pickled objects, which are never loaded"):
        read_arrays(path, "a model")
