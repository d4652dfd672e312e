import numpy as np
import pytest
import scipy.sparse

from aapi.environments import deep_sea, ergodic, river_swim, taxi
from aapi.errors import InvalidInput, TooLarge
from aapi.mdp import FiniteMDP, solve

# The forest of pymdptoolbox's example.forest(): grow and be cut; three ages, to wait or to cut.
P = np.array([[[0.1, 0.9, 0.0], [0.1, 0.0, 0.9], [0.1, 0.0, 0.9]], [[1.0, 0.0, 0.0]] * 3])
R = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 2.0]])


def matrices_of(*matrices):
    return [scipy.sparse.csr_array(matrix) for matrix in matrices]


def forest(rewards=R, transitions=P):
    return FiniteMDP.from_mdptoolbox(transitions, rewards)


def test_the_forest_is_solved_as_by_hand():
    """To wait always: the ages have the shares .1, .09, .81, and pay 4 in the last."""
    assert solve(forest()).gain == pytest.approx(0.81 * 4.0, abs=1e-12)
    assert solve(forest()).policy.tolist() == [0, 0, 0]


def test_all_forms_of_rewards():
    by_state = forest(np.array([1.0, 2.0, 3.0]))
    assert by_state.rewards.tolist() == [[1, 1], [2, 2], [3, 3]]
    paid = np.arange(18.0).reshape(2, 3, 3)
    by_successor = forest(paid)
    assert by_successor.rewards == pytest.approx(np.einsum("axy,axy->xa", P, paid), abs=1e-14)
    assert by_successor.outcomes is not None
    lists = matrices_of(*P)
    for rewards in (R, paid, [scipy.sparse.csc_array(each) for each in paid], paid.tolist()):
        sparse, dense = forest(rewards, lists), forest(np.array([r.toarray() if scipy.sparse.issparse(r) else r for r in
                                                                 rewards]))  # fmt: skip
        assert sparse.is_sparse
        assert (sparse.transitions.toarray().reshape(3, 2, 3) == dense.transitions).all()
        assert sparse.rewards == pytest.approx(dense.rewards, abs=1e-15)
    assert forest(R.tolist(), P.tolist()).rewards.tolist() == R.tolist()


@pytest.mark.parametrize("mdp", [deep_sea(4), ergodic(5, 3), river_swim(6), forest(np.arange(18.0).reshape(2, 3, 3))])
def test_arrays_and_files_come_back_to_the_bit(mdp, tmp_path):
    mdp.save(tmp_path / "tree_P.npy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree_P.npy", "tree_R.npy"]
    arrays = mdp.to_mdptoolbox()
    assert (np.load(tmp_path / "tree_P.npy") == arrays[0]).all()
    assert (np.load(tmp_path / "tree_R.npy") == arrays[1]).all()
    np.savez(tmp_path / "both.npz", P=arrays[0], R=arrays[1])
    for back in (FiniteMDP.load(tmp_path / "tree_P.npy"), FiniteMDP.load(tmp_path / "both.npz")):
        assert (back.to_mdptoolbox()[0] == arrays[0]).all()
        assert (back.rewards == mdp.rewards).all()
        assert (back.outcomes is None) == (mdp.outcomes is None)


def test_rewards_that_are_random_besides_are_means():
    mdp = ergodic(5, 2).with_random_rewards([0.0, 1.0], [0.75, 0.25])
    transitions, rewards = mdp.to_mdptoolbox()
    assert (rewards == mdp.rewards).all()
    assert solve(FiniteMDP.from_mdptoolbox(transitions, rewards)).gain == pytest.approx(solve(mdp).gain, abs=1e-12)


def test_arrays_that_would_not_fit_are_refused():
    states = 20_000
    cycle = scipy.sparse.csr_array((np.ones(states), (np.arange(states) + 1) % states, np.arange(states + 1)))
    with pytest.raises(TooLarge, match=r"P of 20000 states and 1 actions would take 3.0 GiB: a .csv or .npz"):
        FiniteMDP(cycle, np.zeros((states, 1))).to_mdptoolbox()
    assert taxi().to_mdptoolbox()[0].shape == (6, 500, 500)


@pytest.mark.parametrize(
    ("transitions", "rewards", "message"),
    [
        (P[0], R, "P must have the shape (actions, states, states), not (3, 3)"),
        (P[:, :2], R, "P must have the shape (actions, states, states), not (2, 2, 3)"),
        (P, R.T, "R must have the shape (3,), (3, 2) or (2, 3, 3) to fit P, not (2, 3)"),
        (P, "R", "R must be a rectangular array of real numbers"),
        (None, R, "P must be a rectangular array of real numbers"),
        (P * 2, R, "transitions of state 0, action 0 sum to 2"),
        (matrices_of(P[0], P[1][:2]), R, "one matrix (states, states) for each action"),
        (matrices_of(*P), matrices_of(P[0]), "R must have one matrix of the shape"),
        (matrices_of(*P * 1j), R, "P must be a rectangular array of real numbers"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(transitions, rewards, message):
    with pytest.raises(InvalidInput) as error:
        FiniteMDP.from_mdptoolbox(transitions, rewards)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
