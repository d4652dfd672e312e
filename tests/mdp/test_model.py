import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse

from aapi.environments import deep_sea, ergodic
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP

P = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]])
R = np.array([[1.0, 0.0], [0.0, -1.0]])


def sparse(transitions):
    return scipy.sparse.csr_array(transitions.reshape(-1, transitions.shape[-1]))


def changed(index, value):
    transitions = P.copy()
    transitions[index] = value
    return transitions


@pytest.mark.parametrize("form", [np.asarray, sparse])
@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        (changed((1, 0, 1), np.nan), "transitions of state 1, action 0 hold nan, not a number"),
        (changed((0, 1, 0), np.inf), "transitions of state 0, action 1 hold inf, not a number"),
        (changed((1, 1), [-0.25, 1.25]), "transitions of state 1, action 1 hold the negative probability -0.25"),
        (changed((1, 1), [0.25, 0.74]), "transitions of state 1, action 1 sum to 0.99, not to 1"),
        (changed((0, 0), [0.0, 0.0]), "transitions of state 0, action 0 sum to 0, not to 1"),
    ],
)
def test_bad_probabilities_are_named(form, transitions, message):
    with pytest.raises(InvalidInput) as error:
        FiniteMDP(form(transitions), R)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("transitions", "rewards", "message"),
    [
        (P, [1.0, 2.0], "rewards must have the shape (states, actions), not (2,)"),
        (P, [[1.0], [2.0]], "(states, actions, states) = (2, 1, 2) to fit the rewards, not (2, 2, 2)"),
        (sparse(P), [[1.0], [2.0]], "(states · actions, states) = (2, 2) to fit the rewards, not (4, 2)"),
        (P[0], R, "not (2, 2)"),
        (np.zeros((0, 2, 0)), np.zeros((0, 2)), "at least one state"),
        (P, [[1.0, np.nan], [0.0, 0.0]], "rewards of state 0, action 1 is nan"),
        (P, [[1.0, 0.0], [0.0, -np.inf]], "rewards of state 1, action 1 is -inf"),
        ([[[1.0], [2.0, 3.0]]], R, "transitions must be a rectangular array of real numbers"),
        (P, [["a", "b"], ["c", "d"]], "rewards must be a rectangular array of real numbers"),
        (sparse(P * 1j), R, "transitions must be a rectangular array of real numbers"),
        (changed((0, 0), [np.inf, -np.inf]), R, "state 0, action 0 hold inf"),
        (sparse(changed((0, 0), [np.inf, -np.inf])), R, "state 0, action 0 hold inf"),
        (P, [[1.0, 2e302], [0.0, 0.0]], "rewards of state 0, action 1 is 2e+302, more than 1e+302"),
        (P * 1j, R, "transitions must be a rectangular array of real numbers"),
    ],
)
def test_bad_shapes_and_rewards_are_named(transitions, rewards, message):
    with pytest.raises(InvalidInput) as error:
        FiniteMDP(transitions, rewards)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_names_and_initial_state():
    mdp = FiniteMDP(P, R, state_names=["a", "b"], action_names=["stay", "go"], initial_state=1)
    assert (mdp.state_names, mdp.action_names, mdp.initial_state) == (("a", "b"), ("stay", "go"), 1)
    with pytest.raises(InvalidInput, match="3 state names for 2 states"):
        FiniteMDP(P, R, state_names=["a", "b", "c"])
    with pytest.raises(InvalidInput, match=r"initial_state must lie in 0..1, not 2"):
        FiniteMDP(P, R, initial_state=2)
    with pytest.raises(InvalidInput, match=r"initial_state must be a whole number, not 0.5"):
        FiniteMDP(P, R, initial_state=0.5)
    assert FiniteMDP(P, R, coordinates=[[0, 1], [2, 3]]).coordinates.tolist() == [[0, 1], [2, 3]]
    for bad in ([[0.5], [1.0]], [[-1], [0]], [[1]], [1, 2], [[], []]):
        with pytest.raises(InvalidInput, match=r"coordinates must be whole numbers ≥ 0 of shape \(2, coordinates\)"):
            FiniteMDP(P, R, coordinates=bad)


def test_rows_within_tolerance_are_rescaled_and_others_kept_to_the_bit():
    off = changed((1, 1), [0.25, 0.75 + 4e-10])
    mdp = FiniteMDP(off, R)
    assert abs(mdp.transitions.sum(axis=2) - 1).max() < 1e-15
    assert (mdp.transitions[0] == P[0]).all()
    with pytest.raises(InvalidInput, match="sum to 1\\.00000000"):
        FiniteMDP(changed((1, 1), [0.25, 0.75 + 2e-9]), R)


def test_a_model_never_changes():
    transitions, rewards = P.copy(), R.copy()
    mdp = FiniteMDP(transitions, rewards)
    transitions[:] = rewards[:] = 7.0
    assert (mdp.transitions == P).all()
    assert (mdp.rewards == R).all()
    held = FiniteMDP(sparse(P), R).transitions
    for array in (mdp.transitions, mdp.rewards, held.data, held.indices, held.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_expected_backup_and_policy_matrices_agree_between_dense_and_sparse():
    v, policy = np.array([2.0, -1.0]), np.array([[0.25, 0.75], [1.0, 0.0]])
    for mdp in (FiniteMDP(P, R), FiniteMDP(sparse(P), R)):
        assert mdp.expected(v).tolist() == [[0.5, 2.0], [-1.0, -0.25]]
        assert mdp.backup(v).tolist() == [[1.5, 2.0], [-1.0, -1.25]]
        for pi, matrix, rewards in [
            (policy, [[0.875, 0.125], [0.0, 1.0]], [0.25, 0.0]),
            (np.array([1, 1]), [[1.0, 0.0], [0.25, 0.75]], [0.0, -1.0]),
        ]:
            transitions, r = mdp.under(pi)
            assert (transitions.toarray() if mdp.is_sparse else transitions).tolist() == matrix
            assert r.tolist() == rewards


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0, 2], "takes action 2 in state 1"),
        ([0, -1], "takes action -1 in state 1"),
        ([[0.5, 0.6], [1.0, 0.0]], "row of state 0 is not a probability vector"),
        ([[1.0, 0.0], [1.5, -0.5]], "row of state 1 is not a probability vector"),
        ([[1.0, 0.0], [np.nan, 1.0]], "policy of state 1, action 0 is nan"),
        ([0.5, 0.5], "one integer action per state"),
        ([[1.0, 0.0]], "shape (1, 2)"),
    ],
)
def test_bad_policies_are_named(policy, message):
    with pytest.raises(InvalidInput) as error:
        FiniteMDP(P, R).check_policy(policy)
    assert message in str(error.value)


@pytest.mark.parametrize("mdp", [deep_sea(4), ergodic(5, 3), FiniteMDP(P, R, state_names=["ä", "b"], initial_state=1)])
def test_save_and_load_keep_every_bit(mdp, tmp_path):
    path = tmp_path / "model.npz"
    mdp.save(path)
    loaded = FiniteMDP.load(path)
    assert loaded.is_sparse == mdp.is_sparse
    assert (loaded.transitions != mdp.transitions).sum() == 0
    assert (loaded.rewards == mdp.rewards).all()
    for name in ("state_names", "action_names", "initial_state"):
        assert getattr(loaded, name) == getattr(mdp, name)
    assert np.array_equal(loaded.coordinates, mdp.coordinates)
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


def test_a_file_of_plain_numpy_loads(tmp_path):
    np.savez(tmp_path / "plain.npz", transitions=P, rewards=R)
    assert (FiniteMDP.load(tmp_path / "plain.npz").transitions == P).all()


def test_saving_into_nowhere_names_the_folder(tmp_path):
    with pytest.raises(InvalidInput, match=f"cannot write {tmp_path}/no/model.npz: the folder {tmp_path}/no does not"):
        ergodic(5, 2).save(tmp_path / "no" / "model.npz")


def test_policies_within_tolerance_are_rescaled():
    policy = FiniteMDP(P, R).check_policy([[0.5, 0.5 + 9e-10], [1.0, 0.0]])
    assert policy.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-15)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    ergodic(5, 2).save(path)
    before = path.read_bytes()
    monkeypatch.setattr(np, "savez_compressed", lambda file, **arrays: file.write(b"half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        deep_sea(3).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("code from a file was run",))


def bad_files(folder):
    good = folder / "good.npz"
    ergodic(5, 2).save(good)
    (folder / "truncated.npz").write_bytes(good.read_bytes()[:-100])
    middle = bytearray(good.read_bytes())
    middle[200:260] = bytes(60)
    (folder / "altered.npz").write_bytes(middle)
    for name, offset, byte in (("encrypted", 6, 1), ("compression", 8, 99)):
        flipped = bytearray(good.read_bytes())
        central = flipped.index(b"PK\x01\x02")
        flipped[offset] = flipped[central + offset + 2] = byte
        (folder / f"{name}.npz").write_bytes(flipped)
    np.savez(folder / "names.npz", transitions=P, rewards=R, state_names=np.array("x"))
    csr = {"transitions_indices": [0, 1, 0, 1], "transitions_indptr": [0, 1, 2, 3, 4]}
    np.savez(folder / "words.npz", transitions_data=["a"] * 4, rewards=R, **csr)
    np.savez(folder / "member.npz", transitions=P, rewards=R)
    with zipfile.ZipFile(folder / "member.npz", "a") as archive:
        archive.writestr("initial_state", "no array")
    (folder / "text.npz").write_text("transitions")
    (folder / "empty.npz").write_bytes(b"")
    (folder / "pickle.npz").write_bytes(pickle.dumps(Bomb()))
    np.savez(folder / "objects.npz", transitions=np.array([Bomb()], dtype=object), rewards=R)
    np.savez(folder / "lacking.npz", transitions=P)
    np.savez(folder / "nan.npz", transitions=changed((1, 0, 1), np.nan), rewards=R)
    np.savez(folder / "start.npz", transitions=P, rewards=R, initial_state=[1.5])
    np.savez(folder / "csr.npz", transitions_data=[1.0], transitions_indices=[9], transitions_indptr=[0, 1], rewards=R)
    np.save(folder / "array.npy", P)
    (folder / "array.npy").rename(folder / "array.npz")
    (folder / "folder.npz").mkdir()
    return {
        "encrypted": "truncated or damaged",
        "compression": "truncated or damaged",
        "names": "state names must be a list of 2 words",
        "words": "transitions must be a rectangular array of real numbers",
        "member": "initial_state must be one integer",
        "truncated": "truncated or damaged",
        "altered": "truncated or damaged",
        "text": "is not an .npz file",
        "empty": "is not an .npz file",
        "pickle": "is not an .npz file",
        "objects": "holds pickled objects, which are never loaded",
        "lacking": "must hold the arrays transitions and rewards; it holds transitions",
        "nan": "transitions of state 1, action 0 hold nan",
        "start": "initial_state must be one integer",
        "csr": "not a valid matrix",
        "array": "is not an .npz file",
        "folder": "is a folder",
        "absent": "does not exist",
    }


def test_bad_files_are_refused_in_one_line(tmp_path):
    for name, message in bad_files(tmp_path).items():
        path = tmp_path / f"{name}.npz"
        with pytest.raises(InvalidInput) as error:
            FiniteMDP.load(path)
        assert message in str(error.value), name
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
