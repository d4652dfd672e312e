import io
import zipfile

import numpy as np
import pytest

from aapi import files
from aapi.environments import ergodic, frozen_lake
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP

CSR = {
    "transitions_data": np.ones(2),
    "transitions_indices": np.array([0, 1]),
    "transitions_indptr": np.array([0, 1, 2]),
    "rewards": np.array([[0.0], [1.0]]),
}


@pytest.mark.parametrize(
    "change",
    [
        {"transitions_indptr": [0, 200, 0]},
        {"transitions_indptr": [0, 200, 2]},
        {"transitions_indptr": [0, 1, 200]},
        {"transitions_indptr": [1, 1, 2]},
        {"transitions_indptr": [-1, 1, 2]},
        {"transitions_indptr": [0, 1]},
        {"transitions_indptr": [0, 1, 2, 2]},
        {"transitions_indptr": [0.0, 1.0, 2.0]},
        {"transitions_indptr": [[0, 1, 2]]},
        {"transitions_indices": [0, 2]},
        {"transitions_indices": [0, -1]},
        {"transitions_indices": [0, 2**40]},
        {"transitions_indices": [0]},
        {"transitions_indices": [0.0, 1.0]},
        {"transitions_data": [1.0]},
        {"transitions_data": [[1.0, 1.0]]},
        {"transitions_data": np.array(1.0)},
        {"rewards": np.zeros((2, 2))},
        {"rewards": np.zeros(2)},
        {"rewards": np.zeros((2, 1, 3))},
    ],
)
def test_sparse_arrays_that_are_no_matrix_are_refused_before_they_are_used(tmp_path, change):
    np.savez(tmp_path / "good.npz", **CSR)
    assert FiniteMDP.load(tmp_path / "good.npz").transitions.toarray().tolist() == [[1, 0], [0, 1]]
    np.savez(tmp_path / "bad.npz", **CSR | {name: np.asarray(value) for name, value in change.items()})
    with pytest.raises(InvalidInput) as error:
        FiniteMDP.load(tmp_path / "bad.npz")
    assert str(tmp_path / "bad.npz") in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        {"outcome_starts": [0, 10**15, 2]},
        {"outcome_starts": [0, 1, 10**15]},
        {"outcome_starts": [0, 2, 1]},
        {"outcome_starts": [0.0, 1.0, 2.0]},
        {"outcome_starts": [[0, 1, 2]]},
        {"outcome_successors": [0, 5]},
        {"outcome_successors": ["a", "b"]},
        {"outcome_probabilities": [1.0]},
        {"outcome_rewards": [np.nan, 1.0]},
    ],
)
def test_outcomes_that_are_none_are_refused(tmp_path, change):
    outcomes = {"outcome_starts": [0, 1, 2], "outcome_successors": [0, 1], "outcome_probabilities": [1.0, 1.0]}
    outcomes["outcome_rewards"] = [0.0, 1.0]
    np.savez(tmp_path / "good.npz", **CSR | outcomes)
    FiniteMDP.load(tmp_path / "good.npz")
    np.savez(tmp_path / "bad.npz", **CSR | outcomes | change)
    with pytest.raises(InvalidInput, match=r"bad\.npz"):
        FiniteMDP.load(tmp_path / "bad.npz")


def npy(shape, dtype="<f8", contents=b"", version=1):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    size = (len(header) + 1).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + b"\n" + contents


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((10**12,), "<f8"), ((10**9, 10**9, 10**9), "<f8"), ((10**12,), "<U0"), ((-1,), "<f8"), ((2,), "<U100000000"),
        ((10**12,), "|O"), ((2, 10**30), "<i8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", [1, 2, 3])
def test_arrays_that_claim_more_than_the_file_has_are_never_made(tmp_path, shape, dtype, version):
    with zipfile.ZipFile(tmp_path / "claim.npz", "w") as archive:
        archive.writestr("rewards.npy", npy(shape, dtype, version=version))
        archive.writestr("transitions.npy", npy(shape, dtype, version=version))
    (tmp_path / "P.npy").write_bytes(npy(shape, dtype, version=version))
    for name in ("claim.npz", "P.npy"):
        with pytest.raises(InvalidInput, match=r"an array claims the shape|pickled objects, which are never loaded"):
            FiniteMDP.load(tmp_path / name)


def test_a_zip_bomb_is_refused_by_its_sizes(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rewards.npy", npy((1 << 22,), contents=bytes(1 << 25)))
        archive.writestr("transitions.npy", npy((1 << 22,), contents=bytes(1 << 25)))
    assert (tmp_path / "bomb.npz").stat().st_size < 1 << 17
    monkeypatch.setattr("aapi.mdp.storage.MOST_BYTES", 1 << 25)
    monkeypatch.setattr(files, "_read_array", lambda file: pytest.fail("a member was unpacked"))
    with pytest.raises(InvalidInput, match=r"bomb.npz would unpack to 0.1 GiB, from a file much smaller"):
        FiniteMDP.load(tmp_path / "bomb.npz")


def test_members_with_other_names_are_never_unpacked(tmp_path):
    ergodic(5, 2).save(tmp_path / "model.npz")
    with zipfile.ZipFile(tmp_path / "model.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", b"\x80\x04no array")
        archive.writestr("large.npy", npy((1 << 60,)))
    assert FiniteMDP.load(tmp_path / "model.npz").num_states == 5
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("large.npy", npy((1 << 60,)))
    with pytest.raises(InvalidInput, match="must hold the arrays transitions and rewards; it holds large"):
        FiniteMDP.load(tmp_path / "other.npz")


def test_what_save_writes_load_reads_however_well_it_compresses(tmp_path, monkeypatch):
    monkeypatch.setattr("aapi.mdp.storage.MOST_BYTES", 4096)
    mdp = FiniteMDP(np.eye(100)[:, None, :], np.zeros((100, 1)))
    mdp.save(tmp_path / "model.npz")
    assert (FiniteMDP.load(tmp_path / "model.npz").transitions == mdp.transitions).all()


def test_pairs_of_files_have_names_that_say_so(tmp_path):
    with pytest.raises(InvalidInput, match=r"model.npy must have a name that ends in P.npy"):
        ergodic(5, 2).save(tmp_path / "model.npy")
    np.save(tmp_path / "P.npy", np.ones((1, 1, 1)))
    with pytest.raises(InvalidInput, match=r"R.npy does not exist"):
        FiniteMDP.load(tmp_path / "P.npy")
    assert not (tmp_path / "model.npy").exists()


def test_a_log_is_not_taken_for_a_model(tmp_path):
    (tmp_path / "log.csv").write_text("state,action,reward,next_state\n0,0,1,0\n")
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    for name in ("log.csv", "log.parquet"):
        with pytest.raises(InvalidInput, match=r"is a log of transitions .*: aapi solve .* --save model.npz estimates"):
            FiniteMDP.load(tmp_path / name)


def test_models_of_events_and_of_outcomes_go_through_every_format(tmp_path):
    mdp = frozen_lake()
    for name in ("m.npz", "m.csv"):
        mdp.save(tmp_path / name)
        back = FiniteMDP.load(tmp_path / name)
        back.save(tmp_path / f"again-{name}")
        if name == "m.csv":
            assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
        assert (back.outcomes.rewards == mdp.outcomes.rewards).all()


def test_unreadable_places(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    for name, words in (("folder.csv", "is a folder"), ("absent.csv", "does not exist"), ("absent.npy", "not exist")):
        with pytest.raises(InvalidInput, match=words):
            FiniteMDP.load(tmp_path / name)
    with pytest.raises(InvalidInput, match="is not a file"):
        FiniteMDP.load("/dev/null")
    buffer = io.BytesIO()
    np.savez(buffer, **CSR)
    (tmp_path / "model.csv").write_bytes(buffer.getvalue())
    with pytest.raises(InvalidInput, match="is not a table of text"):
        FiniteMDP.load(tmp_path / "model.csv")


def test_numbers_of_a_byte_count_as_the_floats_that_they_become(tmp_path):
    path = tmp_path / "bytes.npz"
    np.savez_compressed(path, transitions=np.zeros((500, 600, 500), dtype=bool), rewards=np.zeros((500, 600)))
    with pytest.raises(InvalidInput, match=r"bytes.npz would take 1.1 GiB as floats, from a file much smaller"):
        FiniteMDP.load(path)
